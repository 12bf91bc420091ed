import Ground

#if os(Linux)
  import Foundation
  import Testing

  @testable import Controllers
  @testable import Store

  /// What a follower is woken for.
  @Suite struct DatabaseWatcherTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watched-\(UUID().uuidString)")

    /// What is told of what `body` does in a directory with a database.
    private func events(isArmed: Bool = true, _ body: (URL) throws -> Void) throws -> FileEvents {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let database = directory.appending(path: "app.sqlite")
      try Data("one".utf8).write(to: database)
      let watch = FileWatch(DatabaseWatcher(path: database.path, FileNotifier()), wake: WakeSignal())
      if isArmed { watch.arm() }
      try body(database)
      return watch.takeEvents()
    }

    /// What a write to the database file itself is reported as.
    private static let contents: FileEvents = [.written, .contents]

    private static func write(_ database: URL) throws {
      let handle = try FileHandle(forWritingTo: database)
      handle.write(Data("two".utf8))
      try handle.close()
    }

    @Test func writesToTheDatabaseAreReportedInAnyCase() throws {
      #expect(try events(isArmed: false, Self.write) == Self.contents)
    }

    @Test func anotherFileIsReportedInAnyCase() throws {
      let events = try events(isArmed: false) { try Data().write(to: URL(fileURLWithPath: $0.path + "-wal")) }
      #expect(events.contains(.replaced))
    }

    /// What two threads that share a watcher do.
    private func withTwoWatches(_ body: (URL, DatabaseWatcher, FileWatch, FileWatch) throws -> Void) throws {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let database = directory.appending(path: "app.sqlite")
      try Data("one".utf8).write(to: database)
      let watcher = DatabaseWatcher(path: database.path, FileNotifier())
      let (first, second) = (FileWatch(watcher, wake: WakeSignal()), FileWatch(watcher, wake: WakeSignal()))
      try body(database, watcher, first, second)
    }

    @Test func logsAreWatchedWhileOneOfTwoWantsItAndTheDatabaseAlways() throws {
      try withTwoWatches { database, watcher, first, second in
        let log = URL(fileURLWithPath: database.path + "-wal")
        try Data("one".utf8).write(to: log)
        _ = first.takeEvents()
        #expect(watcher.watchCount == 1)
        first.arm()
        first.arm()
        second.arm()
        #expect(watcher.watchCount == 2)
        first.disarm()
        first.disarm()
        #expect(watcher.watchCount == 2)
        second.disarm()
        #expect(watcher.watchCount == 1)
        _ = first.takeEvents()
        try Self.write(log)
        #expect(first.wait(.zero, listens: true) == ([], false), "neither a write nor the end of the watch")
        try Self.write(database)
        #expect(first.wait(.zero, listens: true) == ([.written, .contents], false))
      }
    }

    @Test func aWriteWakesOneThreadWhichWakesTheOthers() throws {
      try withTwoWatches { database, _, first, second in
        for watch in [first, second] {
          watch.arm()
          #expect(watch.wait(.zero, listens: true) == ([], false))
        }
        try Self.write(database)
        #expect(first.wait(.milliseconds(10_000), listens: true) == (Self.contents, false))
        #expect(second.wait(.milliseconds(10_000), listens: true) == (Self.contents, true))
        for watch in [first, second] { #expect(watch.wait(.zero, listens: true) == ([], false)) }
      }
    }

    @Test func aThreadThatDoesNotListenIsNotWokenButHearsLater() throws {
      try withTwoWatches { database, _, first, second in
        first.arm()
        #expect(second.wait(.zero, listens: false) == ([], false))
        try Self.write(database)
        #expect(first.takeEvents() == Self.contents)
        #expect(second.wait(.zero, listens: false).isWoken == false)
        try Self.write(database)
        #expect(first.takeEvents() == Self.contents)
        #expect(second.wait(.milliseconds(10_000), listens: true) == (Self.contents, false))
      }
    }

    @Test func writesAreTold() throws {
      let told = try events { database in
        let handle = try FileHandle(forWritingTo: database)
        handle.write(Data("two".utf8))
        try handle.close()
      }
      #expect(told == Self.contents)
    }

    @Test(arguments: ["app.sqlite-wal", "app.sqlite-journal"])
    func filesBesideItThatAppearAreTold(_ name: String) throws {
      let told = try events { try Data().write(to: $0.deletingLastPathComponent().appending(path: name)) }
      #expect(told.contains(.written))
    }

    @Test func anotherFileUnderItsNameIsTold() throws {
      let told = try events { database in
        let other = database.deletingLastPathComponent().appending(path: "other")
        try Data("other".utf8).write(to: other)
        #expect(rename(other.path, database.path) == 0)
      }
      #expect(told.contains(.replaced))
    }

    @Test func otherFilesOfTheDirectoryAreNot() throws {
      let told = try events { database in
        let folder = database.deletingLastPathComponent()
        for name in ["app.sqlite2", "app", "wal", "log.txt"] { try Data().write(to: folder.appending(path: name)) }
        try FileManager.default.removeItem(at: folder.appending(path: "log.txt"))
      }
      #expect(told.isEmpty)
    }
  }
#endif
