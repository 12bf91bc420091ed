/// A client's write: either all of its statements take effect, or none.
package struct Transaction: Sendable {
  package struct Statement: Sendable {
    package var sql: String
    package var parameters: Query.Parameters
    /// The number of rows that it must change; nil if any number is accepted.
    package var expectedChanges: Int?

    package init(sql: String, parameters: Query.Parameters, expectedChanges: Int? = nil) {
      self.sql = sql
      self.parameters = parameters
      self.expectedChanges = expectedChanges
    }
  }

  package var statements: [Statement]
  /// The values of parameters that stand for claims, by their names.
  package var claims: [String: SQLValue]
  /// Whether parameters need not be used in every statement, because those of a published transaction are for all of
  /// its statements.
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
  /// The number of rows that it changed.
  package var changes: Int
  /// The number of the state that it led to.
  package var commit: Int64
  /// The result of each statement; nil if they were too large to be kept for a repeated request.
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
  /// The rowid of the row that it inserted last; nil if it inserted no row.
  package var lastInsertRowid: Int64?
  /// The columns; empty for a statement that returns no rows.
  package var columns: [String] = []
  package var rows: [[SQLValue]] = []

  package init(changes: Int, lastInsertRowid: Int64?) {
    self.changes = changes
    self.lastInsertRowid = lastInsertRowid
  }
}
