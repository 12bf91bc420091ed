import CSQLite

/// SQLite's WAL-reset bug: a checkpoint that runs while a commit starts the WAL over may note frames as copied that are
/// not, and what they hold is lost. `docs/wal-reset.md` has the steps, and why the rule of `GuardedCheckpoint` is
/// enough.
package enum WALResetBug {
  /// Whether the SQLite of this process has it.
  package static let isPresent = affects(sqlite3_libversion_number())

  /// In one sentence, for people; nil where there is nothing to say.
  package static var notice: String? {
    if !isPresent { return nil }
    let version = String(cString: sqlite3_libversion())
    return
      "SQLite \(version) has the WAL-reset bug (https://sqlite.org/wal.html#walresetbug; 3.51.3 does not): Freshet checkpoints only "
      + "while nothing can commit; programs that checkpoint files with several connections need a newer SQLite"
  }

  /// - Parameter version: as `sqlite3_libversion_number` gives it.
  static func affects(_ version: Int32) -> Bool {
    switch version {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: (3_007_000..<3_051_003).contains(version)
    }
  }

  /// To be called for every connection to a file that others may have open: it never checkpoints by itself, neither
  /// after a commit nor when it is closed. Without the bug it stays as SQLite makes it.
  package static func avoid(_ connection: OpaquePointer) {
    if !isPresent { return }
    sqlite_leave_wal_on_close(connection)
    sqlite3_wal_autocheckpoint(connection, 0)
  }
}
