import LiveQuery
import Store

// Correlated subqueries: which rows of the result a change of a table concerns that only a subquery reads.
//
// What a subquery gives for an outer row depends on the rows of its FROM that pass its WHERE, and on the outer row. So a changed row concerns
// the outer rows with which it passes, as it was or as it is: those of `outer, inner WHERE …` with the changed rows in the table's place. More
// than that is harmless. Where the subquery joins tables that changed together, each may have met what the other was: there is a statement for
// each set of them.
//
// For `x IN (SELECT y …)` the outer rows are those with x = y besides, and all of them where x or y is NULL: `NULL IN ()` is false, and NULL as
// soon as there is a row. What stands in a subquery of a subquery,
// behind LEFT JOIN, in a compound or in a WITH clause runs the query again, as do names that mean one thing in the subquery and would mean two
// beside the outer tables.
extension QueryCompiler {
  /// A subquery as far as it decides which rows it reads.
  struct Subquery {
    var from: FromClause
    var condition: String?
    /// What is compared with the values of an IN; nil for other subqueries.
    var comparison: String?
  }

  /// Notes the subqueries of a fragment, and the tables that it reads in other ways.
  mutating func note(subqueriesOf fragment: SQLFragment) {
    var known: Set<Int> = []
    var index = 0
    while index < fragment.tokens.count {
      guard fragment.keyword(at: index) == "SELECT", index > 0,
        let end = fragment.endOfParenthesis(openedAt: index - 1),
        let (subquery, bodies) = Subquery.read(fragment, index..<end - 1, qualified: qualified)
      else {
        index += 1
        continue
      }
      subqueries.append(subquery)
      known.formUnion(bodies)
      index = end
    }
    for index in fragment.tablePlaces where !known.contains(index) {
      let name = fragment.unquoted(fragment.tokens[index])
      if schema.table(name) != nil { unmapped.insert(name.lowercased()) }
    }
  }

  /// A name of an outer column with its table: alone it may mean a column of the subquery as well.
  private func qualified(_ name: String) -> String {
    guard let fragment = try? SQLFragment(name, place: ""), fragment.tokens.count == 1,
      let reference = reference(fragment), let qualifier = from.sources[reference.source].qualifier
    else { return name }
    return "\(qualifier).\(name)"
  }

  /// The statements that lead from changes of tables in subqueries to units, for those tables of which that is all that is read there.
  ///
  /// - Parameter read: by lower-case name of each table that the query reads, the columns.
  func nestedMappings(_ read: [String: ColumnMask]) -> [NestedMapping] {
    let units = mappingUnits.joined(separator: ", ")
    var failed = unmapped
    var mappings: [NestedMapping] = []
    if units.isEmpty { return [] }
    for subquery in subqueries {
      let places = subquery.from.sources.indices
      for set in places.subsets(upTo: 2) {
        let names = set.compactMap { subquery.from.sources[$0].table?.lowercased() }
        guard names.count == set.count, let sql = nestedSQL(subquery, set, units) else {
          failed.formUnion(names)
          continue
        }
        mappings.append(NestedMapping(tables: Array(Set(names)), sql: sql))
      }
      if places.count > 2 { failed.formUnion(subquery.from.sources.compactMap { $0.table?.lowercased() }) }
    }
    let isTold = { (name: String) in
      guard let table = checker.role.whole.table(name), table.kind == .table, let storage = table.storage else {
        return false
      }
      return read[name].map { !storage.computedColumns.intersects($0) } ?? false
    }
    return mappings.filter { mapping in mapping.tables.allSatisfy { isTold($0) && !failed.contains($0) } }
  }

  private func nestedSQL(_ subquery: Subquery, _ set: [Int], _ units: String) -> String? {
    let outer = mappingFrom.fragment.text
    var conditions = [subquery.condition, subquery.comparison].compactMap { $0.map { "(\($0))" } }
    if conditions.isEmpty || !isCorrelated(subquery) { return nil }
    let sources = subquery.from.sources
    guard sources.allSatisfy({ $0.join == .inner && $0.qualifier != nil }), !subquery.from.isNatural,
      !mappingFrom.joinsByName(before: mappingFrom.sources.count),
      !mappingFrom.sources.contains(where: { $0.join == .outer })
    else { return nil }
    let plain = "SELECT DISTINCT \(units) FROM \(outer), \(subquery.from.fragment.text)"
    let isUnderstood = { (conditions: [String]) in
      (try? compile("\(plain) WHERE \(conditions.joined(separator: " AND "))", place: nil)) != nil
    }
    guard isUnderstood(conditions) else { return nil }
    // What joins the outer tables, wherever it is written: without it each changed row would meet all that they make together.
    for condition in outerConditions where isUnderstood(conditions + [condition]) { conditions.append(condition) }
    let end = " WHERE \(conditions.joined(separator: " AND "))"
    var bodies: [Int: String] = [:]
    for place in set {
      let source = sources[place]
      let body = CapturedRows.reference(to: source.table ?? "")
      for token in source.body.dropFirst() { bodies[token] = "" }
      bodies[source.body.lowerBound] = source.isNamed ? body : "\(body) AS \(source.qualifier ?? "")"
    }
    guard let inner = try? subquery.from.fragment.replacing({ bodies[$0] }) else { return nil }
    // The changed rows first: each search of the others begins with them.
    return try? executed(
      "SELECT DISTINCT \(units) FROM \(inner) CROSS JOIN \(outer)\(end)", isFiltered: false, isChecked: false)
  }

  /// The outer query's conditions that read no other rows, by themselves. They hold of a row of its tables before a change of a subquery's table
  /// if they hold of it afterwards.
  private var outerConditions: [String] {
    guard let filter = mappingFilter else { return [] }
    return filter.conjuncts.filter { !filter.hasSubquery(in: $0) }.compactMap { part in
      guard let condition = try? SQLFragment(filter.text(of: part), place: "") else { return nil }
      let sql = try? condition.replacing { index in
        condition.isLoneName(at: index) ? qualified(condition.text(of: condition.tokens[index])) : nil
      }
      return sql.map { "(\($0))" }
    }
  }

  /// Whether it means nothing without the outer row: else a change concerns all of those.
  private func isCorrelated(_ subquery: Subquery) -> Bool {
    if subquery.comparison != nil { return true }
    let end = subquery.condition.map { " WHERE (\($0))" } ?? ""
    return (try? compile("SELECT 1 FROM \(subquery.from.fragment.text)\(end)", place: nil)) == nil
  }
}

extension QueryCompiler.Subquery {
  private static let others: Set<String> = [
    "SELECT", "UNION", "EXCEPT", "INTERSECT", "WITH", "VALUES", "WINDOW", "OVER",
  ]
  private static let ends: Set<String> = ["GROUP", "HAVING", "ORDER", "LIMIT"]

  /// - Parameter tokens: from SELECT to the parenthesis that ends it.
  /// - Returns: with the tokens that name its tables; nil when it is not understood.
  fileprivate static func read(
    _ fragment: SQLFragment, _ tokens: Range<Int>, qualified: (String) -> String
  ) -> (QueryCompiler.Subquery, bodies: Set<Int>)? {
    let inside = tokens.dropFirst()
    if inside.contains(where: { fragment.keyword(at: $0).map(others.contains) == true }) { return nil }
    let words = fragment.words(in: inside)
    guard let from = words["FROM"] else { return nil }
    let end = ends.compactMap { words[$0] }.min() ?? tokens.upperBound
    let filter = words["WHERE"]
    if let filter, filter < from || filter > end { return nil }
    let body = from + 1..<(filter ?? end)
    guard !body.isEmpty, let clause = try? FromClause(fragment.text(of: body)), !clause.sources.isEmpty else {
      return nil
    }
    // `SELECT DISTINCT y`, and `SELECT y AS name`, which IN does not ask for.
    var value = tokens.lowerBound + 1..<from
    if fragment.keyword(at: value.lowerBound) == "DISTINCT" { value = value.dropFirst() }
    guard let comparison = comparison(fragment, tokens.lowerBound - 1, value, qualified) else { return nil }
    var bodies: Set<Int> = []
    for source in clause.sources { bodies.formUnion(source.body.map { $0 + body.lowerBound }) }
    return (
      QueryCompiler.Subquery(
        from: clause, condition: filter.map { fragment.text(of: $0 + 1..<end) },
        comparison: comparison.isEmpty ? nil : comparison), bodies
    )
  }

  /// - Parameter open: the parenthesis before the subquery.
  /// - Returns: empty where it is not compared by IN; nil where that is not understood.
  private static func comparison(
    _ fragment: SQLFragment, _ open: Int, _ value: Range<Int>, _ qualified: (String) -> String
  ) -> String? {
    guard open > 0, fragment.keyword(at: open - 1) == "IN" else { return "" }
    var last = open - 2
    if last >= 0, fragment.keyword(at: last) == "NOT" { last -= 1 }
    guard last >= 0, fragment.name(of: fragment.tokens[last]) != nil else { return nil }
    var first = last
    while first >= 2, fragment.text(of: fragment.tokens[first - 1]) == ".",
      fragment.name(of: fragment.tokens[first - 2]) != nil
    {
      first -= 2
    }
    // A larger expression may end with the name.
    if first > 0 {
      let before = fragment.text(of: fragment.tokens[first - 1]).uppercased()
      if !["AND", "OR", "NOT", "(", "WHEN", "SELECT", "WHERE", ","].contains(before) { return nil }
    }
    let (left, right) = (qualified(fragment.text(of: first..<last + 1)), fragment.text(of: value))
    return "\(left) = (\(right)) OR (\(right)) IS NULL OR \(left) IS NULL"
  }
}

extension Range<Int> {
  /// All sets of its elements with one to `most` of them.
  fileprivate func subsets(upTo most: Int) -> [[Int]] {
    var sets: [[Int]] = [[]]
    for element in self { sets += sets.filter { $0.count < most }.map { $0 + [element] } }
    return sets.filter { !$0.isEmpty }
  }
}
