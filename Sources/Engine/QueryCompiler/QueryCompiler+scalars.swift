import LiveQuery
import Store

// Keeps the values of subqueries that depend on no outer row, such as `total > (SELECT avg(total) FROM orders)`. If
// such a subquery is an aggregate that arithmetic can keep up to date, it becomes a hidden value alongside the result,
// and a parameter replaces it. When its value changes, one statement finds the rows for which the condition with the
// old value and with the new value differ. Only these rows are looked up.
extension QueryCompiler {
  /// The name of such a value, which clients cannot give to a value alongside.
  private static func name(_ index: Int) -> String { "\(ReservedNames.prefix)scalar_\(index)" }

  /// Replaces such subqueries in the conditions by parameters.
  mutating func takeScalars() {
    // The query must not have totals, because their statements contain the conditions too.
    guard query.refreshEvery == nil, fragments.totals.isEmpty else { return }
    written = fragments
    fragments.filter = fragments.filter.map { withoutScalars($0) }
    scalarsInFilter = scalarCount
    fragments.having = fragments.having.map { withoutScalars($0) }
  }

  /// The query with these subqueries as they were written.
  var withScalars: QueryCompiler {
    var compiler = self
    guard scalarCount > 0, let written else { return compiler }
    (compiler.fragments.filter, compiler.fragments.having) = (written.filter, written.having)
    (compiler.fragments.alongside, compiler.fragments.parameterNames) = (written.alongside, written.parameterNames)
    (compiler.scalarCount, compiler.scalarsInFilter, compiler.scalarQueries) = (0, 0, [:])
    return compiler
  }

  /// The number of the first such parameter.
  private var firstScalar: Int { fragments.parameterCount + 1 - scalarCount }

  private mutating func withoutScalars(_ condition: SQLFragment) -> SQLFragment {
    var replacements: [Int: String] = [:]
    var index = 0
    while index < condition.tokens.count {
      guard condition.keyword(at: index) == "SELECT", index > 0,
        let end = condition.endOfParenthesis(openedAt: index - 1)
      else {
        index += 1
        continue
      }
      if let parameter = scalar(condition, index..<end - 1) {
        for token in index..<end { replacements[token] = "" }
        replacements[index - 1] = parameter
      }
      index = end
    }
    if replacements.isEmpty { return condition }
    return (try? SQLFragment(condition.replacing { replacements[$0] }, place: condition.place)) ?? condition
  }

  /// - Parameter tokens: the tokens from SELECT to the closing parenthesis.
  /// - Returns: the parameter that replaces the subquery; nil if it cannot be replaced.
  private mutating func scalar(_ condition: SQLFragment, _ tokens: Range<Int>) -> String? {
    let open = tokens.lowerBound - 1
    if open > 0, let word = condition.keyword(at: open - 1), ["IN", "EXISTS"].contains(word) { return nil }
    let text = condition.text(of: tokens)
    // A subquery's value has an affinity and a collation, which a parameter lacks.
    let isOfOneKind = tokens.contains { ["CAST", "COLLATE"].contains(condition.keyword(at: $0)) }
    guard !isOfOneKind, let statement = try? SQLFragment(text, place: condition.place, kind: .statement),
      (try? compile("SELECT (\(text))", place: nil)) != nil
    else { return nil }
    let name = Self.name(scalarCount)
    if (try? aggregate(alongside: statement)) == nil {
      guard let query = keptQuery(text) else { return nil }
      scalarQueries[name] = query
    }
    fragments.alongside.append((name, statement))
    fragments.parameterNames.append(name)
    scalarCount += 1
    return "?\(fragments.parameterCount)"
  }

  /// The query whose list keeps such a value, if the rows under its aggregate are looked up. Lists that need the value
  /// share this list.
  private func keptQuery(_ text: String) -> Query? {
    guard let select = SelectStatement(text), select.isRowsAlone, select.expressions.count == 1,
      let from = select.cores[0].from, query.access.read.isEmpty,
      !SQLTokenizer(text).contains(where: { $0.kind == .parameter })
    else { return nil }
    var kept = Query(from: from, select: ["\(select.expressions[0]) AS value"], where: select.cores[0].filter)
    kept.access = query.access
    guard var compiler = try? QueryCompiler(kept, checker: checker), let compiled = try? compiler.compileBest(),
      compiled.plan.keepsRows, compiled.plan.scalars == nil, compiled.isFollowedWhole
    else { return nil }
    return kept
  }

  /// How changes of these values reach the result.
  ///
  /// - Parameter rows: the query, or the rows under its groups.
  func scalars(of rows: QueryCompiler) throws(FreshetError) -> ResultPlan.Scalars? {
    if scalarCount == 0 { return nil }
    let units = rows.unitExpressions
    let new = rows.fragments.parameterCount + units.count + 1
    var sql: String?
    if scalarsInFilter > 0, let filter = rows.fragments.filter, !units.isEmpty {
      let written = try SQLFragment(rows.rewritten(filter), place: filter.place)
      let changed = try written.replacing { index in
        let token = written.tokens[index]
        guard token.kind == .parameter, let number = Int(written.text(of: token).dropFirst()), number >= firstScalar
        else {
          return nil
        }
        return "?\(new + number - firstScalar)"
      }
      let list = units.map(\.sql).joined(separator: ", ")
      sql = try executed(
        "SELECT DISTINCT \(list) FROM \(rows.rowsSQL()) WHERE (\(written.text)) IS NOT (\(changed))")
    }
    return ResultPlan.Scalars(
      count: scalarCount, firstParameter: Int32(firstScalar), newParameter: Int32(new), changedSQL: sql,
      orders: units.map(\.order), areInHaving: scalarsInFilter < scalarCount)
  }
}
