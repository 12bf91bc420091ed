import LiveQuery
import Store

// Values alongside the result that are aggregates over everything: `SELECT expression FROM … WHERE …`.
extension QueryCompiler {
  /// - Returns: nil when the statement is something else, and must be run again after a change.
  func aggregate(
    alongside statement: SQLFragment
  ) throws(FreshetError) -> (AggregatePlan, [QueryTable])? {
    guard query.refreshEvery == nil, let parts = SelectParts(statement) else { return nil }
    // What does not compile in parts has been accepted as a whole: it is no error.
    guard let from = try? FromClause(parts.from), let value = try? SQLFragment(parts.value, place: statement.place)
    else {
      return nil
    }
    var inner = fragments
    inner.from = from
    inner.filter = nil
    if let filter = parts.filter {
      guard let fragment = try? SQLFragment(filter, place: statement.place) else { return nil }
      inner.filter = fragment
    }
    (inner.select, inner.groupBy, inner.having, inner.section, inner.sectionName) = ([], [], nil, nil, nil)
    (inner.indexTitle, inner.orderBy, inner.key) = (nil, [], [])
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

/// `SELECT value FROM tables WHERE condition`, taken apart.
private struct SelectParts {
  let value: String
  let from: String
  private(set) var filter: String?

  private static let others: Set<String> = [
    "DISTINCT", "ALL", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "WITH", "VALUES",
  ]

  /// - Returns: nil for any other statement.
  init?(_ statement: SQLFragment) {
    guard statement.keyword(at: 0) == "SELECT" else { return nil }
    // `FILTER (WHERE …)` and `IS DISTINCT FROM` are within parentheses, or not taken apart.
    let words = statement.words(in: statement.tokens.indices.dropFirst())
    guard Self.others.isDisjoint(with: words.keys), let from = words["FROM"], from > 1,
      statement.commas(in: 1..<from).isEmpty
    else { return nil }
    let filter = words["WHERE"]
    let end = filter ?? statement.tokens.count
    guard from + 1 < end else { return nil }
    var value = 1..<from
    // The name that it is given says nothing.
    if from > 3, statement.keyword(at: from - 2) == "AS" { value = 1..<from - 2 }
    self.value = statement.text(of: value)
    self.from = statement.text(of: from + 1..<end)
    if let filter { self.filter = statement.text(of: filter + 1..<statement.tokens.count) }
  }
}
