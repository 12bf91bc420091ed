import LiveQuery
import Store

// Restricts derived sources in statements to the rows that a unit, or a changed row, can join.
extension QueryCompiler {
  // MARK: - Units

  /// FROM up to a source.
  ///
  /// - Parameter first: the number of the first parameter with the values of the only wanted unit; nil if all units are
  ///   wanted.
  func rows(through last: Int, _ first: Int?) -> String? {
    var texts: [Int: String] = [:]
    if case .inner(let source) = unit { texts[0] = source.sql(first: first) }
    if let first {
      for index in derived.keys where index <= last && texts[index] == nil {
        texts[index] = restricted(index, first)
      }
    }
    return clause(through: last, texts)
  }

  /// A derived source restricted to the rows that a unit can join; nil if it must be computed whole.
  private func restricted(_ index: Int, _ first: Int) -> String? {
    guard let source = derived[index] else { return nil }
    let links = source.links.filter { $0.isRequired && $0.last < index }
    for link in links.filter(source.isDirect) + links.filter({ !source.isDirect($0) }) {
      guard let clause = rows(through: link.last, first) else { continue }
      let joined = link.last > 0 ? conditions(under: clause) : []
      let conditions = [unitCondition(unitExpressions, first: first)] + joined
      let values = "SELECT \(link.other) FROM \(clause) WHERE \(conditions.joined(separator: " AND "))"
      // The values are compiled separately, because within the subquery a name of another source could mean one of its
      // own columns.
      if (try? compile(values, place: nil)) != nil, let sql = source.sql(column: link.column, in: values) { return sql }
    }
    return nil
  }

  /// The conditions of WHERE that are valid for a part of FROM and read more than one source.
  private func conditions(under clause: String) -> [String] {
    guard let filter = writtenFilter else { return [] }
    return filter.conjuncts.filter { !filter.hasSubquery(in: $0) }.map { "(\(filter.text(of: $0)))" }.filter {
      (try? compile("SELECT 1 FROM \(clause) WHERE \($0)", place: nil)) != nil
    }
  }

  // MARK: - Rows of the other sources

  /// FROM up to a source, for finding the units that one of its rows leads to.
  ///
  /// - Parameters:
  ///   - row: the text that replaces the source's table; nil if it is not replaced.
  ///   - condition: the condition that selects its row.
  /// - Returns: nil if derived sources would have to be computed whole for that.
  func mappingClause(through index: Int, row: String? = nil, _ condition: String) -> String? {
    var texts = row.map { [index: $0] } ?? [:]
    let before = derived.keys.filter { $0 < index }.sorted()
    if before.isEmpty { return clause(through: index, texts) }
    let one =
      "\(row.map { "\($0) AS \(from.sources[index].qualifier ?? "")" } ?? from.fragment.text(of: from.sources[index].named))"
    for source in before {
      let link = derived[source]?.links.first { $0.sources == [index] && ($0.isRequired || $0.place == index) }
      let values = link.map { "SELECT \($0.other) FROM \(one) WHERE \(condition)" }
      if source == 0, case .inner(let inner) = unit {
        guard let link, let values, let text = inner.sql(column: link.column, in: values) else { return nil }
        texts[0] = text
      } else if let link, let values {
        texts[source] = derived[source]?.sql(column: link.column, in: values)
      }
    }
    let units = unitExpressions.map(\.sql).joined(separator: ", ")
    let isUnderstood = { (clause: String) in
      (try? compile("SELECT \(units) FROM \(clause) WHERE \(condition)", place: nil)) != nil
    }
    // Sources after this one are left out. Derived sources between it and the unit are left out too if no condition
    // needs them.
    if let clause = clause(through: index, texts, dropping: Set(before)), isUnderstood(clause) { return clause }
    // A role's filter may leave NULL where the table has a row, and other sources may join with that row.
    guard filterReads.filters.isEmpty, before.allSatisfy({ texts[$0] != nil }),
      let clause = clause(through: index, texts), isUnderstood(clause)
    else { return nil }
    return clause
  }

  // MARK: - Rows of derived sources

  /// The statements that lead from changes of the tables of derived sources to units, and the lower-case names of
  /// tables that they do not cover.
  func derivedMappings() -> (mappings: [NestedMapping], failed: Set<String>) {
    var failed: Set<String> = []
    var mappings: [NestedMapping] = []
    for (index, source) in derived.sorted(by: { $0.key < $1.key }) {
      // Changes of this source lead to units through the subquery's own clauses.
      if index == 0, case .inner = unit { continue }
      for arm in source.arms {
        let places = arm.compiler.from.sources.compactMap { $0.table?.lowercased() }
        for set in places.indices.subsets(upTo: Self.mostNestedPlaces) {
          let names = Set(set.map { places[$0] })
          let sql = source.links.filter { $0.isRequired && $0.last < index }.lazy.compactMap {
            derivedSQL(arm, $0, set)
          }.first
          guard let sql else {
            failed.formUnion(names)
            continue
          }
          mappings.append(NestedMapping(tables: Array(names), places: places, sql: sql))
        }
      }
    }
    return (mappings, failed)
  }

  /// - Parameter set: numbers of the sources that are replaced by their changed rows.
  private func derivedSQL(_ arm: InnerSelect, _ link: DerivedSource.Link, _ set: [Int]) -> String? {
    let column = arm.columns[link.column]
    guard arm.order(ofUnit: column) != nil else { return nil }
    let clause = arm.compiler.from
    // A LEFT JOIN keeps rows of its left side that join no row of the right side, so unchanged rows are excluded.
    let isLeft = clause.sources.contains { $0.join == .left }
    if isLeft, !arm.compiler.isOfBase(column) { return nil }
    if clause.joinsByName(before: clause.sources.count) || from.joinsByName(before: from.sources.count) { return nil }
    var scope = Subquery(tables: [])
    for (place, source) in clause.sources.enumerated() {
      guard let table = source.table.flatMap(schema.table), let name = source.name else { return nil }
      scope.tables.append((table, name, "\(ReservedNames.prefix)in_\(place)"))
    }
    guard let value = arm.compiler.resolved(column, &scope) else { return nil }
    let last = isLeft ? set.max() ?? 0 : clause.sources.count - 1
    let places = clause.sources[...last].indices.filter { clause.sources[$0].join == .inner || set.contains($0) }
    var texts = places.map { clause.sources[$0].constraint }.filter { !$0.isEmpty }.map {
      clause.fragment.text(of: $0.dropFirst())
    }
    if !isLeft, let filter = arm.filter { texts.append(filter) }
    let conditions = texts.flatMap { text in
      (try? SQLFragment(text, place: "")).map { fragment in
        fragment.conjuncts.filter { !fragment.hasSubquery(in: $0) }.compactMap {
          arm.compiler.resolved(fragment.text(of: $0), &scope).map { "(\($0))" }
        }
      } ?? []
    }
    let tables = { (isChanged: Bool) in
      places.map { place in
        let (source, isChanged) = (scope.tables[place], isChanged && set.contains(place))
        return
          "\(isChanged ? CapturedRows.reference(to: source.table.name) : reference(to: source.table)) AS \(source.alias)"
      }
    }
    // Changed rows come first in FROM.
    let order = places.indices.filter { set.contains(places[$0]) } + places.indices.filter { !set.contains(places[$0]) }
    let ordered = { (list: [String]) in order.map { list[$0] } }
    return statement(link, value, conditions, plain: ordered(tables(false)), changed: ordered(tables(true)))
  }

  /// The units of the rows that join some rows of a derived source.
  ///
  /// - Parameters:
  ///   - value: the expression of the link's column.
  ///   - conditions: conditions on the rows of its tables.
  ///   - plain: the FROM clause with its tables.
  ///   - changed: the same clause, with changed rows in place of some of the tables.
  private func statement(
    _ link: DerivedSource.Link, _ value: String, _ conditions: [String], plain: [String], changed: [String]
  ) -> String? {
    var outside = Subquery(tables: [])
    guard let other = resolved(link.other, &outside) else { return nil }
    let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    let sql = { (tables: [String], others: [String]) -> String? in
      let from = tables.dropFirst().reduce(tables[0]) { $0 + ($1 == tables[1] ? " CROSS JOIN " : ", ") + $1 }
      guard let outer = self.met(link, by: "SELECT \(value) FROM \(from)\(filter)") else { return nil }
      let units = unitExpressions.map(\.sql).joined(separator: ", ")
      let joined = tables.count == 1 ? "\(from) CROSS JOIN \(outer)" : "\(from), \(outer)"
      let all = conditions + ["(\(value)) = (\(other))"] + others
      return "SELECT DISTINCT \(units) FROM \(joined) WHERE \(all.joined(separator: " AND "))"
    }
    let isUnderstood = { (others: [String]) in
      sql(plain, others).map { (try? compile($0, place: nil)) != nil } ?? false
    }
    guard isUnderstood([]) else { return nil }
    var others: [String] = []
    for condition in outerConditions where isUnderstood(others + [condition]) { others.append(condition) }
    guard let result = sql(changed, others) else { return nil }
    return try? executed(result, isFiltered: false, isChecked: false)
  }

  /// The sources that a link reads, and those before them that are needed.
  private func met(_ link: DerivedSource.Link, by values: String) -> String? {
    var texts: [Int: String] = [:]
    var dropped: Set<Int> = []
    for index in derived.keys where index <= link.last {
      guard link.sources.contains(index) else {
        if index == 0 { return nil }
        dropped.insert(index)
        continue
      }
      guard let other = try? SQLFragment(link.other, place: ""),
        let column = derivedColumn(other, other.tokens.indices), column.source == index
      else { return nil }
      if index == 0, case .inner(let inner) = unit {
        texts[0] = inner.sql(column: column.column, in: values)
      } else {
        texts[index] = derived[index]?.sql(column: column.column, in: values)
      }
      if texts[index] == nil { return nil }
    }
    return clause(through: link.last, texts, dropping: dropped)
  }
}
