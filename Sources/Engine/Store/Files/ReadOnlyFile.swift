import CSQLite
import Ground

/// Decides how a database file is opened for reading only.
package enum ReadOnlyFile {
  /// Returns the path, or a URI that makes SQLite read the file without its journals. A file in WAL mode without a -shm
  /// cannot be opened in a directory that this process cannot write to. There `immutable` reads the file without locks
  /// and without the WAL, because only a process with other rights could be writing. If the WAL has frames, the file
  /// would show an old state, so it is refused. In a writable directory `immutable` is never right: the obstacle is
  /// temporary, and such a connection would see no later commit.
  ///
  /// - Parameter patience: how long to wait for a lock or a journal, in milliseconds.
  /// - Throws: SQLite's error, if the file cannot be read at all.
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
      byte.isNameByte || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".")
        ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
