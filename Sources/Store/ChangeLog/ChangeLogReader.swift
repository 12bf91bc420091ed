import GRDB
import GRDBSQLite

/// Reads the change log on one connection.
///
/// Mutable state: `token`, and the three statements, all guarded by being used from one thread at a time, the one
/// that uses the connection. The statements are prepared once (SQLite prepares them again by itself when the schema
/// changes), and reading a row allocates nothing. The reader must be released before its connection is closed.
package final class ChangeLogReader {
  private let connection: OpaquePointer
  /// token, newest seq
  private let state: Statement
  private let schemaVersion: Statement
  /// seq, tbl, op, cols, k0, … in order of seq
  private let rows: Statement
  /// Names the log that was read last; `ChangeLog` gives the log a new one whenever changes may have gone unlogged.
  private var token: Int64?

  /// - Parameter connection: the `sqlite3 *`, for instance GRDB's `Database.sqliteConnection`.
  /// - Throws: `not_tracked` when the database has no change log.
  package init(connection: OpaquePointer) throws(StoreError) {
    self.connection = connection
    state = try Statement(
      connection,
      """
      SELECT (SELECT token FROM main."\(ChangeLogSchema.meta)"), \
      (SELECT seq FROM main."\(ChangeLogSchema.log)" ORDER BY seq DESC LIMIT 1)
      """)
    schemaVersion = try Statement(connection, "PRAGMA main.schema_version")
    // `*`, so that key columns added later are read without a new statement.
    rows = try Statement(connection, "SELECT * FROM main.\"\(ChangeLogSchema.log)\" WHERE seq > ?1 ORDER BY seq")
  }

  /// The newest change in the caller's read transaction; reading goes on from there.
  ///
  /// - Throws: `not_tracked`; otherwise what SQLite reports.
  package func head() throws(StoreError) -> LogHead {
    let (token, head) = try readState()
    self.token = token
    return head
  }

  /// Passes every change after number `sequence`, oldest first, to `body`. O(number of them).
  ///
  /// To be called inside a read transaction, the one in which the changed rows are looked up.
  ///
  /// - Throws: `not_tracked`; otherwise what SQLite reports. The body may have been called by then.
  package func read(
    after sequence: Int64, _ body: (borrowing ChangeRow) -> Void
  ) throws(StoreError) -> ReadOutcome {
    let (token, head) = try readState()
    let isSameLog = self.token == nil || self.token == token
    self.token = token
    guard isSameLog, sequence <= head.sequence else { return .gap(head) }
    guard sequence < head.sequence else { return .complete(head) }
    defer { rows.reset() }
    rows.bind(sequence, at: 1)
    // Numbers are given without gaps: if the first is not the next, those between have been trimmed.
    guard try rows.step(), rows.integer(0) == sequence + 1 else { return .gap(head) }
    repeat {
      guard let operation = ChangeOperation(rawValue: rows.integer(2)) else {
        throw StoreError(code: StoreError.Code.internalError, message: "the change log holds an unknown operation")
      }
      body(
        ChangeRow(
          statement: rows.handle, sequence: rows.integer(0), table: rows.integer(1), operation: operation,
          columns: ColumnMask(rawValue: rows.integer(3))))
    } while try rows.step()
    return .complete(head)
  }

  private func readState() throws(StoreError) -> (token: Int64, head: LogHead) {
    precondition(sqlite3_get_autocommit(connection) == 0, "the change log is read inside a read transaction")
    defer {
      state.reset()
      schemaVersion.reset()
    }
    guard try state.step(), try schemaVersion.step() else {
      throw StoreError(code: StoreError.Code.internalError, message: "SQLite gave no row for the state of the log")
    }
    return (state.integer(0), LogHead(sequence: state.integer(1), schemaVersion: schemaVersion.integer(0)))
  }
}

/// A prepared statement on a raw connection.
private final class Statement {
  let handle: OpaquePointer

  init(_ connection: OpaquePointer, _ sql: String) throws(StoreError) {
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard code == SQLITE_OK, let handle else { throw Self.error(code, of: connection) }
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  func bind(_ value: Int64, at index: Int32) {
    let code = sqlite3_bind_int64(handle, index, value)
    precondition(code == SQLITE_OK, "a statement is reset before it is bound again")
  }

  /// Whether there is another row.
  func step() throws(StoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw Self.error(code, of: sqlite3_db_handle(handle))
    }
  }

  func reset() {
    // Its result repeats the error of the last step, which was thrown there.
    _ = sqlite3_reset(handle)
  }

  func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  private static func error(_ code: Int32, of connection: OpaquePointer?) -> StoreError {
    let message = String(cString: sqlite3_errmsg(connection))
    if code & 0xFF == SQLITE_ERROR && message.hasPrefix("no such table") {
      return StoreError(code: StoreError.Code.notTracked, message: "the database has no change log")
    }
    return StoreError(code: StoreError.code(of: .init(rawValue: code & 0xFF)), message: message)
  }
}
