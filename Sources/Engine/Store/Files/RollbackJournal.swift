import CSQLite
import Ground

/// Handles rollback journals that keep connections from reading.
///
/// If a journal has a header and no writer holds its lock, SQLite assumes that a killed writer left it (a "hot"
/// journal). It must be rolled back before the file is read, and a read-only connection may not do that
/// (`SQLITE_READONLY_ROLLBACK`). SQLite does not check header and lock at the same instant, so for a moment a writer
/// that is beginning or ending looks like a killed one. Such a state passes soon. A hot journal stays until a program
/// that opens the file for writing rolls it back, and so does this one.
package enum RollbackJournal {
  /// After this time a writer has finished beginning or ending, in microseconds.
  private static let moment: useconds_t = 50_000
  private static let longestPause: useconds_t = 16_000
  /// The time between two tries to roll back, in microseconds.
  private static let interval: useconds_t = 250_000

  /// Runs `body`, and runs it again as long as a journal makes it fail.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - patience: how long to try, in milliseconds.
  /// - Throws: the error of `body`, if it has another cause or `patience` has ended; an error message, if the journal
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

  /// Whether an error code of SQLite means that a journal, or a WAL after a crash, needs a connection that may write.
  static func isInTheWay(_ code: Int32) -> Bool {
    // The codes are SQLITE_READONLY_ROLLBACK and SQLITE_READONLY_RECOVERY, macros that Swift does not import.
    code == SQLITE_READONLY | (3 << 8) || code == SQLITE_READONLY | (1 << 8)
  }

  /// Rolls a hot journal back, by opening the file for writing. Does nothing while the writer lives.
  ///
  /// - Throws: if this process may not write to the file.
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
