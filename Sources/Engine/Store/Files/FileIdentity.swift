import Ground

/// The file that a path leads to: `mv other.sqlite app.sqlite` changes it.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  let inode: UInt64

  /// The size of the file at a path; 0 if it does not exist.
  package static func size(path: String) -> Int {
    FileStatus(path: path)?.size ?? 0
  }

  /// Nil if the file does not exist.
  package init?(path: String) {
    guard let status = FileStatus(path: path) else { return nil }
    self = status.identity
  }

  fileprivate init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// The identity and the size of the file at a path, read with one system call.
struct FileStatus {
  let identity: FileIdentity
  let size: Int

  /// Nil if the file does not exist.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The identity of an open file.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    identity = FileIdentity(status)
    size = Int(status.st_size)
  }
}
