import Ground
import Store
import Wire

/// A database as `GET /v1/databases` shows it.
struct DatabaseListing: Sendable {
  let name: DatabaseName
  private let bytes: Int
  private let hasWAL: Bool
  private let isOpen: Bool

  /// A database that this process has open, whose file must not be opened and closed here.
  init?(open name: DatabaseName, _ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.name = name
    bytes = Int(status.st_size)
    hasWAL = access(path + "-wal", F_OK) == 0
    isOpen = true
  }

  /// - Returns: nil if the file is not a database. An empty file is one.
  init?(closed name: DatabaseName, _ path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    var head = [UInt8](repeating: 0, count: 20)
    let count = pread(file, &head, head.count, 0)
    guard count == 0 || count == head.count && head.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
    self.name = name
    bytes = Int(status.st_size)
    // Byte 18 is the version that writers must support: 2 means WAL.
    hasWAL = head[18] == 2
    isOpen = false
  }

  static func json(_ all: [DatabaseListing]) -> [UInt8] {
    var writer = JSONWriter()
    writer.array { array in
      for listing in all { listing.write(to: &array) }
    }
    return writer.bytes
  }

  var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  private func write(to writer: inout JSONWriter) {
    writer.object {
      $0.member("name", name.description)
      $0.member("bytes", bytes)
      $0.member("journal", hasWAL ? "wal" : "rollback")
      $0.member("open", isOpen)
    }
  }
}
