import LiveQuery
import Store

// Plans aggregates whose rows under the groups are kept. If a subquery, a window or groups are between changed rows and
// the aggregate, changed rows cannot be evaluated with their signs. But a change still leads to units of the rows under
// the groups, which are the units that the query without its GROUP BY would look up. The contribution of each unit is
// kept. After a change, the old contribution is taken out of its groups, and the new one is added.
extension QueryCompiler {
  typealias KeptAggregate = (plan: AggregatePlan, following: CompiledQuery.Following, scalars: ResultPlan.Scalars?)

  /// - Returns: nil if this cannot follow all changes either.
  func keptAggregate(
    _ draft: AggregateDraft, _ result: ResultPlan.Rows, _ columns: [OutputColumn],
    _ reads: Set<FragmentChecker.ColumnRead>, filter: String?
  ) throws(FreshetError) -> KeptAggregate? {
    var rows = try rowsUnderGroups()
    let units = rows.unitExpressions
    if units.isEmpty { return nil }
    let first = fragments.parameterCount + 1
    let values = units.map { "(\($0.sql))" } + draft.groups.map { "(\($0.sql))" } + draft.calls.map(\.argument)
    let select = "SELECT \(values.joined(separator: ", ")) FROM"
    let condition = try rows.fragments.filter.map { filter throws(FreshetError) in "(\(try rows.rewritten(filter)))" }
    let all = "\(select) \(rows.rowsSQL())\(condition.map { " WHERE \($0)" } ?? "")"
    let lookedUp = condition.map { "\(rows.correlating($0)) AND " } ?? ""
    let ofUnit = "\(select) \(rows.rowsSQL(first: first)) WHERE \(lookedUp)\(rows.unitCondition(units, first: first))"
    if !hasShadows, (try? checker.compile(ofUnit, place: nil, mayChange: mayChange, for: .executing)) == nil {
      return nil
    }
    var following = try rows.trace(result, reads, columns, filter: condition, maps: true)
    let nested = Set(following.nestedMappings.flatMap(\.tables))
    let isTold = following.tables.allSatisfy { !$0.mappings.isEmpty || nested.contains($0.name.lowercased()) }
    if !isTold || following.tables.isEmpty { return nil }
    // Changes cannot be routed, because routing looks at the rows of queries' results.
    following.routing = nil
    var part = following.relation
    part?.isKept = true
    following.relation = .init(.groups, key: groups.map(\.sql), parts: part.map { [$0] } ?? [])
    let kept = AggregatePlan.Rows(
      allSQL: try executed(all), unitSQL: try executed(ofUnit), firstParameter: Int32(first), orders: units.map(\.order)
    )
    let plan = try aggregatePlan(draft, following.tables, filter: filter, keeping: kept)
    let scalars = try scalars(of: rows)
    return plan.map { ($0, following, scalars) }
  }

  /// The query without its groups, with the table that has the most rows first, because each of its rows joins few rows
  /// of the others.
  private func rowsUnderGroups() throws(FreshetError) -> QueryCompiler {
    var fragments = fragments
    (fragments.groupBy, fragments.having) = ([], nil)
    if let (from, filter) = try largestFirst() { (fragments.from, fragments.filter) = (from, filter) }
    var rows = try QueryCompiler(fragments, of: self)
    (rows.scalarCount, rows.scalarsInFilter) = (scalarCount, scalarsInFilter)
    (rows.aliases, rows.nested, rows.unmapped, rows.subqueries) = (aliases, nested, unmapped, subqueries)
    rows.unit = rows.chooseUnit()
    return rows
  }

  /// FROM and WHERE with the largest table first; nil if it is first already, or if the order matters.
  private func largestFirst() throws(FreshetError) -> (FromClause, SQLFragment?)? {
    var sizes: [Int64] = []
    for source in from.sources {
      guard let table = source.table.flatMap(schema.table), table.kind == .table else { return nil }
      let isWithoutRowid = table.storage?.isWithoutRowid ?? true
      let largest = "SELECT max(_rowid_) FROM main.\(quotedIdentifier(table.name))"
      sizes.append(isWithoutRowid ? 0 : (try? checker.firstInteger(largest)) ?? 0)
    }
    guard let largest = sizes.indices.max(by: { sizes[$0] < sizes[$1] }), sizes[largest] > sizes[0] else { return nil }
    var order = Array(sizes.indices)
    order.remove(at: largest)
    return try inOrder([largest] + order)
  }
}
