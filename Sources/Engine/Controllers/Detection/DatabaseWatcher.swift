/// What other connections did to a database's files.
struct FileEvents: OptionSet {
  let rawValue: Int
  /// Wrote to a file.
  static let written = FileEvents(rawValue: 1)
  /// Created, removed or renamed a file: the database may have been replaced.
  static let replaced = FileEvents(rawValue: 2)
}

#if os(Linux)
  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// Reports writes to a database's files, by inotify.
  ///
  /// Watches the files for writes and their directory for new files, so that other events in the directory cost
  /// nothing. Reports are early: WAL frames are written before their commit can be read, so `CommitDetection` checks
  /// several times.
  ///
  /// Owner: one follower's thread.
  final class DatabaseWatcher {
    /// A descriptor for `poll`; -1: the caller must poll the file instead.
    let descriptor: Int32
    private let paths: [String]
    /// Names of `paths` in their directory.
    private let names: [String]
    private var directoryWatch: Int32 = -1

    init(path: String) {
      paths = [path + "-wal", path, path + "-journal", path + "-shm"]
      names = paths.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
      descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return }
      let slash = path.lastIndex(of: "/")
      let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      directoryWatch = inotify_add_watch(
        descriptor, directory, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM))
      watchFiles()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watching a watched file changes nothing. An absent file fails, which is no error.
    private func watchFiles() {
      for path in paths { inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) }
    }

    /// Reads the pending events.
    func drain() -> FileEvents {
      guard descriptor >= 0 else { return [.written, .replaced] }
      var events: FileEvents = []
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
        // One read takes all events, except in a flood: the next call takes the rest.
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        var position = 0
        while position < count {
          let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
          let name = position + MemoryLayout<inotify_event>.size
          position = name + Int(event.len)
          if event.wd != directoryWatch {
            events.insert(.written)
          } else if names.contains(
            String(cString: buffer.baseAddress!.advanced(by: name).assumingMemoryBound(to: CChar.self)))
          {
            events.insert(.replaced)
          }
        }
      }
      if events.contains(.replaced) {
        watchFiles()
        // A new file may have been written to before it was watched.
        events.insert(.written)
      }
      return events
    }
  }
#else
  /// Without inotify, the follower polls `PRAGMA data_version`.
  final class DatabaseWatcher {
    let descriptor: Int32 = -1
    init(path: String) {}
    func drain() -> FileEvents { [.written, .replaced] }
  }
#endif
