import LiveQuery
import Store

// Checks expressions, each separately.
extension QueryCompiler {
  struct Expression {
    var sql: String
    var reads: Set<FragmentChecker.ColumnRead>
  }

  /// An expression to sort by. `reference` is the table's column, if the expression is just a column.
  typealias SortExpression = (sql: String, order: FieldOrder, reference: ColumnReference?)
  typealias SectionExpression = (sql: String, order: FieldOrder, name: String?, title: String?)

  /// Checks one expression, and replaces the aliases of `select` in it by their expressions.
  ///
  /// - Parameter isRow: whether it must be an expression of a single row, without aggregates.
  mutating func expression(_ fragment: SQLFragment, isRow: Bool = false) throws(FreshetError) -> Expression {
    let sql = try rewritten(fragment)
    if fragment.hasSubquery {
      note(tablesNamedIn: fragment)
      note(subqueriesOf: fragment)
    }
    let row = "SELECT 1 FROM \(fromSQL) WHERE (\(sql)) IS NULL"
    do throws(FreshetError) {
      return Expression(sql: sql, reads: try compile(row, place: fragment.place).reads)
    } catch {
      guard !isRow, error.code == .badQuery || error.code == .noSuchColumn,
        let reads = try? compile("SELECT 1, (\(sql)) FROM \(fromSQL)\(grouping)", place: fragment.place).reads
      else { throw error }
      // In a WHERE clause SQLite refuses aggregates and window functions.
      if fragment.tokens.indices.contains(where: { fragment.keyword(at: $0) == "OVER" }) {
        hasWindow = true
      } else {
        hasAggregate = true
      }
      return Expression(sql: sql, reads: reads)
    }
  }

  /// Replaces aliases as SQLite does: a table's column takes precedence over an alias of `select`. In a subquery, a
  /// name may be a column of the subquery's tables, an outer column, or an alias. A name that is valid without `select`
  /// is not an alias.
  func rewritten(_ fragment: SQLFragment) throws(FreshetError) -> String {
    if aliases.isEmpty { return fragment.text }
    let everywhere = try rewritten(fragment, inSubqueries: true)
    guard fragment.hasSubquery, everywhere != fragment.text else { return everywhere }
    if isUnderstood(fragment.text) { return fragment.text }
    let outside = try rewritten(fragment, inSubqueries: false)
    return isUnderstood(outside) ? outside : everywhere
  }

  private func isUnderstood(_ sql: String) -> Bool {
    (try? compile("SELECT 1, (\(sql)) FROM \(fromSQL)\(grouping)", place: nil)) != nil
  }

  private func rewritten(_ fragment: SQLFragment, inSubqueries: Bool) throws(FreshetError) -> String {
    let tables = fragment.tablePlaces
    // The index after the subquery that is being read.
    var end = 0
    return try fragment.replacing { index throws(FreshetError) in
      if fragment.keyword(at: index) == "SELECT", index > 0, index >= end {
        end = fragment.endOfParenthesis(openedAt: index - 1) ?? fragment.tokens.count
      }
      guard index >= end || (inSubqueries && !tables.contains(index) && fragment.keyword(at: index - 1) != "AS"),
        fragment.isLoneName(at: index), let name = fragment.name(of: fragment.tokens[index]), !isColumn(name),
        let alias = aliases[name.lowercased()]
      else { return nil }
      return "(\(alias))"
    }
  }

  func isColumn(_ name: String) -> Bool { columnNames.contains(name.lowercased()) }

  func collation(
    of sql: String, place: String, isRow: Bool = false
  ) throws(FreshetError) -> FieldOrder.Collation {
    if isRow || (groups.isEmpty && !hasAggregate && !hasWindow) {
      return try checker.collation(of: sql, from: fromSQL, place: place, mayChange: mayChange)
    }
    let rows = "(SELECT (\(sql)) AS e FROM \(fromSQL)\(grouping))"
    return try checker.collation(of: "e", from: rows, place: place, mayChange: mayChange)
  }

  mutating func section(
    _ fragment: SQLFragment
  ) throws(FreshetError) -> SectionExpression {
    let sql = try expression(fragment).sql
    let collation = try collation(of: sql, place: fragment.place)
    var name: String?
    if let sectionName = fragments.sectionName { name = try expression(sectionName).sql }
    var title: String?
    if let indexTitle = fragments.indexTitle { title = try expression(indexTitle).sql }
    let isDescending = query.sectionBy?.isDescending ?? false
    return (sql, FieldOrder(collation: collation, isDescending: isDescending), name, title)
  }

  mutating func sort(_ term: SortTerm) throws(FreshetError) -> SortExpression {
    var sql = try expression(term.expression).sql
    var reference = self.reference(term.expression)
    // A term that is just an alias of `select` means the alias, even if a table has a column of this name.
    if term.expression.tokens.count == 1, let name = term.expression.name(of: term.expression.tokens[0]),
      let alias = aliases[name.lowercased()]
    {
      sql = "(\(alias))"
      reference = nil
    }
    let collation = try collation(of: sql, place: term.expression.place)
    let order = FieldOrder(collation: collation, isDescending: term.isDescending, nullsFirst: term.nullsFirst)
    return (sql, order, reference)
  }
}

// Finds the tables that subqueries read.
extension QueryCompiler {
  /// Notes every table and view that the fragment names at a place for tables. Noting more than it reads does no harm.
  mutating func note(
    tablesNamedIn fragment: SQLFragment, tokens: Range<Int>? = nil, in schema: DatabaseSchema? = nil
  ) {
    let schema = schema ?? self.schema
    let range = tokens ?? fragment.tokens.indices
    for index in fragment.tablePlaces where range.contains(index) {
      let name = fragment.unquoted(fragment.tokens[index])
      guard let table = schema.table(name) else { continue }
      let next = index + 1 < fragment.tokens.count ? fragment.text(of: fragment.tokens[index + 1]) : ""
      // The name is that of a function.
      if next == "(" { continue }
      nested.insert(name.lowercased())
      if table.kind != .table { note(tablesOf: table) }
    }
  }

  /// Notes the tables of a view, or of a virtual table.
  mutating func note(tablesOf view: DatabaseSchema.Table) {
    let reads = (try? compile("SELECT * FROM \(reference(to: view))", place: nil).reads) ?? []
    nested.formUnion(reads.map { $0.table.lowercased() })
    unmapped.formUnion(reads.map { $0.table.lowercased() })
  }

  /// Notes the tables that `from` reads through views, virtual tables, subqueries and conditions with subqueries.
  mutating func noteNestedTables() {
    for (index, source) in from.sources.enumerated() {
      switch source.kind {
      case .table(let name):
        guard let table = schema.table(name), table.kind != .table, !table.isSearch else { break }
        if !noteParts(of: index) { note(tablesOf: table) }
      case .function: break
      case .parenthesis: if !noteParts(of: index) { noteUnmapped(from.fragment, source.body) }
      }
      guard let constraint = try? SQLFragment(from.fragment.text(of: source.constraint), place: "from"),
        constraint.hasSubquery
      else { continue }
      noteUnmapped(from.fragment, source.constraint)
    }
    if from.sources.isEmpty { noteUnmapped(from.fragment, from.fragment.tokens.indices) }
    readLinks()
  }

  /// Notes the tables of a source that is a subquery or view.
  ///
  /// - Returns: false if it cannot be followed separately.
  private mutating func noteParts(of index: Int) -> Bool {
    if from.sources.count > 1, !noteDerived(index) { return false }
    guard index == 0, let source = try? innerSource() else { return from.sources.count > 1 }
    inner = source
    for arm in source.arms {
      nested.formUnion(arm.compiler.nested)
      unmapped.formUnion(arm.compiler.unmapped)
    }
    return true
  }

  /// Notes tables whose changes no statement maps to units.
  mutating func noteUnmapped(_ fragment: SQLFragment, _ tokens: Range<Int>, in schema: DatabaseSchema? = nil) {
    let known = nested
    nested = []
    note(tablesNamedIn: fragment, tokens: tokens, in: schema)
    unmapped.formUnion(nested)
    nested.formUnion(known)
  }

  /// The columns that were read of each table of the schema, by lower-case name.
  func masks(of reads: Set<FragmentChecker.ColumnRead>) -> [String: ColumnMask] {
    var columns: [String: [String]] = [:]
    for read in reads { columns[read.table.lowercased(), default: []].append(read.column) }
    var masks: [String: ColumnMask] = [:]
    for (name, columns) in columns { masks[name] = checker.role.whole.table(name)?.mask(of: columns) }
    return masks
  }
}
