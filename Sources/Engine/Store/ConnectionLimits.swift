import CSQLite

/// Settings of connections that compile or run clients' SQL, so that SQLite never works for long without checking the
/// budget.
package enum ConnectionLimits {
  /// The longest SQL text, in bytes.
  package static let sql = 256 << 10

  /// The longest value, in bytes, whether it comes from the file or from an expression. Statements that could make too
  /// many long values have a lower limit, see `StatementWeight`.
  static let value: Int32 = 24 << 20

  /// The longest pattern of LIKE and GLOB, in bytes.
  static let pattern: Int32 = 250

  private static let ofRunning: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, value),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern),
    (SQLITE_LIMIT_VDBE_OP, 250_000),
  ]

  /// Limits for connections that only compile clients' fragments. They are far above the needs of queries, and far
  /// below what does harm.
  private static let ofChecking: [(Int32, Int32)] = [
    (SQLITE_LIMIT_SQL_LENGTH, Int32(sql)),
    (SQLITE_LIMIT_EXPR_DEPTH, 200),
    (SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (SQLITE_LIMIT_FUNCTION_ARG, 100),
    (SQLITE_LIMIT_ATTACHED, 0),
  ]

  /// Sets the limits, and replaces SQLite's functions that can take long in one call.
  ///
  /// - Parameter checks: whether the connection only compiles fragments and runs no statements.
  package static func apply(to connection: OpaquePointer, checks: Bool = false) throws(SQLiteFailure) {
    for (limit, value) in ofRunning + (checks ? ofChecking : []) { sqlite3_limit(connection, limit, value) }
    var code = sqlite_install_functions(connection)
    if code == SQLITE_OK { code = AggregateFunctions.install(on: connection) }
    if code != SQLITE_OK { throw SQLiteFailure(of: connection, code) }
  }

  /// To be called before a connection that runs clients' SQL is opened. Makes sorting use counted memory, two megabytes
  /// at a time.
  package static func prepare() { _ = areTemporaryFilesInMemory }

  private static let areTemporaryFilesInMemory = sqlite_keep_temporary_files_in_memory() == SQLITE_OK

  /// Resets the limit of values, for the server's own statements.
  package static func resetValue(of connection: OpaquePointer) { setValue(value, of: connection) }

  /// Sets the longest value of the statements that run next, in bytes.
  static func setValue(_ length: Int32, of connection: OpaquePointer) {
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, length)
  }
}
