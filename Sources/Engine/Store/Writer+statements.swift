import CSQLite
import LiveQuery

// Runs the statements of a transaction.
extension Writer {
  /// The most bytes of rows that the statements of one transaction may return.
  private static let longestResult = 4 << 20

  func run(_ transaction: Transaction) throws(FreshetError) -> [StatementResult] {
    var results: [StatementResult] = []
    var bytes = 0
    for (index, statement) in transaction.statements.enumerated() {
      let place = "statements[\(index)]"
      let result = try run(statement, of: transaction, place: place, &bytes)
      if let expected = statement.expectedChanges, result.changes != expected {
        throw FreshetError(
          .constraint, "\(place) changed \(result.changes) row\(result.changes == 1 ? "" : "s"), and not \(expected)")
      }
      results.append(result)
    }
    return results
  }

  private func run(
    _ statement: Transaction.Statement, of transaction: Transaction, place: String, _ bytes: inout Int
  ) throws(FreshetError) -> StatementResult {
    let prepared = try prepare(statement.sql, place: place)
    if prepared.columnCount > 0, !transaction.mayReturnRows {
      throw FreshetError(
        .notAllowed,
        "\(place) returns rows (SELECT, RETURNING): only clients that may ask queries of their own get them")
    }
    try bind(statement.parameters, transaction, to: prepared, place: place)
    sqlite3_set_last_insert_rowid(connection, 0)
    var result = StatementResult(changes: 0, lastInsertRowid: nil)
    if prepared.columnCount > 0 { result.columns = prepared.columnNames }
    do throws(SQLiteFailure) {
      while try prepared.step() {
        let row = prepared.values
        bytes += row.reduce(64) { $0 + $1.length }
        if bytes > Self.longestResult { break }
        result.rows.append(row)
      }
    } catch { throw failure(error, place: place) }
    if bytes > Self.longestResult {
      throw FreshetError(.tooLarge, "\(place) gives more than \(Self.longestResult >> 20) MiB of rows")
    }
    if sqlite3_stmt_readonly(prepared.handle) == 0 {
      result.changes = Int(sqlite3_changes64(connection))
      let rowid = sqlite3_last_insert_rowid(connection)
      if rowid != 0 { result.lastInsertRowid = rowid }
    }
    return result
  }

  /// Checks and compiles a statement, and sets the limits for running it.
  private func prepare(_ sql: String, place: String) throws(FreshetError) -> PreparedStatement {
    let checked = try WriteStatement(sql, place: place)
    ConnectionLimits.resetValue(of: connection)
    do throws(SQLiteFailure) {
      let prepared = try checked.compiled(on: connection, audit) { withoutAuthorizer($0) }
      audit.weight.isCostly = checked.isCostly
      ConnectionLimits.setValue(audit.weight.longestValue, of: connection)
      return prepared
    } catch {
      if let denial = audit.denial { throw FreshetError(denial.code, "\(place): \(denial.message)") }
      throw failure(error, place: place)
    }
  }

  private func bind(
    _ parameters: Query.Parameters, _ transaction: Transaction, to statement: PreparedStatement, place: String
  ) throws(FreshetError) {
    var named: [String: SQLValue] = [:]
    var positions: [SQLValue]?
    switch parameters {
    case .named(let values): named = values
    case .positional(let values): positions = values
    }
    if let claim = named.keys.filter({ Query.Access.isClaim($0) }).min() {
      throw .badQuery("\(place): params.\(claim): parameters of this name are claims of the token")
    }
    var unused = Set(named.keys)
    var position = 0
    for index in 0..<sqlite3_bind_parameter_count(statement.handle) {
      let name = sqlite3_bind_parameter_name(statement.handle, index + 1).map {
        String(String(cString: $0).dropFirst())
      }
      if let name, Query.Access.isClaim(name) {
        statement.bind(transaction.claims[name] ?? .null, at: index + 1)
      } else if let values = positions {
        position = Int(index) + 1
        if position <= values.count { statement.bind(values[position - 1], at: index + 1) }
      } else if let name {
        guard let value = named[name] else {
          throw .badQuery("\(place): the parameter \(name) has no value in params")
        }
        unused.remove(name)
        statement.bind(value, at: index + 1)
      } else {
        throw .badQuery("\(place) has parameters that params has no values for")
      }
    }
    if let positions, positions.count != position {
      throw .badQuery("\(place) has \(position) parameters, params has \(positions.count) values")
    }
    if !transaction.isPublished, let unused = unused.min() {
      throw .badQuery("\(place): params.\(unused) is used nowhere")
    }
  }
}

extension SQLValue {
  fileprivate var length: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    default: 8
    }
  }
}
