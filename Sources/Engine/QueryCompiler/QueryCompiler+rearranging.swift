import LiveQuery
import Store

// Rearranges a query: puts its sources in another order in which it can be followed, if the order does not matter. Rows
// are looked up by the first source. This is a table, so that subqueries are looked up by their join columns, or a
// subquery that is not joined by its groups: `JOIN (SELECT max(id) AS last FROM orders GROUP BY customer) AS l ON
// l.last = o.id`. `a RIGHT JOIN b` is `b LEFT JOIN a`, and `a FULL JOIN b` is `a LEFT JOIN b` with the rows of `b` that
// have no partner.
extension QueryCompiler {
  /// - Parameter plain: the query as the client wrote it.
  /// - Returns: nil if the rearranged query would be no better.
  func rearranged(_ plain: CompiledQuery) -> CompiledQuery? {
    guard query.refreshEvery == nil, !from.isNatural, !plain.isFollowedWhole else { return nil }
    for fragments in rearrangements() {
      guard var compiler = try? QueryCompiler(fragments, of: self), let compiled = try? compiler.compile(),
        compiled.isFollowedWhole, let result = compiled.explained(as: plain)
      else { continue }
      return result
    }
    return nil
  }

  private func rearrangements() -> [QueryFragments] {
    if let united = try? united() { return [united] }
    if let joined = try? searchJoined() { return [joined] }
    return orders().compactMap { from, filter in
      var fragments = fragments
      (fragments.from, fragments.filter) = (from, filter)
      return (try? setOutput(of: &fragments) { $0 }) != nil ? fragments : nil
    }
  }

  /// Rewrites `id IN (SELECT rowid FROM notes_fts WHERE notes_fts MATCH …)` as a join with the full-text table.
  private func searchJoined() throws(FreshetError) -> QueryFragments? {
    guard let filter = fragments.filter, !hasSubqueryOutsideFilter else { return nil }
    let searches = filter.conjuncts.filter { filter.hasSubquery(in: $0) }
    for part in searches where searches.count == 1 {
      guard let open = part.first(where: { filter.keyword(at: $0) == "IN" }).map({ $0 + 1 }),
        filter.endOfParenthesis(openedAt: open) == part.upperBound, let operand = filter.operand(ofInAt: open - 1),
        operand == part.lowerBound..<open - 1,
        let select = SelectStatement(filter.text(of: open + 1..<part.upperBound - 1)), select.isRowsAlone,
        select.cores[0].columns.count == 1, TableKey.isRowidName(select.cores[0].columns[0]),
        let clause = try select.cores[0].from.map({ text throws(FreshetError) in try FromClause(text) }),
        clause.sources.count == 1, let source = clause.sources.first, let condition = select.cores[0].filter,
        let table = source.table.flatMap(schema.table), table.isSearch
      else { continue }
      let alias = "\(ReservedNames.prefix)search"
      let isColumn = { name in table.hasColumn(name) || isSameName(name, table.name) || TableKey.isRowidName(name) }
      let search = try SQLFragment(condition, place: "where").replacingNames { qualifier, name in
        let isOwn = qualifier.map { isSameName($0, source.name ?? "") } ?? isColumn(name)
        return isOwn ? "\(alias).\(quotedIdentifier(name))" : qualifier.map { "\($0).\(quotedIdentifier(name))" }
      }
      // Names are qualified, because unqualified ones could also mean a column of the full-text table.
      let meaning: Meaning = { [self] qualifier, name in qualifier == nil && isColumn(name) ? qualified(name) : nil }
      let rest = try filter.conjuncts.filter { $0 != part }.map { part throws(FreshetError) in
        try SQLFragment(filter.text(of: part), place: "where").replacingNames(meaning).text
      }
      guard var joined = try replacingNames(meaning) else { return nil }
      joined.from = try FromClause(
        "\(fromSQL) JOIN \(quotedIdentifier(table.name)) AS \(alias) ON \(alias).rowid = \(qualified(filter.text(of: operand)))"
      )
      joined.filter = try SQLFragment(
        (rest + [search.text]).map { "(\($0))" }.joined(separator: " AND "), place: "where")
      return joined
    }
    return nil
  }

  /// FROM and WHERE in other orders.
  private func orders() -> [(FromClause, SQLFragment?)] {
    if from.sources.count < 2 { return [] }
    if from.sources.count == 2, let swapped { return [(swapped, fragments.filter)] }
    if derived.isEmpty { return [] }
    let tables = from.sources.indices.filter { derived[$0] == nil }
    let others = derived.keys.sorted()
    var orders = tables.isEmpty ? [] : [tables + others]
    orders += others.map { first in [first] + tables + others.filter { $0 != first } }
    // A subquery that depends on no row can be kept as a value if it is in WHERE.
    let hasValues = from.sources.contains { from.fragment.hasSubquery(in: $0.constraint) }
    return orders.filter { hasValues || $0 != Array(from.sources.indices) }.compactMap { try? inOrder($0) ?? nil }
  }

  /// Rewrites `a RIGHT JOIN b ON …` as `b LEFT JOIN a ON …`.
  private var swapped: FromClause? {
    guard let (left, right, condition) = outerJoin("RIGHT") else { return nil }
    return try? FromClause("\(right) LEFT JOIN \(left) ON \(condition)")
  }

  /// Rewrites `a FULL JOIN b ON …` as two SELECTs. The second joins `a` only for its columns, which are all NULL.
  private func united() throws(FreshetError) -> QueryFragments? {
    guard from.sources.count == 2, !hasSubquery, let (left, right, condition) = outerJoin("FULL") else { return nil }
    var columns: [(source: String, name: String, reference: String)] = []
    for source in from.sources {
      guard let qualifier = source.qualifier, let name = source.name else { return nil }
      let all = "SELECT * FROM \(from.fragment.text(of: source.named))"
      let names = try compile(all, place: nil).statement.columnNames.map { $0.lowercased() }
      if Set(names).count < names.count { return nil }
      columns += names.map { (name, $0, "\(qualifier).\(quotedIdentifier($0))") }
    }
    let list = columns.map { "\($0.reference) AS \(quotedIdentifier("\($0.source).\($0.name)"))" }
    let select = "SELECT \(list.joined(separator: ", ")) FROM"
    var united = try replacingNames { qualifier, name throws(FreshetError) in
      let meant = columns.filter { column in
        column.name == name && qualifier.map { isSameName($0, column.source) } ?? true
      }
      if meant.count == 1 { return quotedIdentifier("\(meant[0].source).\(name)") }
      if qualifier != nil || !meant.isEmpty { throw .badQuery("from") }
      return nil
    }
    united?.from = try FromClause(
      "(\(select) \(left) LEFT JOIN \(right) ON \(condition) UNION ALL \(select) \(right) LEFT JOIN \(left) ON 0"
        + " WHERE NOT EXISTS (SELECT 1 FROM \(left) WHERE \(condition))) AS united")
    return united
  }

  /// The sides of an outer join of two, and its condition.
  private func outerJoin(_ kind: String) -> (left: String, right: String, condition: String)? {
    let (left, right) = (from.sources[0], from.sources[1])
    let between = from.fragment.words(in: left.end..<right.body.lowerBound)
    guard right.join == .outer, between[kind] != nil, !right.constraint.isEmpty,
      from.fragment.keyword(at: right.constraint.lowerBound) == "ON"
    else { return nil }
    let text = { (range: Range<Int>) in from.fragment.text(of: range) }
    return (text(left.named), text(right.named), text(right.constraint.dropFirst()))
  }

  /// FROM and WHERE with the sources in another order; nil if the order matters.
  func inOrder(_ order: [Int]) throws(FreshetError) -> (FromClause, SQLFragment?)? {
    if from.isNatural { return nil }
    var conditions: [String] = []
    for source in from.sources {
      guard source.join == .inner else { return nil }
      if source.constraint.isEmpty { continue }
      guard from.fragment.keyword(at: source.constraint.lowerBound) == "ON" else { return nil }
      conditions.append("(\(from.fragment.text(of: source.constraint.dropFirst())))")
    }
    if let filter = fragments.filter { conditions.append("(\(filter.text))") }
    let filter = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    return (
      try FromClause(order.map { from.fragment.text(of: from.sources[$0].named) }.joined(separator: ", ")),
      try filter.map { filter throws(FreshetError) in try SQLFragment(filter, place: "where") }
    )
  }
}
