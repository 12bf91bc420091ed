import LiveQuery
import Store

// To evaluate `x IN (SELECT y FROM t WHERE …)` for one row, SQLite computes the whole set first. If rows are looked up
// one by one, only values of the set that equal x matter, so the set is restricted to them:
//
//     o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(quantity) > 300)
//     o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE orders.o_orderkey = (l_orderkey) GROUP BY l_orderkey
//       HAVING …)
//
// IN compares as `x = y` does, with the affinity of both and the collation of x. So the restricted condition is true
// for the same rows. It may be false where the original is NULL, so it is used only as a condition that WHERE requires,
// and not under NOT.
extension QueryCompiler {
  /// The form of a condition for looking up single rows.
  func correlating(_ condition: String) -> String {
    guard inner == nil, let fragment = try? SQLFragment(condition, place: "") else { return condition }
    return correlating(fragment) { self.qualified($0) }
  }

  /// - Parameter qualified: returns a column's name with its table, as it is known where the condition is.
  private func correlating(_ condition: SQLFragment, _ qualified: (String) -> String?) -> String {
    let parts = condition.conjuncts
    let texts = parts.map { part in correlated(condition, part, qualified) ?? condition.text(of: part) }
    if zip(parts, texts).allSatisfy({ condition.text(of: $0) == $1 }) { return condition.text }
    return texts.map { "(\($0))" }.joined(separator: " AND ")
  }

  /// `x IN (SELECT …)` with the set restricted to x; nil if the condition has another form.
  private func correlated(_ condition: SQLFragment, _ part: Range<Int>, _ qualified: (String) -> String?) -> String? {
    // NOT may be between the operand and IN.
    guard let place = part.first(where: { condition.keyword(at: $0) == "IN" }),
      condition.operand(ofInAt: place) == part.lowerBound..<place,
      condition.endOfParenthesis(openedAt: place + 1) == part.upperBound,
      var select = SelectStatement(condition.text(of: place + 2..<part.upperBound - 1)),
      select.commonTables.isEmpty, select.cores.count == 1, select.limit == nil, select.offset == nil,
      let value = select.expressions.first, select.expressions.count == 1,
      let from = select.cores[0].from, let clause = try? FromClause(from), !clause.isNatural
    else { return nil }
    let core = select.cores[0]
    let text = condition.text(of: part.lowerBound..<place)
    // If the subquery has groups, y must be a term of GROUP BY, because other values depend on the rows that would be
    // left out.
    let words = { (sql: String) in (try? SQLFragment(sql, place: "")).map(AggregateRewriter.words) }
    let isGrouped = !core.groupBy.isEmpty
    guard isGrouped ? core.groupBy.contains(where: { words($0) == words(value) }) : core.having == nil,
      (try? compile("SELECT 1 FROM \(from) WHERE (\(value)) IS NULL", place: nil)) != nil,
      let name = qualified(text), name.contains("."),
      let qualifier = SQLFragment.name(of: name),
      !clause.sources.contains(where: { isSameName($0.name ?? "", qualifier) })
    else { return nil }
    let inside = core.filter.flatMap { try? SQLFragment($0, place: "") }.map { filter in
      correlating(filter) { name in self.qualified(name, in: clause) }
    }
    select.cores[0].filter = [inside.map { "(\($0))" }, "\(name) = (\(value))"].compactMap(\.self).joined(
      separator: " AND ")
    select.orderBy = []
    return "\(text) IN (\(select.text))"
  }

  /// A column's name with its table, in another clause than the query's; nil if no table of the clause has it.
  private func qualified(_ name: String, in clause: FromClause) -> String? {
    guard let fragment = try? SQLFragment(name, place: ""), let last = fragment.tokens.last.flatMap(fragment.name(of:))
    else { return nil }
    if fragment.tokens.count > 1 { return name }
    let source = clause.sources.first { $0.table.flatMap(schema.table)?.hasColumn(last) == true }
    return source?.qualifier.map { "\($0).\(name)" }
  }
}
