import LiveQuery
import Store

// Composes the statements that map changed rows of tables in subqueries to units; see `QueryCompiler+subqueries`.
extension QueryCompiler {
  /// The most places of a subquery that may have changed rows at once. With more, the query is run again.
  static let mostNestedPlaces = 2

  /// The statements that map changes of tables in subqueries to units, and the lower-case names of tables whose changes
  /// these do not cover.
  fileprivate func nestedMappings() -> (mappings: [NestedMapping], failed: Set<String>) {
    let units = unitExpressions.map(\.sql).joined(separator: ", ")
    var failed = unmapped.union(tablesOfUnits)
    var mappings: [NestedMapping] = []
    if units.isEmpty { return ([], nested) }
    for subquery in subqueries {
      let places = subquery.tables.map { $0.table.name.lowercased() }
      for set in places.indices.subsets(upTo: Self.mostNestedPlaces) {
        let names = Set(set.map { places[$0] })
        guard let sql = nestedSQL(subquery, set, units) else {
          failed.formUnion(names)
          continue
        }
        mappings.append(NestedMapping(tables: Array(names), places: places, sql: sql))
      }
    }
    return (mappings, failed)
  }

  /// Tables that the units' own expressions read, by lower-case name. If one of these changes, the present rows do not
  /// show which units they belonged to before.
  private var tablesOfUnits: Set<String> {
    unitExpressions.reduce(into: []) { names, unit in
      guard let fragment = try? SQLFragment(unit.sql, place: "") else { return }
      for index in fragment.tablePlaces { names.insert(fragment.unquoted(fragment.tokens[index]).lowercased()) }
    }
  }

  /// Whether records of a table's changed rows contain these columns; the name is in lower case.
  fileprivate func isTold(_ name: String, _ columns: ColumnMask?) -> Bool {
    guard let table = checker.role.whole.table(name), table.kind == .table, let storage = table.storage else {
      return false
    }
    return columns.map { !storage.computedColumns.intersects($0) } ?? false
  }

  private func nestedSQL(_ subquery: Subquery, _ set: [Int], _ units: String) -> String? {
    let lastSource = from.sources.count - 1
    guard let outer = clause(through: lastSource, dropping: Set(derived.keys)) else { return nil }
    let all = [subquery] + subquery.around.reversed()
    guard all.allSatisfy(\.isCorrelated), !from.joinsByName(before: from.sources.count),
      !from.sources.contains(where: { $0.join == .outer })
    else { return nil }
    let inner = { (isChanged: Bool) in
      all.enumerated().flatMap { depth, scope in
        scope.tables.enumerated().map { place, source in
          let isChanged = isChanged && depth == 0 && set.contains(place)
          return
            "\(isChanged ? CapturedRows.reference(to: source.table.name) : reference(to: source.table)) AS \(source.alias)"
        }
      }
    }
    var conditions = all.flatMap(\.conditions)
    for scope in all.dropFirst() where !scope.comparisons.isEmpty {
      conditions.append("(\(scope.comparisons.joined(separator: " OR ")))")
    }
    if conditions.isEmpty, subquery.comparisons.isEmpty { return nil }
    let plain = "SELECT DISTINCT \(units) FROM \((inner(false) + [outer]).joined(separator: ", "))"
    let isUnderstood = { (conditions: [String]) in
      (try? compile("\(plain) WHERE \(conditions.joined(separator: " AND "))", place: nil)) != nil
    }
    guard isUnderstood(conditions + subquery.comparisons) else { return nil }
    // Adds the conditions that join the outer tables, whether they are in ON or WHERE. Without them each changed row
    // would be combined with the product of these tables.
    for condition in outerConditions where isUnderstood(conditions + [condition]) { conditions.append(condition) }
    // The changed rows come first, so that each search of the other tables begins with them.
    let sources = inner(true)
    let changed = set.map { sources[$0] } + sources.indices.filter { !set.contains($0) }.map { sources[$0] }
    let rest = (changed.dropFirst() + [outer]).joined(separator: ", ")
    let select = "SELECT DISTINCT \(units) FROM \(changed[0]) CROSS JOIN \(rest) WHERE"
    let alternatives = subquery.comparisons.isEmpty ? [[]] : subquery.comparisons.map { [$0] }
    let statements = alternatives.map { "\(select) \((conditions + $0).joined(separator: " AND "))" }
    return try? executed(statements.joined(separator: " UNION "), isFiltered: false, isChecked: false)
  }

  /// The outer query's conditions that read no other rows, each separately. If they are true for a row after a change
  /// of a subquery's table, they were true before it too.
  var outerConditions: [String] {
    guard let filter = writtenFilter else { return [] }
    return filter.conjuncts.filter { !filter.hasSubquery(in: $0) }.compactMap { part in
      guard let condition = try? SQLFragment(filter.text(of: part), place: "") else { return nil }
      let sql = try? condition.replacing { index in
        condition.isLoneName(at: index) ? qualified(condition.text(of: condition.tokens[index])) : nil
      }
      return sql.map { "(\($0))" }
    }
  }
}

extension [QueryCompiler] {
  /// The statements that map changes of tables in subqueries to units, for tables that only these subqueries read.
  ///
  /// - Parameters:
  ///   - read: the columns that the query reads, by lower-case name of the table.
  ///   - unmapped: lower-case names of tables that are also read in other ways.
  func nestedMappings(_ read: [String: ColumnMask], except unmapped: Set<String>) -> [NestedMapping] {
    let all = flatMap { [$0.nestedMappings(), $0.derivedMappings()] }
    let failed = all.reduce(into: unmapped) { $0.formUnion($1.failed) }
    return all.flatMap(\.mappings).filter { mapping in
      mapping.tables.allSatisfy { self[0].isTold($0, read[$0]) && !failed.contains($0) }
    }
  }
}

extension Collection {
  /// All subsets with one to `most` elements.
  func subsets(upTo most: Int) -> [[Element]] {
    var sets: [[Element]] = [[]]
    for element in self { sets += sets.filter { $0.count < most }.map { $0 + [element] } }
    return sets.filter { !$0.isEmpty }
  }
}
