#if os(Linux)
  import Foundation
  import Ground
  import LiveQuery
  import Logging
  import Store
  import TestSupport
  import Testing

  @testable import Controllers
  @testable import Following
  @testable import Requests

  /// Many files in one process, each with a list.
  @Suite(.serialized) struct ManyFilesTests {
    private final class File {
      let recorder = Recorder()
      let pool: ControllerPool
      private let path: String
      let key = SubscriptionKey(session: 1, id: "a", number: 1)

      init(_ path: String, readers: Readers) throws {
        self.path = path
        try SQLiteShell(path: path).run("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        pool = try ControllerPool(
          FollowerConfiguration(path: path), followers: 2, readers: 1, output: recorder, sharing: readers,
          logger: logger)
        let query = Query(from: "t")
        pool.follower(for: query).post(
          .subscribe(.init(key: key, query: query, window: nil, minInterval: .zero, shape: .arrays)))
      }

      /// Written by another process: in this one, SQLite would keep descriptors of closed connections while other
      /// connections have locks.
      func insert() throws { try SQLiteShell(path: path).run("INSERT INTO t(a) VALUES (1)") }

      /// Waits until the list's client has been sent this many messages.
      func wait(_ count: Int) { #expect(comesTrue { recorder.deliveries(key).count >= count }) }
    }

    @Test func `A file that cannot be opened leaves nothing with the readers that others share`() throws {
      let folder = try TemporaryFolder()
      let path = folder.path("broken.sqlite")
      try Data(repeating: 7, count: 4_096).write(to: URL(fileURLWithPath: path))
      let readers = Readers(count: 1)
      #expect(throws: (any Error).self) {
        try ControllerPool(
          FollowerConfiguration(path: path), followers: 2, readers: 1, output: Recorder(), sharing: readers,
          logger: Logger(label: "test"))
      }
      #expect(readers.queue.fileCount == 0)
      readers.stop()
    }

    private static func descriptors(in folder: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(folder) == true
      }
    }

    @Test(.timeLimit(.minutes(2)))
    func `A file with a list takes eight descriptors at most, and all have their commits`()
      throws
    {
      let folder = try TemporaryFolder()
      let readers = Readers(count: 2)
      let count = 100
      let files = try (0..<count).map { try File(folder.path("\($0).sqlite"), readers: readers) }
      for file in files { file.wait(1) }
      for file in files { try file.insert() }
      for file in files { file.wait(2) }
      for file in files {
        #expect(file.recorder.deliveries(file.key) == ["snapshot 0", "patch -0 +1 >0 *0"])
      }
      #expect(Workers.shared.threadCount < count, "no file has a thread")
      // Followers without lists let go of their file after two seconds.
      let most = 8 * count
      #expect(try comesTrue(within: .seconds(30)) { try Self.descriptors(in: folder.path("")) <= most })
      for file in files { file.pool.stop() }
      readers.stop()
      #expect(try Self.descriptors(in: folder.path("")) == 0)
    }
  }
#endif
