import CSQLite
package import LiveQuery

/// The statements of a `ResultPlan` on one connection, shared by all queries of its shape.
///
/// Owner: the thread of the connection. Mutable state: `owner`, the query whose parameters are bound; `batch` and
/// `captured`, which are prepared when they are needed; `others`; and `isClosed`.
package final class ResultStatements {
  let plan: ResultPlan
  package let encoding: TextEncoding
  let scan: PreparedStatement
  /// Looks up the rows of a unit that are in the result.
  let single: PreparedStatement?
  /// Looks up a row that is known to be in the result.
  let known: PreparedStatement?
  /// The totals of all rows and those of sections, as in `ResultPlan.Totals`.
  let totals: (whole: PreparedStatement, sections: PreparedStatement?)?
  let alongside: [PreparedStatement]
  /// Statements of other code that have the same parameters.
  private var others: [PreparedStatement] = []
  @exclusivity(unchecked) private var owner: ObjectIdentifier?
  /// Whether the connection and its statements are closed.
  @exclusivity(unchecked) private(set) var isClosed = false
  private let connection: OpaquePointer
  /// The transaction in which the statements run. Nil after `close`, because it keeps the connection open.
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
  ///   - transaction: begins a transaction for the statements, unless it has begun already.
  ///   - groups: the connection's tables for groups; nil if the connection does not follow the file.
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

  /// From now on binds parameters to these statements too, and closes them together with its own.
  package func add(_ statements: [PreparedStatement]) {
    others += statements
    owner = nil
  }

  /// Prepares `batch`, if the plan has it. To be called before parameters are bound.
  ///
  /// - Returns: whether `batch` can be used.
  func prepareBatch() -> Bool {
    guard batch == nil, mayBatch else { return batch != nil }
    // If the batch does not compile, as with a plain `rowid` as the unit, units are looked up one by one.
    batch = plan.unit?.batchSQL.flatMap { try? PreparedStatement(bounded: $0, connection) }
    mayBatch = batch != nil
    owner = nil
    return mayBatch
  }

  /// Whether there is a transaction. Begins one if the tick has done without so far.
  package func isInTransaction() -> Bool {
    if isClosed { return false }
    if hasTransaction { return true }
    transaction?.need()
    return hasTransaction
  }

  /// Whether there is a transaction already.
  package var hasTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

  /// Prepares `captured`, if the plan has it. To be called before parameters are bound, once the connection has the
  /// virtual table.
  ///
  /// - Returns: whether `captured` can be used.
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
  /// - Returns: whether the plan has aggregates and all of their statements are prepared.
  func prepareSigned() -> Bool {
    if isClosed || aggregates.isEmpty { return false }
    for aggregate in aggregates where aggregate.prepare() { owner = nil }
    return aggregates.allSatisfy(\.isPrepared)
  }

  /// As above, and prepares the statements that follow changes of some tables in an aggregate.
  ///
  /// - Returns: whether all of them are prepared.
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

  /// Prepares a statement that is used only once, with a query's parameters bound.
  func prepared(_ sql: String, _ parameters: [SQLValue]) throws(SQLiteFailure) -> PreparedStatement {
    let statement = try PreparedStatement(bounded: sql, connection)
    Self.bind(parameters, to: statement)
    return statement
  }

  /// Sets the longest value for these statements. To be called before they run.
  package func limitValues() { ConnectionLimits.setValue(plan.longestValue, of: connection) }

  private var all: [PreparedStatement] {
    [scan] + alongside
      + [single, known, batch, captured, totals?.whole, totals?.sections].compactMap(\.self) + others
      + aggregates.flatMap(\.all)
  }

  /// Finalizes all statements, so that the connection can be closed while queries still refer to this object. Queries
  /// can be read again once they have other statements.
  package func close() {
    isClosed = true
    transaction = nil
    for statement in all { statement.close() }
  }

  /// To be called when a query ends whose parameters may be bound, because another query may get its address.
  package func forget(_ owner: AnyObject) {
    if self.owner == ObjectIdentifier(owner) { self.owner = nil }
  }
}
