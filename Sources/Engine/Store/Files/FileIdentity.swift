import Ground

/// Which file a path leads to: after `mv other.sqlite app.sqlite` it is another one.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  let inode: UInt64

  /// Bytes of the file at a path; 0 when there is none.
  package static func size(path: String) -> Int {
    FileStatus(path: path)?.size ?? 0
  }

  /// Nil when there is none.
  package init?(path: String) {
    guard let status = FileStatus(path: path) else { return nil }
    self = status.identity
  }

  fileprivate init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// Which file a path leads to, and how long it is, by one system call.
struct FileStatus {
  let identity: FileIdentity
  let size: Int

  /// Nil when there is none.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Of an open file.
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
