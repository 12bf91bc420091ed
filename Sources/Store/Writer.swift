import CSQLite
import GRDBSQLite
package import LiveQuery

/// Writes for clients: one connection, one transaction at a time.
///
/// What clients may do is the authorizer's to say: insert, update, delete and select, in the tables of the schema. No
/// transaction control, no PRAGMA, no ATTACH, no change of the schema, and nothing in tables named `_freshet_…` (but
/// triggers that version 0.1 left may write there).
///
/// Owner: one thread at a time.
package final class Writer {
  private let connection: OpaquePointer
  private let deadline: Deadline
  private let audit = WriteAudit()
  package let interruption: Interruption
  /// The longest that a transaction's statements may take.
  private let timeout: Nanoseconds
  /// Of the database, for messages.
  private let fileName: String
  package private(set) var files: WALFiles
  /// Whether another connection may fare better: what was opened may have been opened wrongly, such as only for reading.
  package private(set) var isDoubtful = false

  /// Whether `rescue` has emptied the WAL-index, so that it goes with any -wal.
  package private(set) var isEmptied = false

  /// A statement and its parameters.
  package typealias Statement = (sql: String, parameters: Query.Parameters)

  /// Opens the database at `path` for writing; it must exist.
  package init(path: String, timeout: Duration = .seconds(30)) throws(FreshetError) {
    fileName = path.split(separator: "/").last.map(String.init) ?? path
    ConnectionLimits.prepare()
    var connection: OpaquePointer?
    let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let connection else {
      let failure = SQLiteFailure(of: connection, code)
      sqlite3_close(connection)
      throw FreshetError(writeFailure: failure, place: "cannot open \(fileName) for writing")
    }
    self.connection = connection
    interruption = Interruption(of: connection)
    self.timeout = Nanoseconds(timeout)
    files = WALFiles(of: connection)
    deadline = Deadline(of: connection)
    sqlite3_busy_timeout(connection, 5_000)
    do throws(SQLiteFailure) {
      try run("PRAGMA foreign_keys = ON")
      try ConnectionLimits.apply(to: connection)
    } catch {
      throw FreshetError(writeFailure: error)
    }
    setAuthorizer()
  }

  deinit {
    interruption.end()
    sqlite3_close(connection)
  }

  /// Begins a transaction, to be followed by `transact`.
  ///
  /// - Returns: false, having begun nothing, when the -wal or -shm was deleted: see `rescue`.
  /// - Throws: `read_only`, `overloaded`.
  package func begin() throws(FreshetError) -> Bool {
    // What cannot be mended shows in the transaction.
    _ = files.restoreSharedMemory()
    try control("BEGIN IMMEDIATE")
    withoutAuthorizer { files.note(of: connection) }
    guard files.state == .same else {
      try? run("ROLLBACK")
      return false
    }
    ConnectionLimits.resetValue(of: connection)
    // Now, for a long schema takes more than the statement that would have it read.
    do throws(FreshetError) { try control("SELECT 1 FROM main.sqlite_master LIMIT 1") } catch {
      try? run("ROLLBACK")
      throw error
    }
    return true
  }

  /// Runs all statements in the transaction that was begun, and commits it: all of them, or none.
  ///
  /// - Returns: how many rows they changed, triggers not counted. They are in the file that others see.
  /// - Throws: `constraint`, `not_allowed`, `bad_query` and its like, `timeout`, `read_only`, `overloaded`; `internal` when it
  ///   is not known whether they are in the file.
  package func transact(_ statements: [Statement]) throws(FreshetError) -> Int {
    let changes: Int
    do throws(FreshetError) {
      changes = try deadline.limited(to: timeout) { () throws(FreshetError) in
        var changes = 0
        for (index, statement) in statements.enumerated() {
          changes += try run(statement, place: "statements[\(index)]")
        }
        return changes
      }
      try control("COMMIT")
    } catch {
      // A failed statement may have ended the transaction itself.
      if sqlite3_get_autocommit(connection) == 0 { try? run("ROLLBACK") }
      throw error
    }
    guard files.state == .same || rescue() else {
      throw FreshetError(
        .internal,
        "somebody deleted \(fileName)-wal or -shm while the transaction was written: it may be lost; look before you repeat it"
      )
    }
    return changes
  }

  /// Runs BEGIN or COMMIT.
  private func control(_ sql: String) throws(FreshetError) {
    do throws(SQLiteFailure) { try run(sql) } catch { throw failure(error) }
  }

  /// What SQLite says, with the file's name when the file is what is wrong.
  private func failure(_ error: SQLiteFailure, place: String? = nil) -> FreshetError {
    let ofFile = [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_IOERR, SQLITE_NOTADB, SQLITE_CORRUPT]
    guard ofFile.contains(error.primaryCode) else { return FreshetError(writeFailure: error, place: place) }
    isDoubtful = true
    return FreshetError(writeFailure: error, place: place.map { "\(fileName): \($0)" } ?? fileName)
  }

  /// The -wal or -shm was deleted. What was committed is in the files that this connection still has open: it is copied into the
  /// database while nobody has begun new ones. The connection is then to be closed: it goes on in files without a name.
  ///
  /// - Returns: whether everything committed is in the database file.
  @discardableResult
  package func rescue() -> Bool {
    isDoubtful = true
    // Closing would copy once more, when others may have begun files of their own, and delete those.
    sqlite_leave_wal_on_close(connection)
    guard files.state == .deleted else { return false }
    var frames: Int32 = -1
    var copied: Int32 = -1
    let code = sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied)
    isEmptied = code == SQLITE_OK
    // Busy: somebody still reads the old frames. They are in the database as well.
    return [SQLITE_OK, SQLITE_BUSY].contains(code & 0xFF) && frames >= 0 && frames == copied
  }

  private func withoutAuthorizer<Result>(_ body: () -> Result) -> Result {
    sqlite3_set_authorizer(connection, nil, nil)
    defer { setAuthorizer() }
    return body()
  }

  private func setAuthorizer() {
    sqlite3_set_authorizer(connection, authorizeWrite, Unmanaged.passUnretained(audit).toOpaque())
  }

  private func run(_ sql: String) throws(SQLiteFailure) {
    let code = withoutAuthorizer { sqlite3_exec(connection, sql, nil, nil, nil) }
    if code != SQLITE_OK { throw SQLiteFailure(of: connection, code) }
  }

  /// - Returns: how many rows it changed.
  private func run(_ statement: Statement, place: String) throws(FreshetError) -> Int {
    let prepared = try prepare(statement.sql, place: place)
    try bind(statement.parameters, to: prepared, place: place)
    do throws(SQLiteFailure) { while try prepared.step() {} } catch {
      throw failure(error, place: place)
    }
    return sqlite3_stmt_readonly(prepared.handle) != 0 ? 0 : Int(sqlite3_changes64(connection))
  }

  /// Checks and compiles a statement, and sets the limits that it runs with.
  private func prepare(_ sql: String, place: String) throws(FreshetError) -> PreparedStatement {
    let checked = try WriteStatement(sql, place: place)
    audit.weight = StatementWeight()
    audit.denial = nil
    withoutAuthorizer {
      // Declares them, which the authorizer takes for a change of the schema.
      for name in checked.tableFunctions { _ = try? PreparedStatement(bounded: "SELECT 1 FROM \(name)", connection) }
    }
    ConnectionLimits.resetValue(of: connection)
    do throws(SQLiteFailure) {
      let prepared = try PreparedStatement(bounded: checked.sql, connection)
      audit.weight.isCostly = checked.isCostly
      ConnectionLimits.setValue(audit.weight.longestValue, of: connection)
      return prepared
    } catch {
      if let denial = audit.denial { throw FreshetError(denial.code, "\(place): \(denial.message)") }
      throw failure(error, place: place)
    }
  }

  private func bind(
    _ parameters: Query.Parameters, to statement: PreparedStatement, place: String
  ) throws(FreshetError) {
    let count = sqlite3_bind_parameter_count(statement.handle)
    if case .positional(let values) = parameters, values.count != Int(count) {
      throw .badQuery("\(place) has \(count) parameters, params has \(values.count) values")
    }
    var used: Set<String> = []
    for index in 0..<count {
      let name = sqlite3_bind_parameter_name(statement.handle, index + 1).map {
        String(String(cString: $0).dropFirst())
      }
      switch (parameters, name) {
      case (.positional(let values), _): statement.bind(values[Int(index)], at: index + 1)
      case (.named(let values), let name?):
        guard let value = values[name] else {
          throw .badQuery("\(place): the parameter \(name) has no value in params")
        }
        used.insert(name)
        statement.bind(value, at: index + 1)
      default: throw .badQuery("\(place) has parameters that params has no values for")
      }
    }
    if case .named(let values) = parameters, let unused = Set(values.keys).subtracting(used).min() {
      throw .badQuery("\(place): params.\(unused) is used nowhere")
    }
  }
}

extension FreshetError {
  /// What SQLite says of a write.
  init(writeFailure error: SQLiteFailure, place: String? = nil) {
    let message = (place.map { "\($0): " } ?? "") + error.message
    // Some things SQLite refuses in words alone, under its most general code.
    let isDenied =
      error.primaryCode == SQLITE_AUTH || error.message.hasPrefix("not authorized")
      || error.message.hasSuffix("may not be modified")
    if let spent = Budget.failure(error) {
      self = spent
      return
    }
    switch error.primaryCode {
    case _ where isDenied:
      self.init(.notAllowed, "\(message): a transaction may insert, update, delete and select")
    case SQLITE_CONSTRAINT: self.init(.constraint, message)
    // Another file has the name: it is opened for the next transaction.
    case SQLITE_READONLY where error.code == SQLITE_READONLY | (4 << 8): self.init(.overloaded, message)
    case SQLITE_READONLY, SQLITE_PERM: self.init(.readOnly, message)
    case SQLITE_RANGE, SQLITE_MISMATCH: self.init(.badQuery, message)
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN: self.init(.overloaded, message)
    default: self.init(queryFailure: error, place: place)
    }
  }
}
