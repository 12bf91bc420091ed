/// A client's write: all of it is done, or nothing.
package struct Transaction: Sendable {
  package struct Statement: Sendable {
    package var sql: String
    package var parameters: Query.Parameters
    /// How many rows it has to change; nil: any number.
    package var expectedChanges: Int?

    package init(sql: String, parameters: Query.Parameters, expectedChanges: Int? = nil) {
      self.sql = sql
      self.parameters = parameters
      self.expectedChanges = expectedChanges
    }
  }

  package var statements: [Statement]
  /// Values of the parameters that stand for claims, by their names.
  package var claims: [String: SQLValue]
  /// Whether parameters need not be used: those of published statements are for all of them.
  package var isPublished = false
  /// Whether its statements may return rows: SELECT and RETURNING.
  package var mayReturnRows = true

  package init(_ statements: [Statement], claims: [String: SQLValue] = [:]) {
    self.statements = statements
    self.claims = claims
  }
}

/// The outcome of a transaction.
package struct CommittedTransaction: Sendable {
  /// Rows.
  package var changes: Int
  /// The number of the state that it led to.
  package var commit: Int64
  /// The result of each statement; nil: they were too large to be remembered for a repeat.
  package var results: [StatementResult]?

  package init(_ results: [StatementResult], commit: Int64) {
    changes = results.reduce(0) { $0 + $1.changes }
    self.commit = commit
    self.results = results
  }
}

/// The outcome of one statement.
package struct StatementResult: Sendable {
  package var changes: Int
  /// The rowid of the row that it inserted last; nil when it inserted none.
  package var lastInsertRowid: Int64?
  /// Empty for a statement that gives no rows.
  package var columns: [String] = []
  package var rows: [[SQLValue]] = []

  package init(changes: Int, lastInsertRowid: Int64?) {
    self.changes = changes
    self.lastInsertRowid = lastInsertRowid
  }
}
