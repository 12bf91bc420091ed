import CSQLite
package import ChangeCapture

/// The read transactions of a connection that follows a file. Each sees one state, which capture has identified. A tick
/// may do without one until something is read.
///
/// Owner: the connection's thread.
package final class ReadTransaction {
  private let connection: OpaquePointer
  private let capture: ChangeCapture
  private let beginning: PreparedStatement
  private let committing: PreparedStatement
  /// Fixes the state that the transaction sees, by reading the number of its schema.
  private let firstRead: PreparedStatement
  /// The number of the schema that the last one saw.
  @exclusivity(unchecked) package private(set) var schemaVersion: Int64 = 0
  /// Something goes on that is to see one state.
  @exclusivity(unchecked) private var isWanted = false
  /// It has done without a transaction so far.
  @exclusivity(unchecked) private var isLate = false
  /// The tick began without a transaction, needed one, and the file had changed by then: the rest of the tick must not
  /// read.
  @exclusivity(unchecked) package private(set) var hasLostState = false

  package init(_ connection: OpaquePointer, _ capture: ChangeCapture) throws(SQLiteFailure) {
    self.connection = connection
    self.capture = capture
    beginning = try PreparedStatement(connection, "BEGIN")
    committing = try PreparedStatement(connection, "COMMIT")
    firstRead = try PreparedStatement(connection, "PRAGMA main.schema_version")
  }

  /// Before `firstRead` it sees no state.
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

  /// To be called before anything is read that may do without a transaction until then.
  package func need() { if isLate { restore() } }

  /// Some errors end SQLite's transaction. Begins a new one if that shows the same state. Otherwise the rest cannot be
  /// read (`ResultReader.checkSnapshot`).
  package func restore() {
    if !isWanted || sqlite3_get_autocommit(connection) == 0 { return }
    let wasLate = isLate
    isLate = false
    capture.note()
    if (try? begin()) != nil {
      if (try? readSchemaVersion()) != nil, (try? capture.identify()) == true, capture.isAtSeenState { return }
      commit()
      // The state is the former one.
      capture.returnToSeenState()
    }
    if wasLate { hasLostState = true }
  }

  private func run(_ statement: PreparedStatement) throws(SQLiteFailure) {
    defer { statement.reset() }
    _ = try statement.step()
  }
}
