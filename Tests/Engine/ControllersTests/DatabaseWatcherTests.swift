import Ground

#if os(Linux)
  import Foundation
  import Testing

  @testable import Controllers
  @testable import Store

  /// Events that wake a follower.
  @Suite struct DatabaseWatcherTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watched-\(UUID().uuidString)")

    /// The events of `body` in a directory with a database.
    private func events(isArmed: Bool = true, _ body: (URL) throws -> Void) throws -> FileEvents {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let database = directory.appending(path: "app.sqlite")
      try Data("one".utf8).write(to: database)
      let notifier = FileNotifier()
      let watch = FileWatch(DatabaseWatcher(path: database.path, notifier), wake: WakeSignal())
      if isArmed { watch.arm() }
      try body(database)
      notifier.drain()
      return watch.takeEvents()
    }

    /// The report of a write to the database file itself.
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

    /// One follower of a file, and whether events have woken it.
    private struct Follower {
      let wake = WakeSignal()
      let watch: FileWatch

      init(_ watcher: DatabaseWatcher) { watch = FileWatch(watcher, wake: wake) }

      var isWoken: Bool { wake.wait(Nanoseconds.zero) }
    }

    /// Runs two followers that share a watcher.
    private func withTwo(_ body: (URL, DatabaseWatcher, Follower, Follower) throws -> Void) throws {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let database = directory.appending(path: "app.sqlite")
      try Data("one".utf8).write(to: database)
      let watcher = DatabaseWatcher(path: database.path, FileNotifier())
      try body(database, watcher, Follower(watcher), Follower(watcher))
    }

    @Test func logsAreWatchedWhileOneOfTwoWantsItAndTheDatabaseAlways() throws {
      try withTwo { database, watcher, first, second in
        let log = URL(fileURLWithPath: database.path + "-wal")
        try Data("one".utf8).write(to: log)
        watcher.notifier.drain()
        _ = first.watch.takeEvents()
        #expect(watcher.watchCount == 1)
        first.watch.arm()
        first.watch.arm()
        second.watch.arm()
        #expect(watcher.watchCount == 2)
        first.watch.disarm()
        first.watch.disarm()
        #expect(watcher.watchCount == 2)
        second.watch.disarm()
        #expect(watcher.watchCount == 1)
        try Self.write(log)
        watcher.notifier.drain()
        #expect(first.watch.takeEvents().isEmpty, "neither a write nor the end of the watch")
        try Self.write(database)
        watcher.notifier.drain()
        #expect(first.watch.takeEvents() == [.written, .contents])
      }
    }

    @Test func aWriteWakesAllThatListen() throws {
      try withTwo { database, watcher, first, second in
        for follower in [first, second] {
          follower.watch.arm()
          #expect(!follower.watch.listen(true))
        }
        try Self.write(database)
        watcher.notifier.drain()
        for follower in [first, second] {
          #expect(follower.isWoken)
          #expect(follower.watch.takeEvents() == Self.contents)
          #expect(follower.watch.takeEvents().isEmpty)
        }
      }
    }

    @Test func whatDoesNotListenIsNotWokenButHearsLater() throws {
      try withTwo { database, watcher, first, second in
        first.watch.arm()
        #expect(!first.watch.listen(true) && !second.watch.listen(false))
        try Self.write(database)
        watcher.notifier.drain()
        #expect(first.isWoken && !second.isWoken)
        #expect(second.watch.listen(true), "there are events, which wake nobody any more")
        #expect(second.watch.takeEvents() == Self.contents)
        #expect(!second.watch.listen(true))
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
