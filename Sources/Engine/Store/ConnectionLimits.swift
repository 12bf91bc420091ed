import CSQLite

/// Settings of connections that compile or run clients' SQL, so that SQLite does nothing for long without asking
/// whether it may go on.
package enum ConnectionLimits {
  /// The length of SQL, in bytes.
  package static let sql = 256 << 10

  /// The length of a value, in bytes, whether the file holds it or an expression makes it. Statements that could make
  /// more of that than is good have a lower limit, see `StatementWeight`.
  static let value: Int32 = 24 << 20

  /// The length of patterns of LIKE and GLOB, in bytes.
  static let pattern: Int32 = 250

  private static let ofRunning: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, value),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern),
    (SQLITE_LIMIT_VDBE_OP, 250_000),
  ]

  /// Only where nothing but clients' fragments is compiled. Far above the needs of queries, far below harm.
  private static let ofChecking: [(Int32, Int32)] = [
    (SQLITE_LIMIT_SQL_LENGTH, Int32(sql)),
    (SQLITE_LIMIT_EXPR_DEPTH, 200),
    (SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (SQLITE_LIMIT_FUNCTION_ARG, 100),
    (SQLITE_LIMIT_ATTACHED, 0),
  ]

  /// Sets the limits, and puts functions in the place of those of SQLite that can take long in one call.
  ///
  /// - Parameter checks: whether the connection compiles fragments, and runs none.
  package static func apply(to connection: OpaquePointer, checks: Bool = false) throws(SQLiteFailure) {
    for (limit, value) in ofRunning + (checks ? ofChecking : []) { sqlite3_limit(connection, limit, value) }
    var code = sqlite_install_functions(connection)
    if code == SQLITE_OK { code = AggregateFunctions.install(on: connection) }
    if code != SQLITE_OK { throw SQLiteFailure(of: connection, code) }
  }

  /// Call it before opening a connection that runs clients' SQL. It makes sorting use counted memory, piece by piece.
  package static func prepare() { _ = areTemporaryFilesInMemory }

  private static let areTemporaryFilesInMemory = sqlite_keep_temporary_files_in_memory() == SQLITE_OK

  /// Resets the limit for the server's own statements.
  package static func resetValue(of connection: OpaquePointer) { setValue(value, of: connection) }

  /// Lets the values of the statements that run next be so long.
  static func setValue(_ length: Int32, of connection: OpaquePointer) {
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, length)
  }
}
