import Following
import Ground

#if os(Linux)
  import ChangeCapture
  import Foundation
  import GRDB
  import Store
  import TestSupport
  import Testing

  @testable import Controllers

  /// How a follower's thread notices commits by another connection.
  @Suite struct CommitDetectionTests {
    /// A follower's waits and ticks, on the test's thread.
    private final class Follower {
      let folder: TemporaryFolder
      let clock = ManualClock()
      let wake = WakeSignal()
      let watcher: DatabaseWatcher
      let detection: CommitDetection
      let writer: DatabaseQueue
      let database: OpenDatabase
      var connection: DatabaseConnection { database.connection }
      let path: String

      init(journal: String = "WAL") throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        writer = try DatabaseQueue(path: path)
        try writer.writeWithoutTransaction { db in
          try db.execute(sql: "PRAGMA journal_mode = \(journal)")
          try db.execute(sql: "CREATE TABLE t(n INT); INSERT INTO t VALUES (0)")
        }
        watcher = DatabaseWatcher(path: path)
        detection = CommitDetection(path: path, wake: wake, clock: clock.clock, watcher: watcher)
        database = try OpenDatabase(path: path, ChangeCapture.Settings(), clock: clock.clock)
        _ = mayBeReplaced()
        try tick()
      }

      func commit() throws { try writer.write { try $0.execute(sql: "UPDATE t SET n = n + 1") } }

      func mayBeReplaced() -> Bool { detection.mayBeReplaced(isOpen: true, hasChanged: false, clock.clock.now) }

      func hasCommit() -> Bool { detection.hasCommit(connection.capture, isPaced: true) }

      func tick() throws {
        try connection.snapshot { _ = connection.capture.advance() }
      }

      func wait(_ limit: Nanoseconds = .milliseconds(20_000), isUnused: Bool = false, isFailing: Bool = false) {
        CommitDetectionTests.wait(
          detection, wake, connection,
          .init(limit: limit, rest: .zero, isUnused: isUnused, connection: isFailing ? nil : connection))
      }

      /// Makes a commit, and follows it.
      func followCommit() throws {
        try commit()
        repeat { wait() } while !hasCommit()
        try tick()
        #expect(!hasCommit())
      }

      /// Makes and follows two commits in quick succession.
      func followStream() throws {
        try followCommit()
        clock.advance(by: .milliseconds(20))
        try followCommit()
        wait(.zero)
      }
    }

    /// Rests as a thread of its own would. The workers read the events.
    private static func wait(
      _ detection: CommitDetection, _ wake: WakeSignal, _ connection: DatabaseConnection,
      _ conditions: CommitDetection.Conditions
    ) {
      Workers.shared.start()
      var pause: Nanoseconds? = detection.pause(conditions)
      while let span = pause, !wake.wait(span) { pause = detection.lookAgain(at: connection) }
      detection.resume()
    }

    @Test func `Commits that keep coming are noticed without watching the log`() throws {
      let follower = try Follower()
      follower.wait()
      #expect(follower.watcher.watchCount == 3)
      try follower.followCommit()
      #expect(follower.detection.isArmed)
      for _ in 0..<20 {
        follower.clock.advance(by: .milliseconds(20))
        try follower.followCommit()
        follower.wait(.zero)
        #expect(!follower.detection.isArmed && follower.watcher.watchCount == 1)
      }
    }

    @Test func `Writes are reported again after a pause`() throws {
      let follower = try Follower()
      try follower.followStream()
      #expect(!follower.detection.isArmed)
      follower.clock.advance(by: .milliseconds(60))
      follower.wait()
      #expect(follower.detection.isArmed)
      try follower.followCommit()
      #expect(follower.detection.isArmed, "a lone commit")
    }

    @Test func `A commit just before writes are reported is not missed`() throws {
      let follower = try Follower()
      try follower.followStream()
      follower.clock.advance(by: .milliseconds(60))
      try follower.commit()
      follower.wait()
      #expect(follower.detection.isArmed)
      #expect(follower.hasCommit())
    }

    @Test func `Writes whose commit becomes readable after writes are reported are checked for`() throws {
      let follower = try Follower()
      try follower.followStream()
      follower.clock.advance(by: .milliseconds(60))
      follower.wait()
      // As after a report: six checks within a tenth of a second, and none at the limit.
      let start = ContinuousClock.now
      for _ in 0..<7 {
        follower.wait()
        #expect(!follower.hasCommit())
      }
      #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test func `A looking thread is woken by its signal, and sees another file at once`() throws {
      let follower = try Follower()
      try follower.followStream()
      follower.wake.signal()
      follower.wait()
      #expect(!follower.hasCommit() && !follower.detection.isArmed)
      #expect(follower.mayBeReplaced(), "what was written over it before it was watched was not reported")
      #expect(!follower.mayBeReplaced())
      let other = follower.folder.path("other")
      try Data("other".utf8).write(to: URL(fileURLWithPath: other))
      #expect(rename(other, follower.path) == 0)
      follower.wait()
      #expect(follower.mayBeReplaced())
    }

    @Test func `A follower that follows nothing, or cannot read, does not look`() throws {
      let follower = try Follower()
      try follower.followStream()
      follower.wait(.zero, isUnused: true)
      #expect(!follower.detection.isArmed)
      follower.wait(isFailing: true)
      #expect(follower.detection.isArmed)
      follower.wait(.zero, isUnused: true)
      #expect(!follower.detection.isArmed && follower.watcher.watchCount == 1)
    }

    @Test func `What a file system does not report is checked for often`() throws {
      let follower = try Follower()
      // The watcher watches a file of another name, as if the file system reported nothing.
      let other = DatabaseWatcher(path: follower.folder.path("other.sqlite"))
      let wake = WakeSignal()
      let detection = CommitDetection(path: follower.path, wake: wake, clock: follower.clock.clock, watcher: other)
      func wait() {
        Self.wait(
          detection, wake, follower.connection,
          .init(limit: .milliseconds(5_000), rest: .zero, isUnused: false, connection: follower.connection))
      }
      /// How long it takes until a commit is found, which nothing reports.
      func find() throws -> Duration {
        for _ in 0..<8 { wait() }
        // The pause ends the stream of commits, during which a timer would check.
        follower.clock.advance(by: .seconds(1))
        try follower.commit()
        let start = ContinuousClock.now
        while !detection.hasCommit(follower.connection.capture, isPaced: true) { wait() }
        try follower.tick()
        follower.clock.advance(by: .seconds(1))
        return ContinuousClock.now - start
      }
      for _ in 0..<2 { _ = try find() }
      #expect(try find() < .milliseconds(500), "the third is expected to be unreported")
    }

    @Test func `Only writes to the database file itself have its contents looked at`() throws {
      let follower = try Follower()
      follower.wait()
      try follower.followCommit()
      #expect(follower.mayBeReplaced(), "once after writes began to be reported")
      try follower.followCommit()
      let before = follower.watcher.contentsWrites
      #expect(!follower.mayBeReplaced())
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: follower.path))
      try file.write(contentsOf: Data("SQLite".utf8))
      follower.wait()
      #expect(follower.mayBeReplaced() && follower.watcher.contentsWrites == before + 1)
    }

    @Test func `A rollback journal's writes are always reported`() throws {
      let follower = try Follower(journal: "DELETE")
      follower.wait()
      for _ in 0..<5 {
        try follower.commit()
        follower.wait()
        follower.clock.advance(by: .milliseconds(3))
        #expect(follower.hasCommit())
        try follower.tick()
        #expect(follower.detection.isArmed)
      }
    }
  }
#endif
