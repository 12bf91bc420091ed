import LiveQuery
import Store

// Rearranging: a query with its sources in another order, which can be followed, where the order does not matter.
//
// What comes first is what rows are looked up by. That is a table, so that subqueries are found by what they are joined by, or a subquery that is
// joined by none of its groups: `JOIN (SELECT max(id) AS last FROM orders GROUP BY customer) AS l ON l.last = o.id`. `a RIGHT JOIN b` is
// `b LEFT JOIN a`.
extension QueryCompiler {
  /// - Parameter plain: the query as it was asked.
  /// - Returns: nil where that is no better.
  func rearranged(_ plain: CompiledQuery) -> CompiledQuery? {
    guard query.refreshEvery == nil, from.sources.count > 1, !from.isNatural, !plain.isFollowedWhole else { return nil }
    for (from, filter) in orders() {
      var fragments = fragments
      (fragments.from, fragments.filter) = (from, filter)
      guard (try? setOutput(of: &fragments) { $0 }) != nil,
        var compiler = try? QueryCompiler(fragments, of: self), let compiled = try? compiler.compile(),
        compiled.isFollowedWhole, let result = compiled.explained(as: plain)
      else { continue }
      return result
    }
    return nil
  }

  /// FROM and WHERE in other orders.
  private func orders() -> [(FromClause, SQLFragment?)] {
    if from.sources.count == 2, let swapped { return [(swapped, fragments.filter)] }
    if derived.isEmpty { return [] }
    let tables = from.sources.indices.filter { derived[$0] == nil }
    let others = derived.keys.sorted()
    var orders = tables.isEmpty ? [] : [tables + others]
    orders += others.map { first in [first] + tables + others.filter { $0 != first } }
    // In WHERE, a value that depends on nothing can be kept by itself.
    let hasValues = from.sources.contains { from.fragment.hasSubquery(in: $0.constraint) }
    return orders.filter { hasValues || $0 != Array(from.sources.indices) }.compactMap { try? inOrder($0) ?? nil }
  }

  /// `a RIGHT JOIN b ON …` as `b LEFT JOIN a ON …`.
  private var swapped: FromClause? {
    let (left, right) = (from.sources[0], from.sources[1])
    let between = from.fragment.words(in: left.end..<right.body.lowerBound)
    guard right.join == .outer, between["RIGHT"] != nil, between["FULL"] == nil, !right.constraint.isEmpty,
      from.fragment.keyword(at: right.constraint.lowerBound) == "ON"
    else { return nil }
    let text = { (range: Range<Int>) in from.fragment.text(of: range) }
    return try? FromClause("\(text(right.named)) LEFT JOIN \(text(left.named)) \(text(right.constraint))")
  }

  /// FROM and WHERE with sources in an order; nil where it matters.
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
