import CSQLite

/// SQLite's WAL-reset bug: a checkpoint that runs while a commit starts the WAL over may mark frames as copied that are
/// not, so that their contents are lost. `docs/wal-reset.md` lists the steps, and explains why the rule of
/// `GuardedCheckpoint` is enough.
package enum WALResetBug {
  /// Whether the SQLite of this process has it.
  package static let isPresent = affects(sqlite3_libversion_number())

  /// A sentence about the bug for the operator; nil if there is no bug.
  package static var notice: String? {
    if !isPresent { return nil }
    let version = String(cString: sqlite3_libversion())
    return
      "SQLite \(version) has the WAL-reset bug (https://sqlite.org/wal.html#walresetbug; 3.51.3 does not): Freshet checkpoints only "
      + "while nothing can commit; programs that checkpoint files with several connections need a newer SQLite"
  }

  /// - Parameter version: a number as `sqlite3_libversion_number` returns it.
  static func affects(_ version: Int32) -> Bool {
    switch version {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: (3_007_000..<3_051_003).contains(version)
    }
  }

  /// To be called for every connection to a file that other programs may have open. If SQLite has the bug, the
  /// connection does not checkpoint by itself any more, neither after a commit nor when it is closed.
  package static func avoid(_ connection: OpaquePointer) {
    if !isPresent { return }
    sqlite_leave_wal_on_close(connection)
    sqlite3_wal_autocheckpoint(connection, 0)
  }
}
