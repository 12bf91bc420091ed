import LiveQuery
import Store

/// A subquery, or a view, that a query joins with other sources.
///
///     FROM customers AS c
///       LEFT JOIN (SELECT customer, sum(total) AS total FROM orders GROUP BY customer) AS o ON o.customer = c.id
///
/// Its rows are not stored. A change of its tables leads to the values that its rows are joined by, here the customer,
/// and these values lead to units. If a unit is looked up, only the rows that the unit can join are computed:
///
///     … LEFT JOIN (SELECT … FROM orders WHERE customer IN (SELECT c.id FROM customers AS c WHERE c.id = ?)
///       GROUP BY customer) AS o ON …
struct DerivedSource {
  /// The SELECTs that it consists of.
  let arms: [InnerSelect]
  let operators: [SelectStatement.SetOperator]
  var links: [Link] = []

  /// A condition that compares one of its columns with other sources.
  struct Link {
    /// The number of the column.
    let column: Int
    let other: String
    /// The sources that `other` reads, none of them after `last`.
    let sources: Set<Int>
    /// Whether the condition is required: rows that fail it make no row of the result, except a row of a LEFT JOIN with
    /// NULL in all columns.
    let isRequired: Bool
    /// The source whose ON contains the condition; nil if WHERE does.
    let place: Int?

    var last: Int { sources.max() ?? 0 }
  }

  /// The SQL of the source, restricted to rows that have some of the given values in a column.
  ///
  /// - Parameters:
  ///   - column: the number of the column.
  ///   - values: a SELECT that returns the values.
  /// - Returns: nil if the whole source would have to be computed for that.
  func sql(column: Int, in values: String) -> String? {
    var texts: [String] = []
    for arm in arms {
      guard let condition = arm.condition(column: column, in: values) else { return nil }
      texts.append(arm.sql(conditions: [condition]))
    }
    return "(\(texts.joined(with: operators)))"
  }

  /// Whether a column's value determines the rows of the tables that a row is made of.
  func isDirect(_ link: Link) -> Bool { arms.allSatisfy { $0.order(ofUnit: $0.columns[link.column]) != nil } }
}

extension InnerSelect {
  /// A condition on the rows of FROM. It admits at least all rows that make result rows with some values in a column,
  /// and all rows that change or remove such result rows.
  func condition(column: Int, in values: String) -> String? {
    let sql = columns[column]
    if order(ofUnit: sql) != nil { return "(\(sql)) IN (\(values))" }
    guard !compiler.groups.isEmpty, let member = member(sql), let from = compiler.from.fragment.text.nonEmpty else {
      return nil
    }
    // Selects each group that has a row with the value. Groups with NULL are admitted too, because IN never finds NULL.
    let groups = compiler.groups.map { "(\($0.sql))" }
    let list = groups.joined(separator: ", ")
    let filter = self.filter.map { "(\($0)) AND " } ?? ""
    let nulls = groups.map { " OR \($0) IS NULL" }.joined()
    let isIn = groups.count == 1 ? list : "(\(list))"
    return "(\(isIn) IN (SELECT \(list) FROM \(from) WHERE \(filter)(\(member)) IN (\(values)))\(nulls))"
  }

  /// The expression of a single row whose value a column of a group shows: `x` for `max(x)`, `min(x)` and `x` itself.
  private func member(_ sql: String) -> String? {
    if let collation = try? compiler.collation(of: sql, place: "", isRow: true), collation == .binary { return sql }
    guard let fragment = try? SQLFragment(sql, place: ""), fragment.tokens.count > 3,
      ["MIN", "MAX"].contains(fragment.keyword(at: 0)), fragment.text(of: fragment.tokens[1]) == "(",
      fragment.endOfParenthesis(openedAt: 1) == fragment.tokens.count
    else { return nil }
    let argument = fragment.text(of: 2..<fragment.tokens.count - 1)
    return (try? compiler.collation(of: argument, place: "", isRow: true)) == nil ? nil : argument
  }

  /// The collation under which a link compares the values of a column; the widest if there are several.
  fileprivate func collation(ofColumn column: Int) -> FieldOrder.Collation? {
    let sql = columns[column]
    return order(ofUnit: sql)?.collation
      ?? member(sql).flatMap { try? compiler.collation(of: $0, place: "", isRow: true) }
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension QueryCompiler {
  // MARK: - Reading

  /// Notes one of several sources that is a subquery or view.
  ///
  /// - Returns: false if it cannot be followed separately.
  mutating func noteDerived(_ index: Int) -> Bool {
    guard let source = try? derivedSource(index) else { return false }
    derived[index] = source
    for arm in source.arms {
      let tables = arm.compiler.from.sources.compactMap { $0.table?.lowercased() }
      // The units of the first source are looked up, so changes of its tables lead to units directly.
      if index > 0 { nested.formUnion(tables) }
      nested.formUnion(arm.compiler.nested)
      // Changes are mapped only through this source's own tables, and not through subqueries in it.
      unmapped.formUnion(arm.compiler.nested)
    }
    return true
  }

  private func derivedSource(_ index: Int) throws(FreshetError) -> DerivedSource? {
    let source = from.sources[index]
    guard source.qualifier != nil, let (arms, operators) = try innerSelects(of: source) else { return nil }
    let isOfTables = arms.allSatisfy { arm in
      arm.compiler.from.sources.allSatisfy { $0.table.flatMap(schema.table)?.kind == .table && $0.join != .outer }
    }
    return isOfTables ? DerivedSource(arms: arms, operators: operators) : nil
  }

  /// Finds the conditions that join the derived sources. To be called when all sources are noted.
  mutating func readLinks() {
    if derived.isEmpty || from.isNatural || from.sources.contains(where: { $0.join == .outer }) { return }
    for (index, source) in from.sources.enumerated() where !source.constraint.isEmpty {
      guard from.fragment.keyword(at: source.constraint.lowerBound) == "ON" else { continue }
      let condition = from.fragment.text(of: source.constraint.dropFirst())
      readLinks(condition, of: index) { derived in derived == index || source.join == .inner }
    }
    if let filter = fragments.filter { readLinks(filter.text, of: nil) { _ in true } }
  }

  /// Operators with the precedence of `=`, or a lower one. If one of them is next to a text, the text may not be the
  /// whole operand of `=`.
  private static let others: Set<String> = [
    "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "MATCH", "REGEXP", "BETWEEN", "ISNULL", "NOTNULL", "!=", "<>", "CASE",
  ]

  private mutating func readLinks(_ condition: String, of place: Int?, isRequired: (Int) -> Bool) {
    guard let fragment = try? SQLFragment(condition, place: "") else { return }
    for part in fragment.conjuncts where !fragment.hasSubquery(in: part) {
      let words = part.map { fragment.keyword(at: $0) ?? fragment.text(of: fragment.tokens[$0]) }
      let equals = part.filter { ["=", "=="].contains(words[$0 - part.lowerBound]) }
      guard equals.count == 1, let equal = equals.first, !words.contains(where: Self.others.contains) else { continue }
      let sides = [part.lowerBound..<equal, equal + 1..<part.upperBound].filter { !$0.isEmpty }
      guard sides.count == 2 else { continue }
      for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        guard let (index, column) = derivedColumn(fragment, side), let sources = sources(fragment, other),
          !sources.isEmpty, !sources.contains(index), let source = derived[index]
        else { continue }
        let text = fragment.text(of: other)
        let collation = try? collation(of: text, place: "", isRow: true)
        // The restriction must not exclude values that the condition admits.
        let isWide = source.arms.allSatisfy { arm in
          arm.collation(ofColumn: column).map { $0 == collation || collation == .binary } ?? false
        }
        if isWide {
          derived[index]?.links.append(
            .init(column: column, other: text, sources: sources, isRequired: isRequired(index), place: place))
        }
      }
    }
  }

  /// The column of a derived source that some tokens consist of.
  func derivedColumn(_ fragment: SQLFragment, _ range: Range<Int>) -> (source: Int, column: Int)? {
    guard [1, 3].contains(range.count), let name = fragment.name(of: fragment.tokens[range.upperBound - 1]) else {
      return nil
    }
    if range.count == 3, fragment.text(of: fragment.tokens[range.lowerBound + 1]) != "." { return nil }
    let qualifier = range.count == 3 ? fragment.name(of: fragment.tokens[range.lowerBound]) : nil
    for (index, source) in derived.sorted(by: { $0.key < $1.key }) {
      if let qualifier, !isSameName(qualifier, from.sources[index].name ?? "") { continue }
      if let column = source.arms[0].names.firstIndex(where: { isSameName($0, name) }) { return (index, column) }
    }
    return nil
  }

  /// The sources whose columns some tokens name; nil if they are unknown.
  private func sources(_ fragment: SQLFragment, _ range: Range<Int>) -> Set<Int>? {
    var found: Set<Int> = []
    for token in range {
      guard let name = fragment.name(of: fragment.tokens[token]) else { continue }
      let isQualified = token > range.lowerBound + 1 && fragment.text(of: fragment.tokens[token - 1]) == "."
      if isQualified {
        let qualifier = fragment.name(of: fragment.tokens[token - 2]) ?? ""
        guard let index = from.sources.firstIndex(where: { isSameName($0.name ?? "", qualifier) }) else { return nil }
        found.insert(index)
      } else if fragment.isLoneName(at: token) {
        let having = from.sources.indices.filter { index in
          derived[index]?.arms[0].names.contains { isSameName($0, name) }
            ?? from.sources[index].table.flatMap(schema.table)?.hasColumn(name) ?? false
        }
        guard having.count == 1 else { return nil }
        found.formUnion(having)
      }
    }
    return found
  }

  // MARK: - Writing

  /// The clause up to a source, with the text of sources replaced.
  ///
  /// - Parameters:
  ///   - texts: for each source, the text that replaces its table or parenthesis.
  ///   - dropped: sources that are left out, together with their join conditions. The first source cannot be left out.
  func clause(through last: Int, _ texts: [Int: String] = [:], dropping dropped: Set<Int> = []) -> String? {
    var replacements: [Int: String] = [:]
    for (index, text) in texts where index <= last {
      let source = from.sources[index]
      for token in source.body { replacements[token] = "" }
      replacements[source.body.lowerBound] =
        source.isNamedBehindBody ? text : "\(text) AS \(source.qualifier ?? Self.nameless)"
    }
    for index in dropped where index > 0 && index <= last {
      for token in from.sources[index - 1].end..<from.sources[index].end { replacements[token] = "" }
    }
    return try? from.prefix(through: last) { replacements[$0] }
  }

  /// The name of a subquery without an alias.
  static let nameless = ReservedNames.prefix + "rows"
}

extension FromClause.Source {
  /// Whether a name follows the source's table or parenthesis.
  fileprivate var isNamedBehindBody: Bool {
    if case .parenthesis = kind { return qualifier != nil }
    return isNamed
  }
}
