import CSQLite
import Ground

/// Lets captures of a process that have the same file open share its memory.
///
/// Any thread.
// @unchecked: `capture` is read and changed under `lock`.
package final class FileCaptures: @unchecked Sendable {
  private let lock = HeldLock()
  /// The newest memory. It is stale once no capture uses it, because it was emptied then.
  private var capture: FileCapture?
  private var file: FileNumber?

  package init() {}

  /// The memory of the file that a connection has open.
  ///
  /// - Returns: nil if the file cannot be identified.
  func capture(of connection: OpaquePointer, _ settings: ChangeCapture.Settings) -> FileCapture? {
    guard let number = FileNumber(connection) else { return nil }
    lock.lock()
    defer { lock.unlock() }
    if let capture, number == file {
      capture.lock.lock()
      defer { capture.lock.unlock() }
      if !capture.isStale {
        capture.settings.memoryLimit = max(capture.settings.memoryLimit, settings.memoryLimit)
        capture.settings.recordBytes = max(capture.settings.recordBytes, settings.recordBytes)
        return capture
      }
    }
    let made = FileCapture(connection, settings)
    (capture, file) = (made, number)
    return made
  }
}

/// The system's identity of a file.
private struct FileNumber: Equatable {
  let device: UInt64
  let inode: UInt64

  init?(_ connection: OpaquePointer) {
    var status = stat()
    guard let path = sqlite3_db_filename(connection, "main"), stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
