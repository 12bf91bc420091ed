import LiveQuery
import Store

// Which of many queries of one shape a changed row concerns.
extension QueryCompiler {
  /// Nil when `where` has no parameter: a row concerns all queries, or none.
  func routing(filter: String?) -> QueryRouting? {
    guard let filter, SQLTokenizer(filter).contains(where: { $0.kind == .parameter }), !unitExpressions.isEmpty else {
      return nil
    }
    let isUnit = unitCondition(unitExpressions, first: 1)
    let terms = equalities()
    if let qualifier = from.sources.first?.qualifier, !terms.isEmpty {
      let isRouted = terms.enumerated().map { index, term in
        "\(QueryRouting.term(index)) = \(qualifier).\(quotedIdentifier(term.column))"
      }
      return QueryRouting(
        terms: terms, fromSQL: basePrefix, whereSQL: "\(isUnit) AND \(isRouted.joined(separator: " AND "))",
        unitCount: unitExpressions.count, parameterCount: fragments.parameterCount)
    }
    return QueryRouting(
      terms: [], fromSQL: routed(fromSQL), whereSQL: "\(isUnit) AND (\(routed(filter)))",
      unitCount: unitExpressions.count, parameterCount: fragments.parameterCount)
  }

  /// SQL with columns of the table of parameters for the parameters. A function keeps affinity and collation of those
  /// columns out of comparisons, as parameters have none.
  private func routed(_ sql: String) -> String {
    guard let fragment = try? SQLFragment(sql, place: "where", kind: .tables) else { return sql }
    let replaced = try? fragment.replacing { index throws(FreshetError) in
      let token = fragment.tokens[index]
      guard token.kind == .parameter else { return nil }
      return "coalesce(\(QueryRouting.parameter(fragment.text(of: token).dropFirst())), NULL)"
    }
    return replaced ?? sql
  }

  /// Terms of `where` of the form `column = :parameter`, the column one of the first table's.
  private func equalities() -> [QueryRouting.Term] {
    guard case .baseKey = unit, let table = baseTable, let qualifier = from.sources.first?.qualifier,
      let filter = fragments.filter, !SQLTokenizer(basePrefix).contains(where: { $0.kind == .parameter })
    else { return [] }
    return conjuncts(of: filter).compactMap { term(filter, $0, table, qualifier) }
  }

  /// The parts of a fragment between its outermost ANDs; none when it is not plainly a conjunction.
  private func conjuncts(of fragment: SQLFragment) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var depth = 0
    var start = 0
    for index in fragment.tokens.indices {
      let text = fragment.text(of: fragment.tokens[index])
      if text == "(" { depth += 1 }
      if text == ")" { depth -= 1 }
      guard depth == 0, let word = fragment.keyword(at: index) else { continue }
      // A lower operator, or an AND that is none.
      if ["OR", "BETWEEN", "CASE"].contains(word) { return [] }
      if word == "AND" {
        parts.append(start..<index)
        start = index + 1
      }
    }
    return parts + [start..<fragment.tokens.count]
  }

  private func term(
    _ fragment: SQLFragment, _ range: Range<Int>, _ table: DatabaseSchema.Table, _ qualifier: String
  ) -> QueryRouting.Term? {
    let tokens = range.map { fragment.tokens[$0] }
    guard [3, 5].contains(tokens.count), ["=", "=="].contains(fragment.text(of: tokens[tokens.count - 2])),
      let parameter = tokens.last, parameter.kind == .parameter,
      let number = Int(fragment.text(of: parameter).dropFirst()),
      let name = fragment.name(of: tokens[tokens.count - 3])
    else { return nil }
    if tokens.count == 5 {
      let isBase = fragment.name(of: tokens[0]).map { isSameName($0, from.sources[0].name ?? "") }
      guard fragment.text(of: tokens[1]) == ".", isBase == true else { return nil }
    }
    // SQLite has found the name in one table of the clause alone; it may be another than the first.
    guard let index = table.columns.firstIndex(where: { isSameName($0.name, name) }),
      let declaration = declaration(of: table.columns[index], qualifier)
    else { return nil }
    return QueryRouting.Term(
      column: table.columns[index].name, mask: table.mask(of: [name]), parameter: number, declaration: declaration,
      index: index)
  }

  /// The type and collation that make a stored value what a parameter becomes when it is compared with the column.
  private func declaration(of column: DatabaseTable.Column, _ qualifier: String) -> String? {
    guard let affinity = Affinity(declaredType: column.type),
      let collation = try? checker.collation(
        of: "\(qualifier).\(quotedIdentifier(column.name))", from: fromSQL, place: "where", mayChange: mayChange)
    else { return nil }
    return "\(affinity.rawValue) COLLATE \(collation.rawValue)"
  }
}
