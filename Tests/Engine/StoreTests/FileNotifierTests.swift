#if os(Linux)
  import Foundation
  import Ground
  import Synchronization
  import TestSupport
  import Testing

  @testable import Store

  /// Files that share one inotify instance.
  @Suite struct FileNotifierTests {
    private let folder: TemporaryFolder
    private let notifier = FileNotifier()

    init() throws { folder = try TemporaryFolder() }

    /// A database, its watcher, and the events that one thread gets.
    private struct Watched {
      let path: String
      let watcher: DatabaseWatcher
      let watch: FileWatch

      init(_ path: String, _ notifier: FileNotifier, creates: Bool = true) throws {
        self.path = path
        if creates { try Data("one".utf8).write(to: URL(fileURLWithPath: path)) }
        watcher = DatabaseWatcher(path: path, notifier)
        watch = FileWatch(watcher, wake: WakeSignal())
      }

      func write(_ suffix: String = "") throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + suffix))
        file.write(Data("two".utf8))
        try file.close()
      }

      var events: FileEvents {
        watcher.notifier.drain()
        return watch.takeEvents()
      }
    }

    private func watched(_ name: String = "app.sqlite", creates: Bool = true) throws -> Watched {
      try Watched(folder.path(name), notifier, creates: creates)
    }

    @Test func `Of two files in a directory each hears of its own`() throws {
      let (first, second) = (try watched("a.sqlite"), try watched("b.sqlite"))
      _ = (first.events, second.events)
      try first.write()
      #expect(first.events == [.written, .contents] && second.events.isEmpty)
      #expect(rename(first.path, folder.path("c")) == 0)
      #expect(first.events.contains(.replaced) && second.events.isEmpty)
      try Data().write(to: URL(fileURLWithPath: second.path + "-wal"))
      #expect(first.events.isEmpty && second.events.contains(.replaced))
    }

    @Test func `Two watchers of one file both hear, and one goes on when the other ends`() throws {
      let first = try watched()
      do {
        let second = try watched(creates: false)
        second.watch.arm()
        _ = (first.events, second.events)
        try first.write()
        #expect(first.events == [.written, .contents] && second.events == [.written, .contents])
        #expect(first.watcher.watchCount == 1 && notifier.fileCount == 2)
      }
      #expect(notifier.fileCount == 1)
      try first.write()
      #expect(first.events == [.written, .contents])
      try Data().write(to: URL(fileURLWithPath: first.path + "-journal"))
      #expect(first.events == [.replaced, .written])
    }

    @Test func `A log is watched while one of two watchers wants it`() throws {
      let (first, second) = (try watched(), try watched(creates: false))
      try Data("one".utf8).write(to: URL(fileURLWithPath: first.path + "-wal"))
      for one in [first, second] {
        one.watch.arm()
        _ = one.events
      }
      try first.write("-wal")
      #expect(first.events == .written && second.events == .written)
      first.watch.disarm()
      try first.write("-wal")
      #expect(first.events.isEmpty && second.events == .written)
      second.watch.disarm()
      try first.write("-wal")
      #expect(first.events.isEmpty && second.events.isEmpty)
      first.watch.arm()
      try first.write("-wal")
      #expect(first.events == .written)
    }

    @Test func `The file that has the name is watched, and the one before is not`() throws {
      let file = try watched()
      let before = try FileHandle(forWritingTo: URL(fileURLWithPath: file.path))
      try Data("other".utf8).write(to: URL(fileURLWithPath: folder.path("other")))
      #expect(rename(folder.path("other"), file.path) == 0)
      #expect(file.events.contains(.replaced))
      before.write(Data("late".utf8))
      #expect(file.events.isEmpty)
      try file.write()
      #expect(file.events == [.written, .contents] && file.watcher.watchCount == 1)
    }

    @Test func `A directory that is deleted is reported, and watched again once it is back`() throws {
      let inner = folder.path("inner")
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
      let file = try Watched(inner + "/app.sqlite", notifier)
      try FileManager.default.removeItem(atPath: inner)
      #expect(file.events.contains(.replaced))
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
      file.watch.arm()
      try Data("one".utf8).write(to: URL(fileURLWithPath: file.path))
      #expect(file.events.contains(.replaced))
    }

    @Test func `A directory that is renamed is reported, and what has its name is watched`() throws {
      let inner = folder.path("inner")
      for path in [inner, folder.path("other")] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      let file = try Watched(inner + "/app.sqlite", notifier)
      try Data("other".utf8).write(to: URL(fileURLWithPath: folder.path("other/app.sqlite")))
      #expect(rename(inner, folder.path("before")) == 0)
      #expect(file.events.contains(.replaced))
      #expect(rename(folder.path("other"), inner) == 0)
      file.watcher.renew()
      try file.write()
      #expect(file.events == [.written, .contents])
      try Data().write(to: URL(fileURLWithPath: file.path + "-wal"))
      #expect(file.events.contains(.replaced))
    }

    @Test func `When events are lost all are told that anything may have happened`() throws {
      let full = SharedFlag()
      var system = WatchSystem.inotify
      system.read = { descriptor, take in
        if full.value.exchange(false, ordering: .relaxed) { take(WatchEvent(watch: -1, isOverflow: true)) }
        WatchSystem.inotify.read(descriptor, take)
      }
      let notifier = FileNotifier(system)
      let files = try ["a", "b"].map { try Watched(folder.path($0), notifier) }
      let writes = files.map(\.watcher.contentsWrites)
      full.value.store(true, ordering: .relaxed)
      notifier.drain()
      for (file, before) in zip(files, writes) {
        #expect(file.watch.takeEvents() == [.written, .replaced, .contents])
        #expect(file.watcher.contentsWrites > before)
      }
    }

    @Test func `Beyond the user's instances the files are polled, and the reason names what to raise`() throws {
      var system = WatchSystem.inotify
      system.create = {
        errno = EMFILE
        return -1
      }
      let file = try Watched(folder.path("app.sqlite"), FileNotifier(system))
      #expect(!file.watch.isReporting && file.watcher.failure?.sysctl == "fs.inotify.max_user_instances")
      file.watch.arm()
      #expect(!file.watch.isArmed)
    }

    @Test func `A file beyond the user's watches is polled, and the others are reported`() throws {
      var system = WatchSystem.inotify
      system.add = { descriptor, path, mask in
        if !path.hasSuffix("b.sqlite") { return WatchSystem.inotify.add(descriptor, path, mask) }
        errno = ENOSPC
        return -1
      }
      let notifier = FileNotifier(system)
      let files = try ["a.sqlite", "b.sqlite"].map { try Watched(folder.path($0), notifier) }
      #expect(files.map(\.watch.isReporting) == [true, false])
      let failure = try #require(files[1].watcher.failure)
      #expect(failure.description.contains("fs.inotify.max_user_watches") && files[0].watcher.failure == nil)
      try files[0].write()
      #expect(files[0].events == [.written, .contents])
    }
  }

  private final class SharedFlag: Sendable {
    let value = Atomic<Bool>(false)
  }
#endif
