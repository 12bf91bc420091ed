import LiveQuery
import Store

// Composes the statements that evaluate an aggregate over the former and present values of changed rows.
//
// If one commit changes several joined tables, let A and B be their present states, and ΔA and ΔB the changed rows.
// Then Δ(A ⋈ B) = ΔA ⋈ B + A ⋈ ΔB - ΔA ⋈ ΔB. So there is a statement for each set of places in FROM, with a sign of its
// own. This is not true of the right side of LEFT JOIN, where rows with NULL appear and disappear. Let L be the rows of
// its left side. A change of only the right side adds L ⋈ ΔB. In addition, each row of L that joins a row of ΔB loses
// its row with NULL if it joins a row now and joined none before, and gains it in the opposite case. The rows that it
// joined before are those that it joins now, without those that ΔB has added.
extension QueryCompiler {
  /// The most places of FROM that may have changed rows at once. With more, the query is run again.
  private static func mostChangedSources(of count: Int) -> Int { count > 3 ? 2 : 3 }

  /// The statements over changed rows; empty if changes cannot be followed by them.
  func signedStatements(
    _ draft: AggregateDraft, _ tables: [QueryTable], filter: String?
  ) throws(FreshetError) -> [AggregatePlan.Signed] {
    guard inner == nil, derived.isEmpty, !from.isNatural || !hasShadows,
      from.sources.allSatisfy({ $0.table != nil && $0.join != .outer }),
      !fragments.rowTexts.contains(where: Self.namesSchema)
    else { return [] }
    var statements: [AggregatePlan.Signed] = []
    let sources = followedSources(tables)
    for changed in sources.subsets(upTo: Self.mostChangedSources(of: sources.count)) {
      guard let sql = try signedSQL(draft, changed.map(\.source), filter: filter) else { return [] }
      statements.append(
        AggregatePlan.Signed(tables: Array(Set(changed.map(\.table))).sorted(), places: changed.count, sql: sql))
    }
    for (source, table) in leftSources(tables) {
      for sql in try leftSQL(draft, source, filter: filter) {
        statements.append(AggregatePlan.Signed(tables: [table], places: 1, sql: sql, isAlone: true))
      }
    }
    return statements
  }

  /// Places in FROM, each with the index of its table.
  private func places(_ tables: [QueryTable]) -> [(source: Int, table: Int)] {
    from.sources.enumerated().compactMap { place, source in
      guard let name = source.table, let index = tables.firstIndex(where: { isSameName($0.name, name) }) else {
        return nil
      }
      return (place, index)
    }
  }

  private func canFollow(_ table: QueryTable) -> Bool {
    table.isToldByRecords && !nested.contains(table.name.lowercased())
  }

  /// Places of tables that are followed by their changed rows, which is possible at all of their places.
  private func followedSources(_ tables: [QueryTable]) -> [(source: Int, table: Int)] {
    let places = places(tables)
    let hidden = Set(
      places.filter { from.sources[$0.source].join == .left || !canFollow(tables[$0.table]) }.map(\.table))
    return places.filter { !hidden.contains($0.table) }
  }

  /// Sources that are joined by LEFT JOIN … ON, and that are the only source of their table.
  private func leftSources(_ tables: [QueryTable]) -> [(source: Int, table: Int)] {
    let places = places(tables)
    return places.filter { place in
      let source = from.sources[place.source]
      guard source.join == .left, let first = source.constraint.first, from.fragment.keyword(at: first) == "ON" else {
        return false
      }
      return canFollow(tables[place.table]) && places.count { $0.table == place.table } == 1
        && from.sources[..<place.source].allSatisfy { key(of: $0) != nil } && !from.joinsByName(before: place.source)
    }
  }

  private func key(of source: FromClause.Source) -> TableKey? {
    source.qualifier == nil ? nil : source.table.flatMap(schema.table)?.key
  }

  private func signedSQL(
    _ draft: AggregateDraft, _ set: [Int], filter: String?
  ) throws(FreshetError) -> String? {
    var replacements: [Int: String] = [:]
    for place in set {
      guard let body = try capturedBody(from.sources[place]) else { return nil }
      replace(from.sources[place], by: body, &replacements)
    }
    let sql = try from.fragment.replacing { replacements[$0] }
    let signs = set.map { "\(from.sources[$0].qualifier ?? "").\(CapturedRows.sign)" }
    return try signedSQL(
      draft, (set.count % 2 == 0 ? "-" : "") + signs.joined(separator: " * "), from: sql, filter.map { "(\($0))" })
  }

  private func signedSQL(
    _ draft: AggregateDraft, _ sign: String, from sql: String, _ condition: String?
  ) throws(FreshetError) -> String {
    let values = draft.groups.map { "(\($0.sql))" } + draft.calls.map(\.argument)
    return try executed(
      "SELECT \(sign), \(values.joined(separator: ", ")) FROM \(sql)\(condition.map { " WHERE \($0)" } ?? "")",
      isChecked: false, naming: fragments.rowTexts)
  }

  /// Replaces a source's table by other rows.
  ///
  /// - Parameter body: a table or a subquery.
  private func replace(_ source: FromClause.Source, by body: String, _ replacements: inout [Int: String]) {
    for token in source.body.dropFirst() { replacements[token] = "" }
    replacements[source.body.lowerBound] = source.isNamed ? body : "\(body) AS \(source.qualifier ?? "")"
  }

  /// SQL that replaces a table in FROM by its changed rows, as far as the client may see them.
  private func capturedBody(_ source: FromClause.Source) throws(FreshetError) -> String? {
    guard let name = source.table, let table = schema.table(name), source.qualifier != nil else { return nil }
    guard let shadow = checker.role.shadows[table.name.lowercased()] else {
      return CapturedRows.reference(to: table.name)
    }
    return shadow.signedBody(filter: filterReads.filters[table.name.lowercased()]?.text)
  }

  // MARK: - LEFT JOIN

  private static let weight = ReservedNames.prefix + "weight"
  private static func left(_ index: Int) -> String { "\(ReservedNames.prefix)left_\(index)" }

  /// The SQL of the rows that changes of a table on the right side of LEFT JOIN add and take away.
  private func leftSQL(
    _ draft: AggregateDraft, _ place: Int, filter: String?
  ) throws(FreshetError) -> [String] {
    let source = from.sources[place]
    guard let body = try capturedBody(source), let table = source.table.flatMap(schema.table) else { return [] }
    let (qualifier, rows) = (source.qualifier ?? "", filter.map { "(\($0))" })
    let condition = "(\(from.fragment.text(of: source.constraint.dropFirst())))"

    var inner: [Int: String] = [:]
    for token in from.sources[place - 1].end..<source.body.lowerBound
    where ["LEFT", "OUTER"].contains(from.fragment.keyword(at: token)) {
      inner[token] = ""
    }
    replace(source, by: body, &inner)
    let met = try from.fragment.replacing { inner[$0] }

    // Selects the rows of the left side that changed rows join, or have joined, each with the change of its row with
    // NULL.
    let keys = from.sources[..<place].flatMap { source in
      (key(of: source)?.names ?? []).map { "\(source.qualifier ?? "").\(quotedIdentifier($0))" }
    }
    let named = keys.enumerated().map { "\($1) AS \(Self.left($0))" }.joined(separator: ", ")
    let now = "(SELECT count(*) FROM \(reference(to: table)) AS \(qualifier) WHERE \(condition))"
    let weight = "(\(now) = 0) - (\(now) = total(\(qualifier).\(CapturedRows.sign)))"
    let before = try from.prefix(through: place - 1) { _ in nil }
    let lefts =
      "(SELECT \(named), \(weight) AS \(Self.weight) FROM \(body) AS \(qualifier) CROSS JOIN \(before) "
      + "WHERE \(condition) GROUP BY \(keys.joined(separator: ", ")))"

    var none: [Int: String] = [:]
    replace(source, by: "(SELECT * FROM \(reference(to: table)) WHERE 0)", &none)
    let unmet = try from.fragment.replacing { none[$0] }
    let isLeft = keys.enumerated().map { "\($1) IS \(Self.left($0))" }
    return [
      try signedSQL(draft, "\(qualifier).\(CapturedRows.sign)", from: met, rows),
      try signedSQL(
        draft, Self.weight, from: "\(lefts) CROSS JOIN \(unmet)",
        (isLeft + ["\(Self.weight) <> 0"] + [rows].compactMap(\.self)).joined(separator: " AND ")),
    ]
  }
}
