import LiveQuery
import Store

// Plans values alongside the result that are aggregates without groups: `SELECT expression FROM … WHERE …`.
extension QueryCompiler {
  /// - Returns: nil if the statement is not such an aggregate, so that it must be run again after a change.
  func aggregate(
    alongside statement: SQLFragment
  ) throws(FreshetError) -> (AggregatePlan, [QueryTable])? {
    guard query.refreshEvery == nil, let select = SelectStatement(statement.text), select.isRowsAlone,
      select.orderBy.isEmpty,
      let expression = select.expressions.first, select.expressions.count == 1
    else { return nil }
    // It is not an error if a query compiles only as a whole, and not in parts.
    guard let from = select.cores[0].from.flatMap({ try? FromClause($0) }),
      let value = try? SQLFragment(expression, place: statement.place)
    else { return nil }
    var inner = fragments.empty
    inner.from = from
    if let filter = select.cores[0].filter {
      guard let fragment = try? SQLFragment(filter, place: statement.place) else { return nil }
      inner.filter = fragment
    }
    guard var compiler = try? QueryCompiler(inner, of: self) else { return nil }
    return try compiler.aggregate(value)
  }

  private mutating func aggregate(_ value: SQLFragment) throws(FreshetError) -> (AggregatePlan, [QueryTable])? {
    guard let sql = try? expression(value).sql, hasAggregate, !hasWindow else { return nil }
    var filter: String?
    if let fragment = fragments.filter {
      guard let sql = try? expression(fragment, isRow: true).sql else { return nil }
      filter = sql
    }
    guard let draft = aggregateDraft([], [(sql, nil)], having: nil) else { return nil }
    let scan = "SELECT \(sql) FROM \(fromSQL)\(filter.map { " WHERE (\($0))" } ?? "")"
    guard let reads = try? compile(scan, place: nil).reads else { return nil }
    let rows = ResultPlan.Rows(
      columns: [], keyColumns: [], section: nil, hasSectionName: false, hasIndexTitle: false, sorts: [], keyTies: [],
      scanSQL: scan)
    let tables = try trace(rows, reads, [], filter: filter, maps: false).tables
    return try aggregatePlan(draft, tables, filter: filter).map { ($0, tables) }
  }
}
