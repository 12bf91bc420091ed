import CSQLite
package import LiveQuery

/// An open database file. The engine, the server and the tools open all databases with this type.
///
/// Owner: one thread at a time. Its statements must be released before the connection.
package final class Connection {
  package enum Access {
    case reading
    /// For reading and writing a file that exists.
    case writing
    /// For reading and writing; creates the file if it does not exist.
    case making
  }

  /// The `sqlite3 *`, for callers that keep this object alive themselves; see `withRaw`.
  package let raw: OpaquePointer

  /// How long SQLite waits for a lock by default, in milliseconds.
  package static let patience: Int32 = 5_000

  /// - Parameters:
  ///   - location: a path, or what `ReadOnlyFile.location` returned for it.
  ///   - isPrivate: whether nothing else can have the file open. Closing then copies the -wal into the file even if
  ///     SQLite has the `WALResetBug`.
  ///   - patience: how long SQLite waits for a lock, in milliseconds.
  package init(
    _ location: String, _ access: Access = .reading, isPrivate: Bool = false, patience: Int32 = Connection.patience
  ) throws(SQLiteFailure) {
    var connection: OpaquePointer?
    let code = sqlite3_open_v2(location, &connection, access.flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let connection else {
      let failure = SQLiteFailure(of: connection, code)
      sqlite3_close(connection)
      throw failure
    }
    raw = connection
    if !isPrivate { WALResetBug.avoid(raw) }
    sqlite3_busy_timeout(raw, patience)
  }

  deinit { sqlite3_close_v2(raw) }

  /// Calls `body` with the `sqlite3 *`, which stays open during the call.
  package func withRaw<Result, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(raw)
  }

  /// The encoding of text in the file. Reading it reads the schema.
  package var encoding: TextEncoding {
    get throws(SQLiteFailure) {
      try first("PRAGMA main.encoding") { TextEncoding(rawValue: $0.text(0) ?? "") ?? .utf8 } ?? .utf8
    }
  }

  /// Runs statements that return no rows.
  package func run(_ sql: String) throws(SQLiteFailure) { try PreparedStatement.run(raw, sql) }

  /// Runs one statement with values for its parameters.
  package func run(_ sql: String, _ values: [SQLValue]) throws(SQLiteFailure) {
    _ = try rows(sql, values) { _ in }
  }

  /// Runs a statement and returns what `row` makes of each of its rows.
  package func rows<Row>(
    _ sql: String, _ values: [SQLValue] = [], _ row: (PreparedStatement) -> Row
  ) throws(SQLiteFailure) -> [Row] {
    try PreparedStatement.rows(raw, sql, values, row)
  }

  /// Runs a statement and returns what `row` makes of its first row; nil if there are no rows.
  package func first<Row>(
    _ sql: String, _ values: [SQLValue] = [], _ row: (PreparedStatement) -> Row
  ) throws(SQLiteFailure) -> Row? {
    let statement = try PreparedStatement(raw, sql, values)
    return try statement.step() ? row(statement) : nil
  }

  /// Runs `body` in a transaction that may write, and rolls it back if `body` throws.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      if sqlite3_get_autocommit(raw) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Copies this database into another connection's, in one transaction.
  package func copy(into destination: Connection) throws(SQLiteFailure) {
    try destination.withRaw { raw throws(SQLiteFailure) in try Self.copy(self.raw, into: raw) }
  }

  /// Copies the state that one connection's transaction sees, or the newest state if it has no transaction, into
  /// another connection's database, in one transaction.
  package static func copy(_ source: OpaquePointer, into destination: OpaquePointer) throws(SQLiteFailure) {
    guard let backup = sqlite3_backup_init(destination, "main", source, "main") else {
      throw SQLiteFailure(of: destination, SQLITE_ERROR)
    }
    var code = sqlite3_backup_step(backup, -1)
    // The copy is tried several times while another program writes to the destination.
    var tries = 0
    while code == SQLITE_BUSY || code == SQLITE_LOCKED, tries < 1_000 {
      sqlite3_sleep(10)
      tries += 1
      code = sqlite3_backup_step(backup, -1)
    }
    let end = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(destination)))
    }
  }
}

extension Connection.Access {
  fileprivate var flags: Int32 {
    switch self {
    case .reading: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    case .writing: SQLITE_OPEN_READWRITE
    case .making: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
  }
}

extension PreparedStatement {
  /// Prepares a statement that is run once, and binds values to its parameters.
  fileprivate convenience init(_ connection: OpaquePointer, _ sql: String, _ values: [SQLValue]) throws(SQLiteFailure) {
    try self.init(connection, sql, isPersistent: false)
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
  }

  /// Runs a statement and returns what `row` makes of each of its rows.
  package static func rows<Row>(
    _ connection: OpaquePointer, _ sql: String, _ values: [SQLValue] = [], _ row: (PreparedStatement) -> Row
  ) throws(SQLiteFailure) -> [Row] {
    let statement = try PreparedStatement(connection, sql, values)
    var rows: [Row] = []
    while try statement.step() { rows.append(row(statement)) }
    return rows
  }

  /// The first column of each row, as text.
  static func texts(
    _ connection: OpaquePointer, _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteFailure) -> [String] {
    try rows(connection, sql, values) { $0.text(0) ?? "" }
  }
}
