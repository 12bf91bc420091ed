import CSQLite
import Ground

/// How a database file is opened for reading alone.
package enum ReadOnlyFile {
  /// The path, or a URI with which SQLite reads the file without its journals.
  /// A file in WAL mode without its -shm cannot be opened in a directory that cannot be written to. Only a process with
  /// other rights can be writing there: `immutable` reads the file without locks and without the WAL. When the WAL has
  /// something, that would be an old state, so the file is refused. Where the directory can be written to, `immutable`
  /// is never right: the obstacle is temporary, and such a connection would see no later commit.
  ///
  /// - Parameter patience: how long a lock or a journal is waited for, in milliseconds.
  /// - Throws: what SQLite reports of a file that cannot be read at all.
  package static func location(_ path: String, patience: Int32 = Connection.patience) throws(SQLiteFailure) -> String {
    do throws(SQLiteFailure) {
      try RollbackJournal.passing(path, patience: patience) { () throws(SQLiteFailure) in try probe(path, patience) }
      return path
    } catch {
      let mayBeImmutable = [SQLITE_CANTOPEN, SQLITE_READONLY].contains(error.primaryCode) && !error.isLock
      guard mayBeImmutable, access(directory(of: path), W_OK) != 0, FileIdentity.size(path: path + "-journal") == 0
      else { throw error }
      if FileIdentity.size(path: path + "-wal") > 0 {
        throw SQLiteFailure(
          code: error.code,
          message:
            "\(error.message): its -wal holds commits, and reading them takes a -shm in a directory that may not be "
            + "written to (open the database once with the right to write, and close it)")
      }
      let uri = "file:\(escaped(path))?immutable=1"
      try probe(uri, patience)
      return uri
    }
  }

  private static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  private static func probe(_ location: String, _ patience: Int32) throws(SQLiteFailure) {
    let connection = try Connection(location, patience: patience)
    _ = try connection.first("SELECT count(*) FROM sqlite_master") { _ in }
  }

  private static func escaped(_ path: String) -> String {
    path.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined()
  }
}
