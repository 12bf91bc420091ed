import LiveQuery
import Store

// Plans how to find which of many queries of one shape a changed row concerns.
extension QueryCompiler {
  /// Returns nil if neither `where` nor the filter on the first table has a parameter, because each row then concerns
  /// all queries, or no query.
  ///
  /// - Parameter isCaptured: whether queries are evaluated over changed rows of the first table, which is then the only
  ///   table.
  func routing(filter: String?, isCaptured: Bool) -> QueryRouting? {
    let conditions = [filter, baseFilter?.text].compactMap(\.self)
    let hasParameter = conditions.contains { SQLTokenizer($0).contains { $0.kind == .parameter } }
    guard hasParameter, !unitExpressions.isEmpty else { return nil }
    // To find one of a subquery's units, the whole subquery would be computed.
    if case .inner = unit { return nil }
    let isUnit = unitCondition(unitExpressions, first: 1)
    let terms = equalities()
    if let source = from.sources.first, let qualifier = source.qualifier, !terms.isEmpty {
      let isRouted = terms.enumerated().map { index, term in
        "\(QueryRouting.term(index)) = \(qualifier).\(quotedIdentifier(term.column))"
      }.joined(separator: " AND ")
      return QueryRouting(
        terms: terms, fromSQL: unshadowedBase ?? basePrefix,
        whereSQL: "\(isUnit) AND \(isRouted)", captured: isCaptured ? capturedRouting(isRouted) : nil,
        unitCount: unitExpressions.count, parameterCount: fragments.parameterCount)
    }
    guard let from = routedFrom() else { return nil }
    let isRouted = conditions.map { "(\(routed($0)))" }.joined(separator: " AND ")
    return QueryRouting(
      terms: [], fromSQL: from, whereSQL: "\(isUnit) AND \(isRouted)",
      captured: isCaptured ? capturedRouting(isRouted) : nil, unitCount: unitExpressions.count,
      parameterCount: fragments.parameterCount)
  }

  private func capturedRouting(_ condition: String) -> QueryRouting.Captured? {
    guard let table = baseTable, let qualifier = from.sources.first?.qualifier else { return nil }
    return QueryRouting.Captured(
      fromSQL: "\(CapturedRows.reference(to: table.name)) AS \(qualifier)", whereSQL: condition,
      unitSQL: unitExpressions.map(\.sql).joined(separator: ", "))
  }

  /// The FROM clause in which conditions are evaluated for all queries at once. Nil if it reads shadows, because their
  /// parameters differ per query. Exception: the first table alone, whose filter then becomes one of the conditions.
  private func routedFrom() -> String? {
    let shadows = checker.role.shadows(for: fragments.rowTexts)
    if shadows.isEmpty { return routed(fromSQL) }
    let hasSubquery = fragments.filter?.hasSubquery == true || baseFilter?.hasSubquery == true
    return shadows.count == 1 && from.sources.count == 1 && !hasSubquery ? unshadowedBase : nil
  }

  /// The operator's filter on the first table.
  private var baseFilter: SQLFragment? { baseTable.flatMap { filterReads.filters[$0.name.lowercased()] } }

  /// The first table itself instead of its shadow, so that its filter's columns can be read.
  private var unshadowedBase: String? {
    guard let table = baseTable, isShadowed(table), let qualifier = from.sources[0].qualifier else { return nil }
    return "main.\(quotedIdentifier(table.name)) AS \(qualifier)"
  }

  /// SQL in which columns of the table of parameters replace the parameters. A function removes the affinity and
  /// collation of these columns from comparisons, because parameters have none.
  private func routed(_ sql: String) -> String {
    guard let fragment = try? SQLFragment(sql, place: "where", kind: .tables) else { return sql }
    let replaced = try? fragment.replacing { index throws(FreshetError) in
      let token = fragment.tokens[index]
      guard token.kind == .parameter else { return nil }
      return "coalesce(\(QueryRouting.parameter(fragment.text(of: token).dropFirst())), NULL)"
    }
    return replaced ?? sql
  }

  /// Terms of `where`, and of the filter on the first table, of the form `column = :parameter` with a column of the
  /// first table.
  private func equalities() -> [QueryRouting.Term] {
    guard case .baseKey = unit, let table = baseTable, let qualifier = from.sources.first?.qualifier,
      !SQLTokenizer(basePrefix).contains(where: { $0.kind == .parameter })
    else { return [] }
    var terms: [QueryRouting.Term] = []
    if let filter = fragments.filter {
      terms = filter.conjuncts.compactMap {
        term(filter, $0, table.hasColumn, from.sources[0].name ?? "", qualifier)
      }
    }
    if let filter = baseFilter {
      terms += filter.conjuncts.compactMap { term(filter, $0, { _ in true }, table.name, qualifier) }
    }
    return terms
  }

  private func term(
    _ fragment: SQLFragment, _ range: Range<Int>, _ isThere: (String) -> Bool, _ tableName: String, _ qualifier: String
  ) -> QueryRouting.Term? {
    let tokens = range.map { fragment.tokens[$0] }
    guard [3, 5].contains(tokens.count), ["=", "=="].contains(fragment.text(of: tokens[tokens.count - 2])),
      let parameter = tokens.last, parameter.kind == .parameter,
      let number = Int(fragment.text(of: parameter).dropFirst()),
      let name = fragment.name(of: tokens[tokens.count - 3])
    else { return nil }
    if tokens.count == 5 {
      let isBase = fragment.name(of: tokens[0]).map { isSameName($0, tableName) }
      guard fragment.text(of: tokens[1]) == ".", isBase == true else { return nil }
    }
    // SQLite has found the name in only one table of the clause, but this may be another table than the first.
    guard let table = baseTable, isThere(name),
      let index = table.columns.firstIndex(where: { isSameName($0.name, name) }),
      let declaration = declaration(of: table.columns[index], qualifier)
    else { return nil }
    return QueryRouting.Term(
      column: table.columns[index].name, mask: table.mask(of: [name]), parameter: number, declaration: declaration,
      index: index)
  }

  /// The type and collation of a stored parameter, which make SQLite compare it with the column as it compares the
  /// parameter itself.
  private func declaration(of column: DatabaseTable.Column, _ qualifier: String) -> String? {
    guard let affinity = Affinity(declaredType: column.type),
      let collation = try? checker.collation(
        of: "\(qualifier).\(quotedIdentifier(column.name))", from: unshadowedBase ?? fromSQL, place: "where",
        mayChange: mayChange, for: unshadowedBase == nil ? .asking : .filtering)
    else { return nil }
    return "\(affinity.rawValue) COLLATE \(collation.rawValue)"
  }
}
