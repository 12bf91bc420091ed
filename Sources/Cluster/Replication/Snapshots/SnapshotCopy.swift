import CSQLite
import Foundation
import Store

/// Copies whole databases, by SQLite's backup.
enum SnapshotCopy {
  /// For locks, in milliseconds.
  static let patience: Int32 = 5_000

  /// Copies the state that a connection's transaction sees, or its newest, into a file, or into another connection's database in
  /// one transaction.
  static func copy(_ source: OpaquePointer, into destination: OpaquePointer) throws {
    guard let backup = sqlite3_backup_init(destination, "main", source, "main") else {
      throw ReplicationFailure("the copy cannot be begun: \(String(cString: sqlite3_errmsg(destination)))")
    }
    var code = sqlite3_backup_step(backup, -1)
    // Somebody writes to the destination.
    var tries = 0
    while code == SQLITE_BUSY || code == SQLITE_LOCKED, tries < 1_000 {
      pause(milliseconds: 10)
      tries += 1
      code = sqlite3_backup_step(backup, -1)
    }
    let end = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw ReplicationFailure(
        "the copy failed (error \(code)): \(String(cString: sqlite3_errmsg(destination)))")
    }
  }

  /// Copies the state that a connection's transaction sees into a new file.
  static func copy(_ source: OpaquePointer, toFile path: String) throws {
    removeDatabase(path)
    let file = try open(path, isPrivate: true)
    defer { sqlite3_close(file) }
    // It is sent and deleted, or made again.
    try PreparedStatement.run(file, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    try copy(source, into: file)
  }

  /// Opens a file for writing, and makes it where there is none.
  ///
  /// - Parameter isPrivate: whether nothing else can have it open, as it has a name that only this replica knows: closing brings all of
  ///   it into the one file (docs/wal-reset.md).
  static func open(_ path: String, isPrivate: Bool = false) throws -> OpaquePointer {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &connection, flags, nil)
    guard code == SQLITE_OK, let connection else {
      let message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "error \(code)"
      sqlite3_close(connection)
      throw ReplicationFailure("cannot open \(path): \(message)")
    }
    if !isPrivate { WALResetBug.avoid(connection) }
    sqlite3_busy_timeout(connection, patience)
    return connection
  }

  /// Deletes a database and what belongs to it.
  static func removeDatabase(_ path: String) {
    for name in [path, path + "-wal", path + "-shm", path + "-journal"] { unlink(name) }
  }
}
