import LiveQuery
import Store

// Plans aggregates that are kept up to date by arithmetic (`AggregatePlan`).
//
// A query must meet these conditions: its groups are compared as BINARY; its expressions consist of the groups and of
// calls to which values can be added and from which they can be taken out; its key is the groups. After a change of a
// table that a subquery reads, the groups are looked up, or the query is run again, as for queries without such a plan.
//
// If one commit changes several joined tables, let A and B be their present states, and ΔA and ΔB the changed rows.
// Then Δ(A ⋈ B) = ΔA ⋈ B + A ⋈ ΔB - ΔA ⋈ ΔB. So there is a statement for each set of places in FROM, with a sign of its
// own.
extension QueryCompiler {
  static let byArithmetic = "a change is added to its group"
  static let byRows =
    "a changed row leads to rows under the groups: what these gave is taken out of their groups, and what they give now is put in"

  /// A query's groups and calls, before its tables are known.
  struct AggregateDraft {
    var calls: [AggregateRewriter.Call]
    var select: String
    var condition: String
    /// The terms of `groupBy`. `mayDiffer` says whether equal values of a term may differ, as 1 and 1.0 do.
    var groups: [(sql: String, declaration: String, mayDiffer: Bool)]
    var isWhole: Bool
  }

  /// - Parameters:
  ///   - groups: the terms of GROUP BY.
  ///   - items: the columns of the SELECT, each with its alias.
  ///   - having: a condition on groups.
  /// - Returns: nil if the query does not meet the conditions.
  func aggregateDraft(
    _ groups: [(sql: String, order: FieldOrder)], _ items: [(sql: String, name: String?)], having: String?
  ) -> AggregateDraft? {
    guard !hasWindow, query.refreshEvery == nil, !from.sources.isEmpty, groups.allSatisfy({ $0.order == .identity })
    else { return nil }
    var written: [AggregateRewriter.Group] = []
    var columns: [(sql: String, declaration: String, mayDiffer: Bool)] = []
    for (index, group) in groups.enumerated() {
      guard let fragment = try? SQLFragment(group.sql, place: "") else { return nil }
      let affinity = affinity(of: fragment)
      let name = AggregatePlan.groupColumn(index)
      written.append(
        AggregateRewriter.Group(
          words: AggregateRewriter.words(fragment), reference: reference(fragment),
          replacement: affinity == nil ? "(+\(name))" : name))
      let column = "\(name) \((affinity ?? .blob).rawValue)"
      columns.append((group.sql, column, mayDiffer(fragment)))
    }
    let compiler = self
    var rewriter = AggregateRewriter(
      written, reference: { compiler.reference($0) },
      isBinary: { (try? compiler.collation(of: $0, place: "", isRow: true)) == .binary },
      mayDiffer: { (try? SQLFragment($0, place: "")).map(compiler.mayDiffer) ?? true })
    var list: [String] = []
    for item in items {
      guard let sql = rewriter.rewritten(item.sql) else { return nil }
      list.append(sql + (item.name.map { " AS \(quotedIdentifier($0))" } ?? ""))
    }
    var condition = ""
    if let having {
      guard let sql = rewriter.rewritten(having) else { return nil }
      condition = " WHERE (\(sql))"
    }
    if groups.isEmpty { columns = [("1", "\(AggregatePlan.groupColumn(0)) BLOB", false)] }
    let draft = AggregateDraft(
      calls: rewriter.calls, select: "SELECT \(list.joined(separator: ", ")) FROM", condition: condition,
      groups: columns, isWhole: groups.isEmpty)
    // The table of groups has no columns other than those of groups and calls, so other names do not compile.
    let names = draft.columnNames.map { "NULL AS \($0)" }.joined(separator: ", ")
    let over = "\(draft.select) (SELECT \(names))\(condition)"
    return (try? compile(over, place: nil)) == nil ? nil : draft
  }

  /// Whether equal values of an expression may differ, as 1 and 1.0 do.
  private func mayDiffer(_ fragment: SQLFragment) -> Bool { [nil, .blob].contains(affinity(of: fragment)) }

  /// The affinity of an expression; nil if it has no affinity.
  func affinity(of fragment: SQLFragment) -> Affinity? {
    if let reference = reference(fragment) {
      guard let table = from.sources[reference.source].table.flatMap(schema.table) else { return nil }
      if let column = table.columns.first(where: { isSameName($0.name, reference.column) }) {
        return Affinity(declaredType: column.type) ?? .blob
      }
      return .integer
    }
    // `CAST (x AS type)` has the affinity of the type.
    let last = fragment.tokens.count - 1
    guard fragment.keyword(at: 0) == "CAST", fragment.text(of: fragment.tokens[last]) == ")",
      let word = fragment.tokens.indices.last(where: { fragment.keyword(at: $0) == "AS" }), word + 1 < last
    else { return nil }
    return Affinity(declaredType: fragment.text(of: word + 1..<last))
  }

  /// - Parameters:
  ///   - tables: the query's tables, with how they are followed.
  ///   - kept: the statements for the rows under the groups, if changes lead to these.
  func aggregatePlan(
    _ draft: AggregateDraft, _ tables: [QueryTable], filter: String?, keeping kept: AggregatePlan.Rows? = nil
  ) throws(FreshetError) -> AggregatePlan? {
    let first = fragments.parameterCount + 1
    let shelf = first + draft.groups.count
    let values = draft.groups.map { "(\($0.sql))" }.joined(separator: ", ")
    let calls = draft.calls.map { ", " + AggregatePlan.accumulator($0.plan, $0.argument, shelf: shelf) }.joined()
    let select = "SELECT \(values), count(*)\(calls), \(draft.differing) FROM \(fromSQL)"
    let isUnit = zip(draft.groups, first...).map { "(\($0.sql)) IS ?\($1)" }.joined(separator: " AND ")
    let rows = filter.map { "(\($0))" }
    let grouping = draft.isWhole ? "" : " GROUP BY \(values)"
    let states = "\(select)\(rows.map { " WHERE \($0)" } ?? "")\(grouping)"
    let unitStates = "\(select) WHERE \(rows.map { "\($0) AND " } ?? "")\(isUnit)\(grouping)"
    guard (try? checker.compile(states, place: nil, mayChange: mayChange, for: .executing)) != nil || hasShadows else {
      return nil
    }
    let signed = kept == nil ? try signedStatements(draft, tables, filter: filter) : []
    if signed.isEmpty, kept == nil { return nil }
    return AggregatePlan(
      calls: draft.calls.map(\.plan), groupCount: draft.groups.count, isWhole: draft.isWhole,
      statesSQL: try executed(states), unitStatesSQL: try executed(unitStates), firstParameter: Int32(first),
      shelfParameter: Int32(shelf),
      signed: signed, rows: kept, groupColumns: draft.declarations.joined(separator: ", "), select: draft.select,
      condition: draft.condition, dependsOnOrder: from.sources.count > 1 && draft.dependsOnOrder)
  }

  var hasShadows: Bool { !checker.role.shadows(for: fragments.rowTexts).isEmpty }
}

extension QueryCompiler.AggregateDraft {
  var columnNames: [String] {
    groups.indices.map(AggregatePlan.groupColumn) + calls.indices.map(AggregatePlan.callColumn)
  }

  /// Whether a group's values depend on the order of rows if several values are equal.
  fileprivate var dependsOnOrder: Bool {
    groups.contains(where: \.mayDiffer) || calls.contains(where: \.dependsOnOrder)
  }

  /// SQL that says whether a group has equal values of this term that differ.
  fileprivate var differing: String {
    let conditions = groups.filter(\.mayDiffer).map { group in
      let kind = "CASE (\(group.sql)) WHEN 0 THEN quote(\(group.sql)) ELSE typeof(\(group.sql)) END"
      return "min(\(kind)) IS NOT max(\(kind))"
    }
    return conditions.isEmpty ? "0" : conditions.joined(separator: " OR ")
  }

  var declarations: [String] {
    groups.map(\.declaration) + calls.indices.map { "\(AggregatePlan.callColumn($0)) BLOB" }
  }
}
