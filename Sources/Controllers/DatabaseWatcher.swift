#if os(Linux)
  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// Tells that somebody wrote to a database's files: inotify on their directory.
  ///
  /// It tells early: WAL frames are written before the commit that they belong to can be read. Whoever is woken looks
  /// again a few times (`Worker`).
  ///
  /// Owner: one worker's thread.
  final class DatabaseWatcher {
    /// To wait on together with other descriptors; -1 when there is nothing to wait on and the caller has to poll.
    let descriptor: Int32
    private let names: Set<String>

    init(path: String) {
      let slash = path.lastIndex(of: "/")
      let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let file = slash.map { String(path[path.index(after: $0)...]) } ?? path
      names = [file, file + "-wal", file + "-journal"]
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_TO)
      if descriptor >= 0, inotify_add_watch(descriptor, directory, events) < 0 {
        close(descriptor)
        self.descriptor = -1
      } else {
        self.descriptor = descriptor
      }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes in what is pending.
    ///
    /// - Returns: whether any of it concerns the database.
    func drain() -> Bool {
      guard descriptor >= 0 else { return true }
      var isConcerned = false
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
        while true {
          let count = read(descriptor, buffer.baseAddress, buffer.count)
          if count <= 0 { return }
          var position = 0
          while position < count {
            let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
            let name = buffer.baseAddress! + position + MemoryLayout<inotify_event>.size
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0
              || (event.len > 0 && names.contains(String(cString: name.assumingMemoryBound(to: CChar.self))))
            {
              isConcerned = true
            }
            position += MemoryLayout<inotify_event>.size + Int(event.len)
          }
        }
      }
      return isConcerned
    }
  }
#else
  /// Without inotify, the worker polls `PRAGMA data_version`.
  final class DatabaseWatcher {
    let descriptor: Int32 = -1
    init(path: String) {}
    func drain() -> Bool { true }
  }
#endif
