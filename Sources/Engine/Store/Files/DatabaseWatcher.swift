import Ground
import Synchronization

/// What other connections did to a database's files.
package struct FileEvents: OptionSet {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Wrote to a file.
  package static let written = FileEvents(rawValue: 1)
  /// Created, removed or renamed a file: the database may have been replaced.
  package static let replaced = FileEvents(rawValue: 2)
  /// Wrote to the database file itself.
  package static let contents = FileEvents(rawValue: 4)
}

/// The part of a `FileWatch` that other threads see. Any thread.
package final class FileListener: Sendable {
  let wake: WakeSignal
  /// Whether events wake the thread.
  let isListening = Atomic<Bool>(false)
  /// Events that another thread has read.
  private let events = Atomic<Int>(0)

  init(_ wake: WakeSignal) { self.wake = wake }

  var hasEvents: Bool { events.load(ordering: .sequentiallyConsistent) != 0 }

  func add(_ added: FileEvents) {
    events.bitwiseOr(added.rawValue, ordering: .sequentiallyConsistent)
    if isListening.load(ordering: .sequentiallyConsistent) { wake.signal() }
  }

  func takeEvents() -> FileEvents {
    hasEvents ? FileEvents(rawValue: events.exchange(0, ordering: .sequentiallyConsistent)) : []
  }
}

#if os(Linux)
  /// Reports writes to a database's files, by inotify, to all threads that follow the database.
  ///
  /// Watches the files for writes and their directory for new files, so that other events in the directory cost
  /// nothing. Reports are early: WAL frames are written before their commit can be read, so `CommitDetection` checks
  /// several times.
  ///
  /// A watch of a file costs its writers time at each write, and more when that wakes a thread. So the files are watched only
  /// while a thread asks for it (`FileWatch.arm`), and a write wakes one thread, which reads the event and wakes the others. The database
  /// file itself is watched all the time: with a WAL only checkpoints write to it, and programs that write over it, of which nothing else
  /// may tell (`FileContents`).
  ///
  /// Any thread.
  package final class DatabaseWatcher: Sendable {
    /// A descriptor that can be read when there are events; -1: callers must poll the file instead.
    let descriptor: Int32
    private let database: String
    private let paths: [String]
    /// Names of `paths` in their directory.
    private let names: [String]
    private let directoryWatch: Int32
    private let state = Mutex(State())
    private let writes = Atomic<Int>(0)

    private struct State {
      /// inotify's numbers of the watched files.
      var watches: Set<Int32> = []
      /// That of the database file.
      var database: Int32 = -1
      /// How many threads want writes to be reported.
      var armed = 0
      var listeners: [FileListener] = []
    }

    package init(path: String) {
      let paths = [path + "-wal", path, path + "-journal", path + "-shm"]
      database = path
      self.paths = paths
      names = paths.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
      descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      let slash = path.lastIndex(of: "/")
      let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let mask = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
      directoryWatch = descriptor < 0 ? -1 : inotify_add_watch(descriptor, directory, mask)
      state.withLock { watchFiles(&$0) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func add(_ listener: FileListener) { state.withLock { $0.listeners.append(listener) } }

    func remove(_ listener: FileListener) { state.withLock { $0.listeners.removeAll { $0 === listener } } }

    /// How often a write to the database file itself has been reported, also to nobody yet.
    package var contentsWrites: Int {
      distribute(readEvents(), except: nil)
      return writes.load(ordering: .sequentiallyConsistent)
    }

    /// How many files are watched for writes.
    package var watchCount: Int { state.withLock { $0.watches.count } }

    /// Reports writes from now on. Each call must be balanced by one of `disarm`.
    package func arm() {
      state.withLock {
        $0.armed += 1
        if $0.armed == 1 { watchFiles(&$0) }
      }
    }

    package func disarm() {
      state.withLock { state in
        state.armed -= 1
        if state.armed > 0 { return }
        for watch in state.watches where watch != state.database { inotify_rm_watch(descriptor, watch) }
        state.watches.formIntersection([state.database])
      }
      // The kernel reports the end of each watch.
      distribute(readEvents(), except: nil)
    }

    /// Watching a watched file changes nothing. An absent file fails, which is no error.
    private func watchFiles(_ state: inout State) {
      if descriptor < 0 { return }
      for path in state.armed > 0 ? paths : [database] {
        let watch = inotify_add_watch(descriptor, path, UInt32(IN_MODIFY))
        if watch >= 0 { state.watches.insert(watch) }
        if path == database { state.database = watch }
      }
    }

    /// Reads the pending events, and passes them to the other listeners.
    package func drain(for listener: FileListener? = nil) -> FileEvents {
      let events = readEvents()
      distribute(events, except: listener)
      return events
    }

    private func distribute(_ events: FileEvents, except listener: FileListener?) {
      if events.isEmpty { return }
      for other in state.withLock({ $0.listeners }) where other !== listener { other.add(events) }
    }

    private func readEvents() -> FileEvents {
      guard descriptor >= 0 else { return [.written, .replaced] }
      var events: FileEvents = []
      let database = state.withLock { $0.database }
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
        // One read takes all events, except in a flood: the next call takes the rest.
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        var position = 0
        while position < count {
          let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
          let name = position + MemoryLayout<inotify_event>.size
          position = name + Int(event.len)
          if event.mask & UInt32(IN_IGNORED) != 0 {
            state.withLock { _ = $0.watches.remove(event.wd) }
          } else if event.wd < 0 {
            // The queue was full: events are lost.
            events = [.written, .replaced]
          } else if event.wd != directoryWatch {
            events.insert(.written)
            if event.wd == database {
              events.insert(.contents)
              writes.add(1, ordering: .sequentiallyConsistent)
            }
          } else if names.contains(
            String(cString: buffer.baseAddress!.advanced(by: name).assumingMemoryBound(to: CChar.self)))
          {
            events.insert(.replaced)
          }
        }
      }
      if events.contains(.replaced) {
        state.withLock { watchFiles(&$0) }
        // A new file may have been written to before it was watched.
        events.insert(.written)
      }
      return events
    }
  }
#else
  /// Without inotify, the follower polls `PRAGMA data_version`.
  package final class DatabaseWatcher: Sendable {
    let descriptor: Int32 = -1
    package init(path: String) {}
    package var contentsWrites: Int { 0 }
    func add(_ listener: FileListener) {}
    func remove(_ listener: FileListener) {}
    package func arm() {}
    package func disarm() {}
    package func drain(for listener: FileListener? = nil) -> FileEvents { [.written, .replaced] }
  }
#endif
