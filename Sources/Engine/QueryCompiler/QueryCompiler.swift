package import LiveQuery
import Store

/// Checks a client's query, fragment by fragment, and composes the statements that answer it.
///
/// Only SQLite decides whether SQL is valid. Every fragment is compiled separately on the checker's connection, so that
/// an error names the fragment. It is compiled in a WHERE clause, where SQLite refuses aggregates and window functions.
package struct QueryCompiler {
  let checker: FragmentChecker
  let query: Query
  /// The tables that the client may see.
  var schema: DatabaseSchema { checker.role.visible }
  var fragments: QueryFragments
  var from: FromClause { fragments.from }
  /// `from` as SQL.
  var fromSQL: String { from.fragment.text }
  /// Lower-case names of all columns in `from`. They take precedence over aliases of `select`.
  private(set) var columnNames: Set<String> = []
  /// The expressions of `select` that have an alias, by lower-case alias.
  var aliases: [String: String] = [:]
  /// `GROUP BY …`, or an empty text.
  private(set) var grouping = ""
  /// The terms of `groupBy` as SQL, with the order under which values of different groups differ.
  var groups: [(sql: String, order: FieldOrder)] = []
  var hasAggregate = false
  var hasWindow = false
  /// Lower-case names of tables that are not only joined. Their changes can concern any row.
  var nested: Set<String> = []
  /// Subqueries that read some of these tables.
  var subqueries: [Subquery] = []
  /// Lower-case names of tables that are read in other ways than by `subqueries`.
  var unmapped: Set<String> = []
  /// Columns that filters read, on the tables that rows come from.
  var filterReads = FilterReads()
  /// The subquery or view that the rows come from.
  var inner: InnerSource?
  /// The sources that are subqueries or views, by number, if there are several sources.
  var derived: [Int: DerivedSource] = [:]
  /// The unit that is looked up after a change.
  var unit = UnitChoice.none("")
  var mayChange: Bool { query.refreshEvery != nil }
  /// Whether the key is the rowid, because several rows have NULL in the primary key.
  private(set) var isKeyedByRowid = false
  /// The number of subqueries that depend on no row, whose parameters are the last ones; and how many of them are in
  /// `where`.
  var scalarCount = 0
  /// The queries whose lists keep some of these values, by name of the value.
  var scalarQueries: [String: Query] = [:]
  /// The fragments before parameters replaced these subqueries.
  var written: QueryFragments?
  var scalarsInFilter = 0
  /// The columns of the result, with those of the key first; and the number of key columns.
  private(set) var output: [OutputColumn] = []
  private(set) var keyCount = 0

  /// - Throws: `FreshetError` with the code and the message for the client.
  package static func compile(_ query: Query, checker: FragmentChecker) throws(FreshetError) -> CompiledQuery {
    try checker.refreshSchema()
    return try checker.compilingQuery { () throws(FreshetError) in
      var compiler = try QueryCompiler(query, checker: checker)
      return try compiler.compileBest()
    }
  }

  /// Compiles the query in the way that costs least to follow.
  mutating func compileBest() throws(FreshetError) -> CompiledQuery {
    let compiled = try compile()
    let asked = withScalars
    return asked.flattened(compiled) ?? asked.rearranged(compiled) ?? compiled
  }

  /// Creates a compiler for a SELECT within the query, which has these fragments.
  init(_ fragments: QueryFragments, of outer: QueryCompiler) throws(FreshetError) {
    query = outer.query
    checker = outer.checker
    self.fragments = fragments
    columnNames = Set(try allNames(of: fromSQL, place: "from").map { $0.lowercased() })
    noteNestedTables()
    filterReads = try readFilters(of: fragments.rowTexts)
  }

  init(_ query: Query, checker: FragmentChecker) throws(FreshetError) {
    self.query = query
    self.checker = checker
    fragments = try QueryFragments(query)
    do throws(FreshetError) {
      columnNames = Set(try allNames(of: fromSQL, place: "from").map { $0.lowercased() })
    } catch { throw checker.withHint(error, from: query.from) }
    // In parentheses, SQLite refuses a text that continues after the tables, such as `t WHERE 1`.
    try compile("SELECT 1 FROM (\(fromSQL))", place: "from")
    noteNestedTables()
    filterReads = try readFilters(of: fragments.rowTexts)
  }

  @discardableResult
  func compile(
    _ sql: String, place: String?
  ) throws(FreshetError) -> (statement: PreparedStatement, reads: Set<FragmentChecker.ColumnRead>) {
    try checker.compile(sql, place: place, mayChange: mayChange)
  }

  mutating func compile() throws(FreshetError) -> CompiledQuery {
    takeScalars()
    try readGroups()
    var columns = try selectedColumns()
    var filter: String?
    if let fragment = fragments.filter { filter = try expression(fragment, isRow: true).sql }
    var having: String?
    if let fragment = fragments.having { having = try expression(fragment).sql }
    var section: SectionExpression?
    if let fragment = fragments.section { section = try self.section(fragment) }
    var sorts: [SortExpression] = []
    for term in fragments.orderBy { sorts.append(try sort(term)) }
    let totals = try totals()
    unit = chooseUnit()
    let looksUp = unit
    if case .none = unit, hasAggregate || !groups.isEmpty { unit = groups.isEmpty ? .everything : .groups }
    isKeyedByRowid = try hasDuplicateKeys()
    var key = try putKeyFirst(&columns)
    try checkNames(columns)
    (output, keyCount) = (columns, key.count)

    let sortColumns = sorts.map { sort in
      // The texts must be equal too, because a name in a join may mean another column than the same name in one of its
      // tables.
      let column = columns.firstIndex { $0.sql == sort.sql && $0.reference == sort.reference }
      // A term that is an alias of `select` uses the column's value, so that the expression is evaluated once.
      let named = columns.firstIndex { "(\($0.sql))" == sort.sql && aliases[$0.name.lowercased()] == $0.sql }
      return ResultPlan.Sort(order: sort.order, column: sort.reference == nil ? named : column)
    }
    var list = [section?.sql, section?.name, section?.title].compactMap { $0 }
    list += zip(sorts, sortColumns).filter { $1.column == nil }.map(\.0.sql)
    var draft: AggregateDraft?
    if key.isUnit, isKeyedByGroups(columns.prefix(key.count)) {
      draft = aggregateDraft(groups, list.map { ($0, nil) } + columns.map { ($0.sql, $0.name) }, having: having)
    }
    if draft == nil, case .none = looksUp {
      unit = looksUp
      key.isUnit = false
    }
    let units = unitExpressions
    let named = columns.map { "\($0.sql) AS \(quotedIdentifier($0.name))" }
    let selected = "SELECT \((list + (key.isUnit ? [] : units.map(\.sql)) + named).joined(separator: ", "))"
    let select = "\(selected) FROM \(rowsSQL())"
    let end = grouping + (having.map { " HAVING (\($0))" } ?? "")
    let condition = filter.map { " WHERE (\($0))" } ?? ""
    let scan = "\(select)\(condition)\(end)"
    // The definition of a view is hidden from roles that may only read it.
    let asked =
      inner == nil ? scan : "SELECT \((list + named).joined(separator: ", ")) FROM \(fromSQL)\(condition)\(end)"
    var reads = try compile(scan, place: nil).reads
    let totaled = try totalStatements(totals, section, filter: filter)
    // Changes of tables that only totals read concern the list as well.
    reads.formUnion(totaled?.reads ?? [])
    var result = ResultPlan.Rows(
      columns: columns.map(\.name), keyColumns: columns.prefix(key.count).map(\.name), section: section?.order,
      hasSectionName: section?.name != nil, hasIndexTitle: section?.title != nil, sorts: sortColumns,
      keyTies: try keyTies(columns.prefix(key.count)),
      scanSQL: try executed(scan), totals: totaled?.plan)
    result.shown = fragments.shown
    result.rowidName = isKeyedByRowid ? nil : nullableKey?.rowid
    let alongside = try alongside()
    if !units.isEmpty {
      let first = fragments.parameterCount + 1
      let isUnit = unitCondition(units, first: first)
      let lookedUp = filter.map { "(\(correlating($0))) AND " } ?? ""
      let rows = "\(selected) FROM \(rowsSQL(first: first)) WHERE \(lookedUp)\(isUnit)\(end)"
      try compile(rows, place: nil)
      let batch = key.isUnit && groups.isEmpty ? batchSQL(units, first: first, selected, filter: filter) : nil
      result.unit = ResultPlan.Unit(
        rowSQL: try executed(rows), firstParameter: Int32(first),
        batchSQL: try batch.map { sql throws(FreshetError) in try executed(sql) },
        knownRowSQL: key.isUnit && isFilteredBySubquery ? try executed("\(select) WHERE \(isUnit)\(end)") : nil,
        capturedSQL: key.isUnit ? try capturedSQL(selected, filter: filter) : nil, orders: units.map(\.order),
        isKey: key.isUnit)
    }
    var maps = true
    if case .none = looksUp { maps = false }
    let following = try trace(result, reads, columns, filter: filter, maps: maps)
    var kept: KeptAggregate?
    if let draft {
      // If a value in the condition changes, former rows would be evaluated with the new condition.
      if scalarsInFilter == 0 { result.aggregate = try aggregatePlan(draft, following.tables, filter: filter) }
      if result.aggregate.map({ $0.added.count < following.tables.count }) ?? true {
        kept = try? keptAggregate(draft, result, columns, reads, filter: filter)
      }
      if !maps, result.aggregate == nil, kept == nil { unit = looksUp }
    }
    result.scalars = try scalars(of: self)
    result.totalAggregates = try totalAggregates(totals, section, following.tables, filter: filter)
    if case .none = unit { (result.unit, result.aggregate) = (nil, nil) }
    var weight = checker.weight
    weight.isCostly = fragments.isCostly
    let order = rowOrder(columns, key: result.keyTies, keyCount: key.count, sorts, section)
    func compiled(
      _ rows: ResultPlan.Rows, _ following: CompiledQuery.Following, _ other: CompiledQuery?
    ) -> CompiledQuery {
      CompiledQuery(
        query, rows, following, askedSQL: asked, reason: reason(of: rows), parameterNames: fragments.parameterNames,
        order: order, alongside: alongside, longestValue: weight.longestValue, otherwise: other)
    }
    guard let kept else { return compiled(result, following, nil) }
    if !maps, result.aggregate == nil { unit = looksUp }
    var withoutRows = result
    if case .none = unit { withoutRows.unit = nil }
    let other = compiled(withoutRows, following, nil)
    (result.aggregate, result.scalars) = (kept.plan, kept.scalars)
    return compiled(result, kept.following, other)
  }

  private func reason(of rows: ResultPlan.Rows) -> String {
    if let aggregate = rows.aggregate { return aggregate.rows == nil ? Self.byArithmetic : Self.byRows }
    return rows.unit?.capturedSQL == nil ? unit.reason : Self.captured
  }

  /// Whether the key is the groups, or the query is an aggregate without groups, which has one row.
  private func isKeyedByGroups(_ key: ArraySlice<OutputColumn>) -> Bool {
    if groups.isEmpty { return hasAggregate }
    return key.count == groups.count
      && zip(key, zip(groups, fragments.groupBy)).allSatisfy { key, group in
        key.sql == group.0.sql || (key.reference != nil && key.reference == reference(group.1))
      }
  }

  /// Reads `GROUP BY`. It is checked before all parts that may use aggregates.
  mutating func readGroups() throws(FreshetError) {
    fragments.groupBy = try fragments.groupBy.map { term throws(FreshetError) in try named(term) }
    for fragment in fragments.groupBy {
      let sql = try expression(fragment, isRow: true).sql
      let collation = try self.collation(of: sql, place: fragment.place, isRow: true)
      groups.append((sql, FieldOrder(collation: collation)))
    }
    if !groups.isEmpty { grouping = " GROUP BY \(groups.map { "(\($0.sql))" }.joined(separator: ", "))" }
  }

  /// A term of `groupBy` with the aliases of `select` replaced by their expressions, except aliases that are also the
  /// name of a column.
  private func named(_ term: SQLFragment) throws(FreshetError) -> SQLFragment {
    let names = term.tokens.indices.filter { term.isLoneName(at: $0) && !isColumn(term.unquoted(term.tokens[$0])) }
    if names.isEmpty || term.hasSubquery { return term }
    var meanings: [String: String] = [:]
    for (_, item) in fragments.select {
      let body = try body(of: item)
      guard body.tokens.count < item.tokens.count, let last = item.tokens.last else { continue }
      meanings[item.unquoted(last).lowercased()] = body.text
    }
    let sql = try term.replacing { index in
      names.contains(index) ? meanings[term.unquoted(term.tokens[index]).lowercased()].map { "(\($0))" } : nil
    }
    // If the alias stands for a column, the term is that column.
    if term.tokens.count == 1, let meaning = meanings[term.unquoted(term.tokens[0]).lowercased()] {
      return try SQLFragment(meaning, place: term.place)
    }
    return sql == term.text ? term : try SQLFragment(sql, place: term.place)
  }

  private mutating func alongside() throws(FreshetError) -> [CompiledAlongside] {
    var result: [CompiledAlongside] = []
    for (name, fragment) in fragments.alongside {
      let sql = "SELECT (\(fragment.text))"
      var tables = masks(of: try compile(sql, place: fragment.place).reads)
      tables.formUnion(try readFilters(of: [sql]).masks)
      // Views are left out, because the tables that they read are included.
      tables = tables.filter { checker.role.whole.table($0.key)?.kind != .view }
      var value = CompiledAlongside(name: name, sql: try executed(sql), tables: tables)
      if let known = try aggregate(alongside: fragment) { (value.aggregate, value.aggregateTables) = known }
      value.query = scalarQueries[name]
      result.append(value)
    }
    return result
  }
}
