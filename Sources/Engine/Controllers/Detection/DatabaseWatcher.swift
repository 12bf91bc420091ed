/// What somebody did to a database's files.
struct FileEvents: OptionSet {
  let rawValue: Int
  /// Wrote to them.
  static let written = FileEvents(rawValue: 1)
  /// Made, removed or renamed one: the database may be another file now.
  static let replaced = FileEvents(rawValue: 2)
}

#if os(Linux)
  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// Tells that somebody wrote to a database's files: inotify.
  ///
  /// The files themselves are watched for writes, their directory for files that appear, so that what else happens in the
  /// directory costs nothing. It tells early: WAL frames are written before the commit that they belong to can be read.
  /// Whoever is woken looks again a few times (`Follower`).
  ///
  /// Owner: one follower's thread.
  final class DatabaseWatcher {
    /// To wait on together with other descriptors; -1 when there is nothing to wait on and the caller has to poll.
    let descriptor: Int32
    private let paths: [String]
    /// Those of `paths`, in their directory.
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

    /// Watching a file that is watched already changes nothing; one that is not there fails, and is no error.
    private func watchFiles() {
      for path in paths { inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) }
    }

    /// Takes in what is pending.
    func drain() -> FileEvents {
      guard descriptor >= 0 else { return [.written, .replaced] }
      var events: FileEvents = []
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
        // One read takes all that is there but for a flood, of which the rest comes next time.
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
