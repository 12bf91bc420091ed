extension Query {
  /// Creates a query from a whole SELECT: `Query(sql: "SELECT name, total FROM orders WHERE total > 100 ORDER BY total
  /// DESC")`. `orderBy`, `sectionBy`, `key` and `totals` are expressions over the columns of its result. Without
  /// `orderBy`, the SELECT's own order is used. If it has clauses that a query has no part for (`WITH`, `DISTINCT`, set
  /// operators, `OFFSET`), it becomes a subquery in place of a table.
  ///
  /// - Parameters:
  ///   - sql: any text that SQLite accepts as one SELECT.
  ///   - limit: the most rows, unless the SELECT has a lower limit.
  /// - Throws: `bad_query` if the text is not one SELECT, or if it is sorted by an expression that is not a column of
  ///   its result.
  public init(
    sql: String, parameters: Parameters = [:], orderBy: [String] = [], sectionBy: SectionBy? = nil, limit: Int? = nil,
    key: [String] = [], totals: [String: String] = [:], alongside: [String: String] = [:], refreshEvery: Duration? = nil
  ) throws(FreshetError) {
    self.init(
      from: "", parameters: parameters, orderBy: orderBy, sectionBy: sectionBy, limit: limit, key: key, totals: totals,
      alongside: alongside, refreshEvery: refreshEvery)
    try take(sql: sql)
  }

  /// SQLite's own limit of columns in a result.
  private static let mostColumns = 2_000

  /// Replaces the query by a SELECT, and keeps the query's own order, sections and so on.
  package mutating func take(sql: String) throws(FreshetError) {
    guard let statement = SelectStatement(sql) else {
      throw FreshetError(.badQuery, "sql must be one whole SELECT, with nothing behind it")
    }
    if let wide = statement.cores.first(where: { $0.columns.count > Self.mostColumns }) {
      throw FreshetError(.badQuery, "sql has \(wide.columns.count) columns, \(Self.mostColumns) at most are allowed")
    }
    if !takeParts(of: statement) { try takeResult(of: statement) }
  }

  /// Takes over a SELECT whose clauses all have a corresponding part of a query.
  ///
  /// - Returns: false if it has other clauses.
  private mutating func takeParts(of statement: SelectStatement) -> Bool {
    let core = statement.cores[0]
    guard statement.isPlain, let source = core.from else { return false }
    if let text = statement.limit {
      // Totals, sections or another order must apply only to the rows that LIMIT leaves.
      guard let most = Int(text), most >= 0, orderBy.isEmpty, sectionBy == nil, totals.isEmpty else { return false }
      limit = min(most, limit ?? most)
    }
    // Totals apply to the result's rows, which are groups here.
    if !totals.isEmpty, !core.groupBy.isEmpty { return false }
    let columns = ResultColumns(core)
    if columns.areCounted || columns.areCrossed { return false }
    (from, select, filter, groupBy, having) = (source, core.columns, core.filter, core.groupBy, core.having)
    groupBy = groupBy.map(columns.ordinal)
    orderBy = orderBy.isEmpty ? statement.orderBy.map(columns.term) : orderBy.map(columns.meaning)
    if var section = sectionBy {
      section.expression = columns.meaning(of: section.expression)
      section.name = section.name.map(columns.meaning)
      section.indexTitle = section.indexTitle.map(columns.meaning)
      sectionBy = section
    }
    key = key.map(columns.item)
    totals = totals.mapValues(columns.meaning)
    return true
  }

  /// Uses the result of a SELECT in place of a table.
  private mutating func takeResult(of statement: SelectStatement) throws(FreshetError) {
    var inner = statement
    if orderBy.isEmpty {
      let columns = ResultColumns(statement.cores[0])
      for term in statement.orderBy {
        guard let named = columns.name(ofTerm: term) else {
          throw FreshetError(.badQuery, "orderBy is needed: sql is sorted by \(term), which is no column of its result")
        }
        orderBy.append(named)
      }
    }
    // Without a limit the order inside has no effect.
    if statement.limit == nil { inner.orderBy = [] }
    from = "(\(inner.text)) AS result"
  }
}
