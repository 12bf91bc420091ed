import CSQLite
package import ChangeCapture

/// The read transactions of a connection that follows a file. Each sees one state, which capture has identified. A tick
/// may have no transaction until it reads something.
///
/// Owner: the connection's thread.
package final class ReadTransaction {
  private let connection: OpaquePointer
  private let capture: ChangeCapture
  private let beginning: PreparedStatement
  private let committing: PreparedStatement
  /// The first read of a transaction, which fixes the state that it sees. It reads the schema's number.
  private let firstRead: PreparedStatement
  /// The schema's number in the last transaction.
  @exclusivity(unchecked) package private(set) var schemaVersion: Int64 = 0
  /// Whether `run` is in progress, so that everything read belongs to one state.
  @exclusivity(unchecked) private var isWanted = false
  /// Whether the tick may still do without a transaction.
  @exclusivity(unchecked) private var isLate = false
  /// The tick began without a transaction, and the file had changed by the time it needed one. The rest of the tick
  /// must not read.
  @exclusivity(unchecked) package private(set) var hasLostState = false

  package init(_ connection: OpaquePointer, _ capture: ChangeCapture) throws(SQLiteFailure) {
    self.connection = connection
    self.capture = capture
    beginning = try PreparedStatement(connection, "BEGIN")
    committing = try PreparedStatement(connection, "COMMIT")
    firstRead = try PreparedStatement(connection, "PRAGMA main.schema_version")
  }

  /// Begins a transaction. It sees no state before `readSchemaVersion`.
  package func begin() throws(SQLiteFailure) { try run(beginning) }

  package func commit() { try? run(committing) }

  package func readSchemaVersion() throws(SQLiteFailure) {
    defer { firstRead.reset() }
    if try firstRead.step() { schemaVersion = firstRead.integer(0) }
  }

  /// Runs `body`, and then ends the transaction if one is open.
  ///
  /// - Parameter isLate: whether the transaction begins only when `body` needs it.
  package func run(isLate: Bool, _ body: () throws -> Void) throws {
    hasLostState = false
    isWanted = true
    self.isLate = isLate
    defer {
      isWanted = false
      self.isLate = false
      if sqlite3_get_autocommit(connection) == 0 { commit() }
    }
    try body()
  }

  /// Begins the transaction, if the tick has done without one. To be called before anything is read.
  package func need() { if isLate { restore() } }

  /// Begins a new transaction after an error that ended SQLite's transaction, if the new one shows the same state.
  /// Otherwise the rest of the tick cannot read (`ResultReader.checkSnapshot`).
  package func restore() {
    if !isWanted || sqlite3_get_autocommit(connection) == 0 { return }
    let wasLate = isLate
    isLate = false
    capture.note()
    if (try? begin()) != nil {
      if (try? readSchemaVersion()) != nil, (try? capture.identify()) == true, capture.isAtSeenState { return }
      commit()
      // Capture stays at the state that it saw before.
      capture.returnToSeenState()
    }
    if wasLate { hasLostState = true }
  }

  private func run(_ statement: PreparedStatement) throws(SQLiteFailure) {
    defer { statement.reset() }
    _ = try statement.step()
  }
}
