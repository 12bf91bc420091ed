import Ground
import Synchronization

/// A file that keeps the states of one database for one purpose. One process uses it at a time.
///
/// A write goes to another file, which is renamed once it is on the disk, so the file has a complete state or does not
/// exist. Only the user may access it (0600, in a folder with 0700); a file that others may write to is not read. **The
/// last of a process.** If a process was killed, clients may have seen states after the one that was kept last. A state
/// written at an orderly end is marked as the last of its process; reading it removes the mark. A copy of the file is
/// never used, because promises made after the copy would be lost.
///
/// Any thread; one thread at a time may write.
package final class StateFile: Sendable {
  /// A state that `read` found.
  package struct Found {
    package let state: CaptureState
    /// Whether it was the last state of the process that kept it.
    package let isLast: Bool
  }

  package let path: String
  /// The descriptor of the locked file, held until `release`; nil after that.
  private let lock: Mutex<Int32?>
  /// Whether the state was removed. Then only the last state of this process may be written.
  private let isRemoved = Mutex(false)
  /// Whether the state that was read was the last of its process.
  private let wasLast = Mutex(false)

  /// Locks the file of a database, for the use of this process alone.
  ///
  /// - Parameter part: its purpose, such as "server".
  /// - Throws: an error message, if the folder cannot be used or another process has the file.
  package init(of database: String, part: String, in folder: String) throws(StateFailure) {
    try StateFolder.make(folder)
    let stem = StateFolder.stem(of: database, part: part, in: folder)
    path = stem + ".state"
    let descriptor = open(stem + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw StateFailure("cannot write to \(folder)", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      throw code == EWOULDBLOCK
        ? StateFailure.keptByAnother(path) : StateFailure("cannot lock \(stem).lock", code)
    }
    lock = Mutex(descriptor)
  }

  deinit { release() }

  /// Lets another process use the file. This one must not use it any more.
  package func release() {
    lock.withLock { lock in
      guard let descriptor = lock.take() else { return }
      // Closing is not enough: a child process that another thread is starting may have the descriptor until it calls
      // `exec`.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  // MARK: - Reading

  /// Reads the kept state, and removes its mark as the last of its process.
  ///
  /// - Returns: nil if no state is kept.
  /// - Throws: an error message, if the file cannot be used.
  package func read() throws(StateFailure) -> Found? {
    guard let (descriptor, status) = try OwnFile.open(path, O_RDWR) else { return nil }
    defer { close(descriptor) }
    let bytes = try OwnFile.contents(of: path, descriptor, status)
    guard let state = CaptureState(decoding: bytes) else {
      throw StateFailure("\(path) is not used: it is damaged, or of another version")
    }
    guard Self.inode(bytes) == UInt64(status.st_ino) else {
      throw StateFailure("\(path) is not used: it is a copy, and may be older than the original")
    }
    let isLast = Self.flags(bytes) == 1
    if isLast {
      var flags: UInt32 = 0
      guard pwrite(descriptor, &flags, 4, off_t(CaptureState.Prefix.flagsOffset)) == 4, fsync(descriptor) == 0 else {
        throw StateFailure("cannot write to \(path)", errno)
      }
      wasLast.withLock { $0 = true }
    }
    return Found(state: state, isLast: isLast)
  }

  private static func flags(_ bytes: [UInt8]) -> UInt32 {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: CaptureState.Prefix.flagsOffset, as: UInt32.self) }
  }

  private static func inode(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: CaptureState.Prefix.inodeOffset, as: UInt64.self) }
  }

  /// Marks the state as the last again after `read`, if this process has changed nothing.
  package func putBack() {
    guard wasLast.withLock({ $0 }), !isRemoved.withLock({ $0 }) else { return }
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { return }
    var flags: UInt32 = 1
    _ = pwrite(descriptor, &flags, 4, off_t(CaptureState.Prefix.flagsOffset))
    fsync(descriptor)
    close(descriptor)
  }

  // MARK: - Writing

  /// Replaces the kept state.
  ///
  /// - Parameter isLast: whether it is the last state of this process. After `remove` only such a state is written.
  /// - Throws: an error message; the former state is kept then.
  package func write(_ state: CaptureState, isLast: Bool = false) throws(StateFailure) {
    let temporary = path + ".tmp"
    let descriptor = try OwnFile.make(temporary)
    let isWritten = put(state.encoded(), isLast: isLast, descriptor) && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else {
      unlink(temporary)
      throw StateFailure("cannot write \(temporary)", code)
    }
    let failure = isRemoved.withLock { isRemoved in
      if isRemoved, !isLast {
        unlink(temporary)
        return Int32(0)
      }
      return rename(temporary, path) == 0 ? 0 : errno
    }
    if failure != 0 { throw StateFailure("cannot rename \(temporary)", failure) }
    syncFolder()
  }

  /// Removes the file. After that only the last state of this process is written.
  package func remove() {
    isRemoved.withLock { isRemoved in
      isRemoved = true
      unlink(path)
    }
    syncFolder()
  }

  private func put(_ bytes: [UInt8], isLast: Bool, _ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    var prefix = Array(bytes.prefix(CaptureState.Prefix.size))
    prefix.withUnsafeMutableBytes { prefix in
      prefix.storeBytes(of: isLast ? 1 : 0, toByteOffset: CaptureState.Prefix.flagsOffset, as: UInt32.self)
      prefix.storeBytes(of: UInt64(status.st_ino), toByteOffset: CaptureState.Prefix.inodeOffset, as: UInt64.self)
    }
    return prefix.withUnsafeBytes { OwnFile.write($0, to: descriptor) }
      && bytes.withUnsafeBytes {
        OwnFile.write(UnsafeRawBufferPointer(rebasing: $0[CaptureState.Prefix.size...]), to: descriptor)
      }
  }

  private func syncFolder() {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return }
    fsync(descriptor)
    close(descriptor)
  }
}
