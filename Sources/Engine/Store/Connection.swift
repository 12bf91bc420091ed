import CSQLite
package import LiveQuery

/// An open database file. Whatever the engine, the server and the tools open with SQLite, they open here.
///
/// Owner: one thread at a time. Its statements must be released before it is.
package final class Connection {
  package enum Access {
    case reading
    /// A file that is there.
    case writing
    /// Makes the file if it does not exist.
    case making
  }

  /// The `sqlite3 *`, for owners that keep this object for longer; see `withRaw`.
  package let raw: OpaquePointer

  /// How long a lock is waited for, in milliseconds.
  package static let patience: Int32 = 5_000

  /// - Parameters:
  ///   - location: a path, or the one that `ReadOnlyFile` made of it.
  ///   - isPrivate: whether nothing else can have the file open, so that closing brings the -wal into it whatever the
  ///     version of SQLite (`WALResetBug`).
  ///   - patience: how long a lock is waited for, in milliseconds.
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

  /// Calls `body` with the `sqlite3 *`, which stays open meanwhile.
  package func withRaw<Result, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(raw)
  }

  /// The encoding of text in the file. Reads the schema.
  package var encoding: TextEncoding {
    get throws(SQLiteFailure) {
      try first("PRAGMA main.encoding") { TextEncoding(rawValue: $0.text(0) ?? "") ?? .utf8 } ?? .utf8
    }
  }

  /// Runs statements that give no rows.
  package func run(_ sql: String) throws(SQLiteFailure) { try PreparedStatement.run(raw, sql) }

  /// Runs one statement with values for its parameters.
  package func run(_ sql: String, _ values: [SQLValue]) throws(SQLiteFailure) {
    _ = try rows(sql, values) { _ in }
  }

  /// The values that `row` makes of each row of a statement.
  package func rows<Row>(
    _ sql: String, _ values: [SQLValue] = [], _ row: (PreparedStatement) -> Row
  ) throws(SQLiteFailure) -> [Row] {
    try PreparedStatement.rows(raw, sql, values, row)
  }

  /// The value that `row` makes of the first row; nil without rows.
  package func first<Row>(
    _ sql: String, _ values: [SQLValue] = [], _ row: (PreparedStatement) -> Row
  ) throws(SQLiteFailure) -> Row? {
    let statement = try PreparedStatement(raw, sql, values)
    return try statement.step() ? row(statement) : nil
  }

  /// Runs `body` in a transaction that may write, which is rolled back where it throws.
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

  /// Copies the state that the transaction of one connection sees, or its newest, into the database of another, in one
  /// transaction.
  package static func copy(_ source: OpaquePointer, into destination: OpaquePointer) throws(SQLiteFailure) {
    guard let backup = sqlite3_backup_init(destination, "main", source, "main") else {
      throw SQLiteFailure(of: destination, SQLITE_ERROR)
    }
    var code = sqlite3_backup_step(backup, -1)
    // Another program writes to the destination.
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
  /// A statement that is run once, with values for its parameters.
  fileprivate convenience init(_ connection: OpaquePointer, _ sql: String, _ values: [SQLValue]) throws(SQLiteFailure) {
    try self.init(connection, sql, isPersistent: false)
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
  }

  /// The values that `row` makes of each row of a statement.
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
