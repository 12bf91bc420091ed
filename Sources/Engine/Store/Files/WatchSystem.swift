import Ground

/// The system calls of inotify, which tests replace.
struct WatchSystem: Sendable {
  /// - Returns: a descriptor, or -1 with `errno`.
  var create: @Sendable () -> Int32
  /// - Returns: the watch's number, or -1 with `errno`.
  var add: @Sendable (_ descriptor: Int32, _ path: String, _ mask: UInt32) -> Int32
  var remove: @Sendable (_ descriptor: Int32, _ watch: Int32) -> Void
  /// Calls `take` with each pending event.
  var read: @Sendable (_ descriptor: Int32, _ take: (WatchEvent) -> Void) -> Void
}

/// An event of inotify.
struct WatchEvent {
  let watch: Int32
  /// The queue was full, so events are lost.
  var isOverflow = false
  /// The watch has ended.
  var isEnd = false
  /// The directory was renamed.
  var isMove = false
  /// The name of a file in a watched directory.
  var name: String?
}

#if os(Linux)
  extension WatchSystem {
    /// The events of a file that are wanted: writes.
    static let writes = UInt32(IN_MODIFY) | UInt32(IN_MASK_ADD)
    /// The events of a directory that are wanted: files appear or disappear, or the directory is renamed.
    static let names =
      UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVE_SELF)
      | UInt32(IN_MASK_ADD)

    static let inotify = WatchSystem(
      create: { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) },
      add: { inotify_add_watch($0, $1, $2) },
      remove: { inotify_rm_watch($0, $1) },
      read: { readEvents($0, $1) })
  }

  private func readEvents(_ descriptor: Int32, _ take: (WatchEvent) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
      // One read usually takes all events. If it does not, the descriptor stays readable.
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      var position = 0
      while position < count {
        let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
        let name = position + MemoryLayout<inotify_event>.size
        position = name + Int(event.len)
        take(
          WatchEvent(
            watch: event.wd, isOverflow: event.mask & UInt32(IN_Q_OVERFLOW) != 0,
            isEnd: event.mask & UInt32(IN_IGNORED) != 0, isMove: event.mask & UInt32(IN_MOVE_SELF) != 0,
            name: event.len == 0
              ? nil : String(cString: buffer.baseAddress!.advanced(by: name).assumingMemoryBound(to: CChar.self))))
      }
    }
  }
#else
  extension WatchSystem {
    static let writes: UInt32 = 0
    static let names: UInt32 = 0
    /// Reports nothing, so callers poll their files.
    static let inotify = WatchSystem(create: { -1 }, add: { _, _, _ in -1 }, remove: { _, _ in }, read: { _, _ in })
  }
#endif
