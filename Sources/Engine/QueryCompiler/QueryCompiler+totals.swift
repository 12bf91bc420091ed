import LiveQuery
import Store

// Totals: aggregates over the rows of the result.
//
// A total must consist of aggregates, and have no other parts that differ between rows, so that the rows determine its
// value: `sum(depth)` or `round(100.0 * sum(paid) / count(*))`, but not `depth + count(*)`, because SQLite would use
// `depth` of any row.
extension QueryCompiler {
  /// A total, checked.
  typealias TotalExpression = (name: String, sql: String)

  mutating func totals() throws(FreshetError) -> [TotalExpression] {
    guard let first = fragments.totals.first else { return [] }
    if query.limit != nil { throw .badQuery("\(first.fragment.place): a query with a limit has no totals") }
    if !groups.isEmpty || fragments.having != nil || hasAggregate {
      throw .badQuery("\(first.fragment.place): the rows of this query are groups, which have no totals: use alongside")
    }
    var totals: [TotalExpression] = []
    for (name, fragment) in fragments.totals { totals.append((name, try total(fragment))) }
    return totals
  }

  private mutating func total(_ fragment: SQLFragment) throws(FreshetError) -> String {
    if fragment.hasSubquery { noteUnmapped(fragment, fragment.tokens.indices) }
    let sql = try rewritten(fragment)
    try compile("SELECT (\(sql)) FROM \(fromSQL)", place: fragment.place)
    let isOverRows = (try? compile("SELECT 1 FROM \(fromSQL) WHERE (\(sql)) IS NULL", place: nil)) == nil
    let hasWindow = fragment.tokens.indices.contains { fragment.keyword(at: $0) == "OVER" }
    let rest = try withoutAggregates(SQLFragment(sql, place: fragment.place))
    guard isOverRows, !hasWindow, let rest else {
      throw .badQuery("\(fragment.place) must be an aggregate of rows, such as count(*) or sum(depth)")
    }
    do throws(FreshetError) { try compile("SELECT (\(rest))", place: nil) } catch {
      if error.code.isRetryable { throw error }
      throw .badQuery("\(fragment.place) names a column outside of its aggregates: \(error.message)")
    }
    return sql
  }

  /// The expression with each aggregate replaced by NULL; nil if it has no aggregates.
  private func withoutAggregates(_ fragment: SQLFragment) throws(FreshetError) -> String? {
    var calls: [Range<Int>] = []
    for index in fragment.tokens.indices where index >= (calls.last?.upperBound ?? 0) {
      if let end = fragment.endOfAggregate(at: index) { calls.append(index..<end) }
    }
    if calls.isEmpty { return nil }
    return try fragment.replacing { index throws(FreshetError) in
      guard let call = calls.first(where: { $0.contains(index) }) else { return nil }
      return call.lowerBound == index ? "NULL" : ""
    }
  }

  /// How totals are kept up to date by arithmetic: first those of all rows, then those of sections, if there are
  /// sections.
  ///
  /// - Returns: an empty array if totals must be computed anew.
  func totalAggregates(
    _ totals: [TotalExpression], _ section: SectionExpression?, _ tables: [QueryTable], filter: String?
  ) throws(FreshetError) -> [AggregatePlan] {
    let list = totals.map { (sql: $0.sql, name: String?.none) }
    guard !list.isEmpty, let draft = aggregateDraft([], list, having: nil),
      let whole = try aggregatePlan(draft, tables, filter: filter)
    else { return [] }
    guard let section else { return [whole] }
    let value = (sql: section.sql, name: String?.none)
    guard section.order.collation == .binary,
      let draft = aggregateDraft([(section.sql, .identity)], [value] + list, having: nil),
      let sections = try aggregatePlan(draft, tables, filter: filter)
    else { return [] }
    return [whole, sections]
  }

  /// The statements that compute the totals of all rows, and those of each section.
  func totalStatements(
    _ totals: [TotalExpression], _ section: SectionExpression?, filter: String?
  ) throws(FreshetError) -> (plan: ResultPlan.Totals, reads: Set<FragmentChecker.ColumnRead>)? {
    guard let place = fragments.totals.first?.fragment.place else { return nil }
    let rows = "FROM \(fromSQL)\(filter.map { " WHERE (\($0))" } ?? "")"
    let whole = { (list: String) in "SELECT \(list) \(rows)" }
    // The section value of any row of a group can be used, because all of them are encoded equally.
    let sections = { (list: String) in section.map { "SELECT (\($0.sql)), \(list) \(rows) GROUP BY 1" } }
    let list = totals.map { "(\($0.sql))" }.joined(separator: ", ")
    let reads = try compile(whole(list), place: place).reads
    if let sql = sections(list) { try compile(sql, place: place) }
    let run = { (sql: String?) throws(FreshetError) in
      try sql.map { sql throws(FreshetError) in try executed(sql) }
    }
    var alone: [(wholeSQL: String, sectionsSQL: String?)] = []
    for total in totals { alone.append((try executed(whole("(\(total.sql))")), try run(sections("(\(total.sql))")))) }
    let plan = ResultPlan.Totals(
      names: totals.map(\.name), wholeSQL: try executed(whole(list)), sectionsSQL: try run(sections(list)), alone: alone
    )
    return (plan, reads)
  }
}

extension SQLFragment {
  private static let aggregates: Set<String> = [
    "avg", "count", "group_concat", "json_group_array", "json_group_object", "max", "min", "string_agg", "sum", "total",
  ]

  /// The index after a call of an aggregate that begins at an index, FILTER included; nil if no such call begins there.
  fileprivate func endOfAggregate(at index: Int) -> Int? {
    guard let name = name(of: tokens[index])?.lowercased(), Self.aggregates.contains(name),
      let end = endOfParenthesis(openedAt: index + 1)
    else { return nil }
    // With several arguments, min and max return the least or greatest of one row's values, and are not aggregates.
    if name == "max" || name == "min", !commas(in: index + 2..<end - 1).isEmpty { return nil }
    return keyword(at: end) == "FILTER" ? endOfParenthesis(openedAt: end + 1) ?? end : end
  }
}
