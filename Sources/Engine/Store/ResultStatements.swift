import CSQLite
package import LiveQuery

/// The statements of a `ResultPlan` on one connection, shared by all queries of its shape.
///
/// Owner: the thread of the connection. Mutable state: `owner`, the query whose parameters are bound; `batch` and
/// `captured`, prepared when they are needed; `others`; and `isClosed`.
package final class ResultStatements {
  let plan: ResultPlan
  package let encoding: TextEncoding
  let scan: PreparedStatement
  /// Looks up a unit, as far as it is in the result.
  let single: PreparedStatement?
  /// Looks up a row that is known to be in the result.
  let known: PreparedStatement?
  /// The totals of all rows and those of sections, as in `ResultPlan.Totals`.
  let totals: (whole: PreparedStatement, sections: PreparedStatement?)?
  let alongside: [PreparedStatement]
  /// Statements with the same parameters that other code runs.
  private var others: [PreparedStatement] = []
  @exclusivity(unchecked) private var owner: ObjectIdentifier?
  /// Whether the connection is closed, and with it the statements.
  @exclusivity(unchecked) private(set) var isClosed = false
  private let connection: OpaquePointer
  /// Nil when closed: it keeps the connection open.
  @exclusivity(unchecked) private var transaction: ReadTransaction?
  /// Looks up `batchSize` units at once.
  @exclusivity(unchecked) private(set) var batch: PreparedStatement?
  @exclusivity(unchecked) private var mayBatch = true
  /// Reads `CapturedRows`.
  @exclusivity(unchecked) private(set) var captured: PreparedStatement?
  @exclusivity(unchecked) private var mayUseCaptured = true
  /// Statements that fill and change the groups of aggregates.
  let aggregates: [AggregateStatements]

  /// - Parameters:
  ///   - transaction: begins the transaction in which they run, if it has not begun yet.
  ///   - groups: the connection's tables for groups; nil: it follows nothing.
  package init(
    _ plan: ResultPlan, connection: OpaquePointer, encoding: TextEncoding, transaction: ReadTransaction?,
    groups: GroupTables?
  ) throws(FreshetError) {
    self.plan = plan
    self.connection = connection
    self.encoding = encoding
    self.transaction = transaction
    do throws(SQLiteFailure) {
      let prepare = { (sql: String) throws(SQLiteFailure) in try PreparedStatement(bounded: sql, connection) }
      scan = try prepare(plan.rows.scanSQL)
      if let unit = plan.unit { single = try prepare(unit.rowSQL) } else { single = nil }
      if let sql = plan.unit?.knownRowSQL { known = try prepare(sql) } else { known = nil }
      var alongside: [PreparedStatement] = []
      for value in plan.alongside { alongside.append(try prepare(value.sql)) }
      self.alongside = alongside
      var aggregates: [AggregateStatements] = []
      for plan in plan.aggregates { aggregates.append(try AggregateStatements(plan, connection, encoding, groups)) }
      self.aggregates = aggregates
      if let totals = plan.rows.totals {
        var sections: PreparedStatement?
        if let sql = totals.sectionsSQL { sections = try prepare(sql) }
        self.totals = (try prepare(totals.wholeSQL), sections)
      } else {
        totals = nil
      }
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Binds parameters to these statements too, and closes them with its own.
  package func add(_ statements: [PreparedStatement]) {
    others += statements
    owner = nil
  }

  /// To be called before parameters are bound.
  ///
  /// - Returns: whether there is `batch`.
  func prepareBatch() -> Bool {
    guard batch == nil, mayBatch else { return batch != nil }
    // A unit that cannot be compiled as a batch, such as a plain `rowid`, is looked up one by one.
    batch = plan.unit?.batchSQL.flatMap { try? PreparedStatement(bounded: $0, connection) }
    mayBatch = batch != nil
    owner = nil
    return mayBatch
  }

  /// Whether there is a transaction, which is begun if the tick has done without one so far.
  package func isInTransaction() -> Bool {
    if isClosed { return false }
    if hasTransaction { return true }
    transaction?.need()
    return hasTransaction
  }

  /// Whether there is a transaction already.
  package var hasTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

  /// To be called before parameters are bound, once the connection has the virtual table.
  ///
  /// - Returns: whether there is `captured`.
  func prepareCaptured() -> Bool {
    guard captured == nil, mayUseCaptured else { return captured != nil }
    captured = plan.unit?.capturedSQL.flatMap { try? PreparedStatement(bounded: $0, connection) }
    mayUseCaptured = captured != nil
    owner = nil
    return mayUseCaptured
  }

  /// Prepares the statements that change groups, once the connection has the virtual tables. To be called before
  /// parameters are bound.
  ///
  /// - Returns: whether there are any.
  func prepareSigned() -> Bool {
    if isClosed || aggregates.isEmpty { return false }
    for aggregate in aggregates where aggregate.prepare() { owner = nil }
    return aggregates.allSatisfy(\.isPrepared)
  }

  /// Likewise, those that follow changes of some tables in an aggregate.
  ///
  /// - Returns: whether there are all of them.
  func prepareSigned(_ aggregate: Int, _ tables: [Int]) -> Bool {
    guard prepareSigned(), let areNew = aggregates[aggregate].prepare(forChangesOf: tables) else { return false }
    if areNew { owner = nil }
    return true
  }

  /// Binds a query's parameters, unless they are bound already.
  func bind(_ parameters: [SQLValue], of owner: AnyObject) {
    limitValues()
    if self.owner == ObjectIdentifier(owner) { return }
    self.owner = ObjectIdentifier(owner)
    for statement in all { Self.bind(parameters, to: statement) }
  }

  private static func bind(_ parameters: [SQLValue], to statement: PreparedStatement) {
    let count = statement.parameterCount
    for (index, value) in parameters.enumerated() where index < count { statement.bind(value, at: Int32(index + 1)) }
  }

  /// A statement that is needed once, with a query's parameters bound.
  func prepared(_ sql: String, _ parameters: [SQLValue]) throws(SQLiteFailure) -> PreparedStatement {
    let statement = try PreparedStatement(bounded: sql, connection)
    Self.bind(parameters, to: statement)
    return statement
  }

  /// To be called before statements run.
  package func limitValues() { ConnectionLimits.setValue(plan.longestValue, of: connection) }

  private var all: [PreparedStatement] {
    [scan] + alongside
      + [single, known, batch, captured, totals?.whole, totals?.sections].compactMap(\.self) + others
      + aggregates.flatMap(\.all)
  }

  /// Ends all statements, so that the connection can be closed while queries still refer to them: those can be read
  /// again once they have others.
  package func close() {
    isClosed = true
    transaction = nil
    for statement in all { statement.close() }
  }

  /// To be called when a query that may have bound its parameters goes: another may get its address.
  package func forget(_ owner: AnyObject) {
    if self.owner == ObjectIdentifier(owner) { self.owner = nil }
  }
}
