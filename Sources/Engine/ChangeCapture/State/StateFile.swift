import Ground
import Synchronization

/// A file that keeps the states of one database for one purpose. One process uses it at a time.
///
/// A write goes to another file, which takes the name once it is on the disk: a state is there whole or not at all. It
/// belongs to the user alone (0600, in a folder with 0700): one that others may write to is not read.
/// **The last of a process.** A state may be followed by others that clients saw and that no later write has kept: the
/// process was killed. A state that was written at an orderly end is marked as the last, until it is read. A copy of
/// the file is never used, because promises made after the copy would be lost.
///
/// Any thread; one at a time writes.
package final class StateFile: Sendable {
  /// A state as it was found.
  package struct Found {
    package let state: CaptureState
    /// Whether nothing came after it in the process that kept it.
    package let isLast: Bool
  }

  package let path: String
  /// The lock, held for as long as this is used; nil: it was released.
  private let lock: Mutex<Int32?>
  /// No state but the last of this process may be there.
  private let isRemoved = Mutex(false)
  /// Whether the state that was read was the last of its process.
  private let wasLast = Mutex(false)

  /// Takes the file of a database.
  ///
  /// - Parameter part: its purpose, such as "server".
  /// - Throws: a sentence: the folder cannot be used, or another process has the file.
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

  /// Another process may have the file now; this one must not use it any more.
  package func release() {
    lock.withLock { lock in
      guard let descriptor = lock.take() else { return }
      // A process that another thread is starting may have it, too, until it runs a program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  // MARK: - Reading

  /// Reads the kept state, which is from now on not the last of its process any more.
  ///
  /// - Returns: nil: no state is kept.
  /// - Throws: a sentence: the file cannot be used.
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

  /// This process changed nothing: the state that was read is the last again.
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

  /// Puts a state in the place of the one before.
  ///
  /// - Parameter isLast: nothing comes after it in this process. After `remove` no other is written.
  /// - Throws: a sentence; the one before is still there.
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

  /// Removes the file. The next one is written at the end.
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
