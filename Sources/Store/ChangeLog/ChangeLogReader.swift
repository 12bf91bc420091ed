import GRDB
import GRDBSQLite
import LiveQuery

/// Reads the change log on one connection.
///
/// Mutable state: `token`, and the two statements, all guarded by being used from one thread at a time, the one
/// that uses the connection. The statements are prepared once (SQLite prepares them again by itself when the schema
/// changes), and reading a row allocates nothing. The reader must be released before its connection is closed.
package final class ChangeLogReader {
  private let connection: OpaquePointer
  /// token, newest seq
  private let state: PreparedStatement
  /// seq, tbl, op, cols, v0, …, token in order of seq
  private let rows: PreparedStatement
  /// Names the log that was read last; `ChangeLog` gives the log a new one whenever changes may have gone unlogged.
  private var token: Int64?

  /// - Parameter connection: the `sqlite3 *`, for instance GRDB's `Database.sqliteConnection`.
  /// - Throws: `not_tracked` when the database has no change log.
  package init(connection: OpaquePointer) throws(StoreError) {
    self.connection = connection
    do throws(SQLiteFailure) {
      state = try PreparedStatement(
        connection,
        """
        SELECT (SELECT token FROM main."\(ChangeLogSchema.meta)"), \
        (SELECT seq FROM main."\(ChangeLogSchema.log)" ORDER BY seq DESC LIMIT 1)
        """)
      // `*`, so that columns added later are read without a new statement.
      rows = try PreparedStatement(
        connection,
        """
        SELECT *, (SELECT token FROM main."\(ChangeLogSchema.meta)") FROM main."\(ChangeLogSchema.log)" \
        WHERE seq >= ?1 ORDER BY seq
        """)
    } catch { throw StoreError(logFailure: error) }
  }

  /// The number of the newest change in the caller's read transaction, 0 when nothing was ever logged; reading goes on
  /// from there.
  ///
  /// - Throws: `not_tracked`; otherwise what SQLite reports.
  package func newest() throws(StoreError) -> Int64 {
    do throws(SQLiteFailure) {
      let (token, newest) = try readState()
      self.token = token
      return newest
    } catch { throw StoreError(logFailure: error) }
  }

  /// Passes every change after number `sequence`, oldest first, to `body`. O(number of them).
  ///
  /// To be called inside a read transaction, the one in which the changed rows are looked up.
  ///
  /// - Throws: `not_tracked`; otherwise what SQLite reports. The body may have been called by then.
  package func read(
    after sequence: Int64, _ body: (borrowing ChangeRow) -> Void
  ) throws(StoreError) -> ReadOutcome {
    do throws(SQLiteFailure) { return try readRows(after: sequence, body) } catch {
      throw StoreError(logFailure: error)
    }
  }

  /// Reading begins with the change that was the last one: it says, without a statement of its own, that the log goes on from
  /// there.
  private func readRows(
    after sequence: Int64, _ body: (borrowing ChangeRow) -> Void
  ) throws(SQLiteFailure) -> ReadOutcome {
    precondition(sqlite3_get_autocommit(connection) == 0, "the change log is read inside a read transaction")
    defer { rows.reset() }
    rows.bind(.integer(sequence), at: 1)
    // Numbers are given without gaps: if the first is not the next, those between have been trimmed.
    guard try rows.step(), rows.integer(0) <= sequence + 1, isSameLog(rows.integer(rows.columnCount - 1)) else {
      return try outcomeWithoutRows(after: sequence)
    }
    token = rows.integer(rows.columnCount - 1)
    var newest = sequence
    repeat {
      let number = rows.integer(0)
      if number == sequence { continue }
      newest = number
      // An operation of a newer Freshet names a key to look at, as all of them do.
      let operation = ChangeOperation(rawValue: rows.integer(2)) ?? .displace
      body(
        ChangeRow(
          statement: rows.handle, sequence: number, table: rows.integer(1), operation: operation,
          columns: ColumnMask(rawValue: rows.integer(3))))
    } while try rows.step()
    return .complete(newest)
  }

  private func outcomeWithoutRows(after sequence: Int64) throws(SQLiteFailure) -> ReadOutcome {
    let (token, newest) = try readState()
    defer { self.token = token }
    return isSameLog(token) && newest == sequence ? .complete(newest) : .gap(newest: newest)
  }

  private func isSameLog(_ token: Int64) -> Bool { self.token == nil || self.token == token }

  private func readState() throws(SQLiteFailure) -> (token: Int64, newest: Int64) {
    defer { state.reset() }
    // Exactly one row, whatever the tables hold.
    _ = try state.step()
    return (state.integer(0), state.integer(1))
  }
}

extension StoreError {
  /// What SQLite says when the log is read.
  fileprivate init(logFailure error: SQLiteFailure) {
    if error.primaryCode == SQLITE_ERROR && error.message.hasPrefix("no such table") {
      self.init(code: .notTracked, message: "the database has no change log")
    } else {
      self.init(code: StoreError.code(of: .init(rawValue: error.primaryCode)), message: error.message)
    }
  }
}
