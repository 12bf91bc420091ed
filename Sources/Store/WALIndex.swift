import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Tells without a system call whether anybody has committed to a database in WAL mode.
///
/// All users of such a database share the WAL-index, a piece of memory; its header is written anew by every commit, after
/// everything else (https://sqlite.org/walformat.html). SQLite's own mapping of it is looked at, so it is valid for as long as
/// the connection is open: a database cannot leave WAL mode while it is.
///
/// Owner: the thread that uses the connection.
package struct WALIndex {
  /// Of the first copy of the header, the one that is written last.
  private static let headerSize = 48
  /// Of the pieces that SQLite maps.
  private static let regionSize: Int32 = 32 << 10

  private let header: UnsafeRawPointer
  private var noted = [UInt8](repeating: 0, count: headerSize)

  /// - Returns: nil when the database is not in WAL mode.
  package init?(of connection: OpaquePointer) {
    guard (try? WALIndex.isInWALMode(connection)) == true, let header = WALIndex.map(connection) else { return nil }
    self.header = UnsafeRawPointer(header)
  }

  /// Asked first, because mapping the WAL-index would make one.
  static func isInWALMode(_ connection: OpaquePointer) throws(SQLiteFailure) -> Bool {
    let mode = try PreparedStatement(connection, "PRAGMA main.journal_mode", isPersistent: false)
    return try mode.step() && mode.text(0) == "wal"
  }

  private static func map(_ connection: OpaquePointer) -> UnsafeMutableRawPointer? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) {
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, $0)
    }
    guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    var region: UnsafeMutableRawPointer?
    guard map(file, 0, regionSize, 0, &region) == SQLITE_OK else { return nil }
    return region
  }

  /// Whether there may have been a commit (or a checkpoint) since `note`.
  package var hasMoved: Bool { noted.withUnsafeBytes { memcmp($0.baseAddress!, header, WALIndex.headerSize) != 0 } }

  /// To be called before the read transaction in which changes are looked for: what is committed after this, and seen there
  /// already, is looked for once more.
  package mutating func note() {
    noted.withUnsafeMutableBytes {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: header, count: WALIndex.headerSize))
    }
  }
}
