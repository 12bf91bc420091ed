import CSQLite
import Ground

/// A rollback journal in the way of connections that only read.
///
/// SQLite takes a journal that has a header while no writer holds its lock for one that a killed writer left ("hot"):
/// it has to be rolled back before the file is read, which a connection that only reads may not do
/// (`SQLITE_READONLY_ROLLBACK`). The two are looked at one after the other, so a writer that has just begun, or is just
/// ending, looks the same for a moment. That passes, as a lock does. A hot journal does not: any program that opens the
/// file for writing rolls it back, and so does this one.
package enum RollbackJournal {
  /// A writer's beginning and end are over by then.
  private static let moment: useconds_t = 50_000
  private static let longestPause: useconds_t = 16_000
  /// Between two tries to roll back.
  private static let interval: useconds_t = 250_000

  /// Runs `body` again for as long as a journal is in its way.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - patience: for how long, in milliseconds.
  /// - Throws: what `body` throws when it is no journal, or `patience` has ended; a sentence about it when the journal
  ///   is hot and this process may not write to the file.
  package static func passing<Result>(
    _ path: String, patience: Int32 = Connection.patience, _ body: () throws(SQLiteFailure) -> Result
  ) throws(SQLiteFailure) -> Result {
    let limit = useconds_t(max(0, patience)) * 1_000
    var (waited, nextTry, pause) = (0 as useconds_t, min(moment, limit), 1_000 as useconds_t)
    while true {
      do throws(SQLiteFailure) { return try body() } catch {
        guard isInTheWay(error.code), waited <= limit else { throw error }
        if waited >= nextTry {
          try rollBack(path)
          nextTry = waited + interval
        }
        usleep(pause)
        waited += pause
        pause = min(2 * pause, longestPause)
      }
    }
  }

  /// Error codes of SQLite while a journal, or a WAL after a crash, waits for a connection that may write.
  static func isInTheWay(_ code: Int32) -> Bool {
    // SQLITE_READONLY_ROLLBACK and SQLITE_READONLY_RECOVERY, macros that Swift does not see.
    code == SQLITE_READONLY | (3 << 8) || code == SQLITE_READONLY | (1 << 8)
  }

  /// As any program does that opens the file for writing. While a writer lives it does nothing.
  ///
  /// - Throws: when this process may not.
  private static func rollBack(_ path: String) throws(SQLiteFailure) {
    guard let connection = try? Connection(path, .writing, patience: 0) else { return }
    do throws(SQLiteFailure) { try connection.run("PRAGMA main.schema_version") } catch {
      guard [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM].contains(error.primaryCode) else { return }
      throw SQLiteFailure(
        code: error.code,
        message:
          "a writer was killed in a transaction, which has to be rolled back before the file can be read, and this process may "
          + "not write to it (open the database once with the right to write)")
    }
  }
}
