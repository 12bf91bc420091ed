import LiveQuery
import Store

// Finds which rows of the result a change concerns, for tables that only correlated subqueries read.
//
// The result of a subquery for an outer row depends on the rows of its FROM that pass its WHERE, and on the outer row.
// So a changed row concerns the outer rows with which it passes, with its former or its present values: the rows of
// `inner, outer WHERE …` with the changed rows in place of the table. Finding too many rows is harmless, so conditions
// that are not understood are left out. If the subquery joins tables that changed together, former rows of one table
// may have joined former rows of another, so there is a statement for each set of these tables. A change in a subquery
// of a subquery leads to rows of the enclosing subquery, and these lead to outer rows. It is enough to use the present
// rows of the enclosing subquery, because its changed rows have statements of their own. For `x IN (SELECT y …)` only
// outer rows with x = y are concerned. If NULL and false must be distinguished, as under NOT, all outer rows are
// concerned for which x or y is NULL: `NULL IN ()` is false for an empty set, and NULL as soon as there is a row. In
// such a statement the tables of a subquery have other names, and columns are qualified by these. Unqualified columns,
// or columns qualified by the table's own name, could also mean those of an outer table. Changes of sources behind LEFT
// JOIN, in a compound SELECT or in a WITH clause run the query again.
extension QueryCompiler {
  /// The parts of a subquery that decide which rows it reads.
  struct Subquery {
    /// Its tables, each with another name (`alias`) in the statement.
    var tables: [(table: DatabaseSchema.Table, qualifier: String, alias: String)]
    /// Those conditions on its rows that are understood, written with these names.
    var conditions: [String] = []
    /// Further conditions. Each statement has one of them in addition to `conditions`, so that it can use an index.
    var comparisons: [String] = []
    /// The tokens of its WHERE.
    var filter = 0..<0
    /// Whether it is valid only together with the rows around it. If it is not correlated, a change concerns all of
    /// those rows.
    var isCorrelated = false
    /// The subqueries that enclose it.
    var around: [Subquery] = []
  }

  /// Notes the subqueries of a fragment, and the tables that it reads in other ways.
  mutating func note(subqueriesOf fragment: SQLFragment) {
    // The fragment names columns of the source, and not of the source's tables.
    if inner != nil { return noteUnmapped(fragment, fragment.tokens.indices) }
    var known: Set<Int> = []
    note(subqueriesOf: fragment, fragment.tokens.indices, within: [], &known)
    for index in fragment.tablePlaces where !known.contains(index) {
      let name = fragment.unquoted(fragment.tokens[index])
      if schema.table(name) != nil { unmapped.insert(name.lowercased()) }
    }
  }

  /// - Parameters:
  ///   - around: the subqueries that enclose the tokens, the outermost first.
  ///   - known: receives the tokens that name tables in parts that are understood.
  private mutating func note(
    subqueriesOf fragment: SQLFragment, _ range: Range<Int>, within around: [Subquery], _ known: inout Set<Int>
  ) {
    var index = range.lowerBound
    while index < range.upperBound {
      guard fragment.keyword(at: index) == "SELECT", index > 0,
        let end = fragment.endOfParenthesis(openedAt: index - 1),
        let (subquery, bodies) = read(fragment, index..<end - 1, within: around)
      else {
        index += 1
        continue
      }
      subqueries.append(subquery)
      known.formUnion(bodies)
      note(subqueriesOf: fragment, index + 1..<end - 1, within: around + [subquery], &known)
      index = end
    }
  }

  // MARK: - Reading

  private static let others: Set<String> = ["UNION", "EXCEPT", "INTERSECT", "WITH", "VALUES", "WINDOW", "OVER"]
  private static let ends: Set<String> = ["GROUP", "HAVING", "ORDER", "LIMIT"]

  /// - Parameter tokens: the tokens from SELECT to the closing parenthesis.
  /// - Returns: the subquery, and the tokens that name its tables; nil if the subquery is not understood.
  private func read(
    _ fragment: SQLFragment, _ tokens: Range<Int>, within around: [Subquery]
  ) -> (Subquery, bodies: Set<Int>)? {
    let inside = tokens.dropFirst()
    if inside.contains(where: { fragment.keyword(at: $0).map(Self.others.contains) == true }) { return nil }
    let words = fragment.words(in: inside)
    guard let from = words["FROM"] else { return nil }
    let end = Self.ends.compactMap { words[$0] }.min() ?? tokens.upperBound
    let filter = words["WHERE"]
    if let filter, filter < from || filter > end { return nil }
    let body = from + 1..<(filter ?? end)
    guard !body.isEmpty, let clause = try? FromClause(fragment.text(of: body)), !clause.sources.isEmpty,
      !clause.isNatural
    else { return nil }
    var subquery = Subquery(tables: [], around: around)
    var bodies: Set<Int> = []
    let names = (subqueries + around).reduce(0) { $0 + $1.tables.count }
    for (index, source) in clause.sources.enumerated() {
      guard source.join == .inner, let table = source.table.flatMap(schema.table), table.kind == .table,
        let name = source.name
      else { return nil }
      subquery.tables.append((table, name, "\(ReservedNames.prefix)in_\(names + index)"))
      bodies.formUnion(source.body.map { $0 + body.lowerBound })
    }
    for source in clause.sources where !source.constraint.isEmpty {
      guard clause.fragment.keyword(at: source.constraint.lowerBound) == "ON" else { return nil }
      take(clause.fragment.text(of: source.constraint.dropFirst()), &subquery)
    }
    if let filter {
      subquery.filter = filter + 1..<end
      take(fragment.text(of: subquery.filter), &subquery)
    }
    return compare(fragment, tokens, from, &subquery) ? (subquery, bodies) : nil
  }

  /// Adds those conditions that have no subqueries.
  private func take(_ text: String, _ subquery: inout Subquery) {
    guard let condition = try? SQLFragment(text, place: "") else { return }
    for part in condition.conjuncts where !condition.hasSubquery(in: part) {
      if let sql = resolved(condition.text(of: part), &subquery) { subquery.conditions.append("(\(sql))") }
    }
  }

  /// Adds the comparison that IN makes.
  ///
  /// - Returns: false if it is not understood.
  private func compare(
    _ fragment: SQLFragment, _ tokens: Range<Int>, _ from: Int, _ subquery: inout Subquery
  ) -> Bool {
    let open = tokens.lowerBound - 1
    guard open > 0, fragment.keyword(at: open - 1) == "IN" else { return true }
    // DISTINCT, and the alias in `SELECT y AS name`, make no difference to IN.
    var value = tokens.lowerBound + 1..<from
    if fragment.keyword(at: value.lowerBound) == "DISTINCT" { value = value.dropFirst() }
    var outside = Subquery(tables: [], around: subquery.around)
    guard let operand = fragment.operand(ofInAt: open - 1), !fragment.hasSubquery(in: value),
      let left = resolved(fragment.text(of: operand), &outside),
      let right = resolved(fragment.text(of: value), &subquery)
    else { return false }
    subquery.comparisons = ["\(left) = (\(right))"]
    // For a condition that WHERE requires, NULL and false are the same, because the row does not pass in either case.
    let conditions = subquery.around.last.map(\.filter) ?? (fragment.place == "where" ? fragment.tokens.indices : 0..<0)
    let isNegated = fragment.keyword(at: open - 2) == "NOT"
    if isNegated || !fragment.conjuncts(of: conditions).contains(operand.lowerBound..<tokens.upperBound + 1) {
      subquery.comparisons += ["(\(right)) IS NULL", "\(left) IS NULL"]
    }
    subquery.isCorrelated = true
    return true
  }

  /// An expression of a subquery, with columns qualified by the tables' other names.
  ///
  /// - Returns: nil if a name is not understood.
  func resolved(_ text: String, _ subquery: inout Subquery) -> String? {
    guard let fragment = try? SQLFragment(text, place: "") else { return nil }
    var replacements: [Int: String] = [:]
    var isCorrelated = false
    for index in fragment.tokens.indices {
      guard let name = fragment.name(of: fragment.tokens[index]) else { continue }
      let isQualifier = index + 1 < fragment.tokens.count && fragment.text(of: fragment.tokens[index + 1]) == "."
      if index > 0, fragment.text(of: fragment.tokens[index - 1]) == "." {
        // `main.t.c`.
        if isQualifier { return nil }
        continue
      }
      guard isQualifier || fragment.isLoneName(at: index) else { continue }
      let scopes = [subquery] + subquery.around.reversed()
      let found = scopes.enumerated().lazy.compactMap { depth, scope in
        scope.alias(of: name, isQualifier: isQualifier).map { (depth, $0) }
      }.first
      if let (depth, alias) = found {
        replacements[index] = isQualifier ? alias : "\(alias).\(fragment.text(of: fragment.tokens[index]))"
        isCorrelated = isCorrelated || depth > 0
      } else if isQualifier || isColumn(name) || TableKey.isRowidName(name) {
        if !isQualifier { replacements[index] = qualified(fragment.text(of: fragment.tokens[index])) }
        isCorrelated = true
      }
    }
    subquery.isCorrelated = subquery.isCorrelated || isCorrelated
    return try? fragment.replacing { replacements[$0] }
  }

  /// The name of an outer column with its table, because unqualified it may also mean a column of the subquery.
  func qualified(_ name: String) -> String {
    guard let fragment = try? SQLFragment(name, place: ""), fragment.tokens.count == 1,
      let source = reference(fragment)?.source ?? derivedColumn(fragment, fragment.tokens.indices)?.source,
      let qualifier = from.sources[source].qualifier
    else { return name }
    return "\(qualifier).\(name)"
  }
}

extension QueryCompiler.Subquery {
  /// The other name of the subquery's table that has a column of this name, or that has this name itself; nil if no
  /// table of the subquery does.
  fileprivate func alias(of name: String, isQualifier: Bool) -> String? {
    if isQualifier { return tables.first { isSameName($0.qualifier, name) }?.alias }
    if let table = tables.first(where: { $0.table.hasColumn(name) }) { return table.alias }
    guard TableKey.isRowidName(name), tables.count == 1, tables[0].table.storage?.isWithoutRowid == false else {
      return nil
    }
    return tables[0].alias
  }
}

extension SQLFragment {
  /// The tokens of the column to the left of IN or NOT IN; nil if there is another expression.
  func operand(ofInAt index: Int) -> Range<Int>? {
    var last = index - 1
    if last >= 0, keyword(at: last) == "NOT" { last -= 1 }
    guard last >= 0, name(of: tokens[last]) != nil else { return nil }
    var first = last
    while first >= 2, text(of: tokens[first - 1]) == ".", name(of: tokens[first - 2]) != nil { first -= 2 }
    // The name may be only the end of a larger expression.
    if first > 0 {
      let before = text(of: tokens[first - 1]).uppercased()
      if !["AND", "OR", "NOT", "(", "WHEN", "SELECT", "WHERE", ","].contains(before) { return nil }
    }
    return first..<last + 1
  }
}
