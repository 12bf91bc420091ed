import CSQLite

/// A file that a connection of SQLite has open, read through SQLite's descriptor. A descriptor of our own must not be
/// used, because closing it would drop all locks that SQLite holds for the process.
///
/// Owner: the thread that uses the connection.
final class DatabaseFile: ByteSource {
  private let connection: OpaquePointer
  private let operation: Int32

  /// The database file, or its WAL.
  enum Kind { case database, wal }

  init(_ kind: Kind, of connection: OpaquePointer) {
    self.connection = connection
    operation = kind == .database ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER
  }

  /// SQLite's object for the file; nil while the file is not open.
  static func pointer(_ connection: OpaquePointer, _ operation: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) { sqlite3_file_control(connection, "main", operation, $0) }
    guard code == SQLITE_OK, let file, file.pointee.pMethods != nil else { return nil }
    return file
  }

  func read(into target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(Doubt) -> Bool {
    guard count <= Int(Int32.max), let file = Self.pointer(connection, operation) else { throw Doubt(.unreadable) }
    let code = file.pointee.pMethods.pointee.xRead(file, target, Int32(count), Int64(offset))
    if code == SQLITE_OK { return true }
    if code == sqlite_io_short_read { return false }
    throw Doubt(.unreadable)
  }

  func size() throws(Doubt) -> Int {
    var size: Int64 = 0
    guard let file = Self.pointer(connection, operation),
      file.pointee.pMethods.pointee.xFileSize(file, &size) == SQLITE_OK
    else { throw Doubt(.unreadable) }
    return Int(size)
  }
}

/// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not see.
private let sqlite_io_short_read = SQLITE_IOERR | (2 << 8)
