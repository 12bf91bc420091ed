#if os(Linux)
  import Foundation
  import Testing

  @testable import Controllers

  /// What a follower is woken for.
  @Suite struct DatabaseWatcherTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watched-\(UUID().uuidString)")

    /// What is told of what `body` does in a directory with a database.
    private func events(_ body: (URL) throws -> Void) throws -> FileEvents {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let database = directory.appending(path: "app.sqlite")
      try Data("one".utf8).write(to: database)
      let watcher = DatabaseWatcher(path: database.path)
      try body(database)
      return watcher.drain()
    }

    @Test func writesAreTold() throws {
      let told = try events { database in
        let handle = try FileHandle(forWritingTo: database)
        handle.write(Data("two".utf8))
        try handle.close()
      }
      #expect(told == .written)
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
