import LiveQuery
import Store

// Flattens queries: rewrites a query over one subquery or view as the same query over its tables.
//
// SELECT nation, sum(volume) FROM (SELECT n_name AS nation, price * (1 - discount) AS volume FROM item JOIN nation …)
// GROUP BY nation SELECT n_name, sum((price * (1 - discount))) FROM item JOIN nation … GROUP BY n_name The subquery's
// expressions replace its columns, as in SQLite itself, so that all ways of following queries over tables can be used.
// If the subquery has groups, the condition on its rows becomes HAVING. A query is not flattened if it has names in
// subqueries of the outer query, or names that would then mean a column of the tables.
extension QueryCompiler {
  /// The subquery or view that a query reads.
  private struct FlatSource {
    let core: SelectStatement.Core
    let from: FromClause
    /// The source's columns as expressions over `from`, by lower-case name.
    let columns: [String: String]
    let groupBy: [String]
    /// Lower-case names that are valid in `from`.
    let names: Set<String>
    /// The rows that the query shows, as offsets in the subquery's result without LIMIT and OFFSET; and whether it has
    /// a LIMIT.
    let shown: Range<Int>
    let isLimited: Bool
  }

  /// - Parameter plain: the query as the client wrote it.
  /// - Returns: nil if the flattened query would be no better.
  func flattened(_ plain: CompiledQuery) -> CompiledQuery? {
    guard query.refreshEvery == nil, !hasSubquery, let inner = try? flatSource(),
      inner.groupBy.isEmpty || (groups.isEmpty && !hasAggregate && !hasWindow && fragments.totals.isEmpty),
      let flat = try? fragments(over: inner), var compiler = try? QueryCompiler(flat, of: self),
      let once = try? compiler.compile()
    else { return nil }
    let compiled = compiler.withScalars.flattened(once) ?? once
    let hidesRows = inner.isLimited || compiled.hasHiddenRows
    return compiled.isRefetched ? nil : compiled.explained(as: plain, otherwise: hidesRows ? plain : nil)
  }

  /// Whether one of the query's own expressions has a subquery.
  var hasSubquery: Bool { fragments.filter?.hasSubquery == true || hasSubqueryOutsideFilter }

  /// As above, for all clauses but WHERE.
  var hasSubqueryOutsideFilter: Bool {
    let single = [fragments.having, fragments.section, fragments.sectionName, fragments.indexTitle]
    let listed = fragments.groupBy + fragments.totals.map(\.fragment) + fragments.orderBy.map(\.expression)
    return (single.compactMap(\.self) + listed).contains { $0.hasSubquery } || output.contains { $0.sql.hasSubquery }
  }

  // MARK: - The subquery

  private func flatSource() throws(FreshetError) -> FlatSource? {
    guard from.sources.count == 1, let select = written(from.sources[0])?.inlined, select.cores.count == 1,
      let shown = try shown(of: select), let core = select.cores.first, core.isRows, let source = core.from
    else { return nil }
    let clause = try FromClause(source)
    let names = Set(try compile("SELECT * FROM \(source)", place: nil).statement.columnNames.map { $0.lowercased() })
    let outer = try compile("SELECT * FROM \(fromSQL)", place: nil).statement.columnNames
    let items = try expressions(of: core, source)
    guard items.count == outer.count, !items.contains(where: \.hasWindow) else { return nil }
    let columns = Dictionary(zip(outer.map { $0.lowercased() }, items)) { first, _ in first }
    if columns.count < items.count { return nil }
    let groupBy = try groupTerms(of: core).map { term in
      let name = term.lowercased()
      return names.contains(name) ? term : columns[name].map(Self.operand) ?? term
    }
    let grouping = groupBy.isEmpty ? "" : " GROUP BY \(groupBy.joined(separator: ", "))"
    // Each expression must be valid separately, because aliases of the SELECT do not exist any more.
    for item in items {
      let isRow = (try? compile("SELECT 1 FROM \(source) WHERE (\(item)) IS NULL", place: nil)) != nil
      if groupBy.isEmpty, !isRow { return nil }
      if !isRow { try compile("SELECT (\(item)) FROM \(source)\(grouping)", place: nil) }
    }
    if let filter = core.filter { try compile("SELECT 1 FROM \(source) WHERE (\(filter))", place: nil) }
    if let having = core.having { try compile("SELECT 1 FROM \(source)\(grouping) HAVING (\(having))", place: nil) }
    return FlatSource(
      core: core, from: clause, columns: columns, groupBy: groupBy, names: names.union(TableKey.rowidNames),
      shown: shown, isLimited: select.limit != nil)
  }

  /// The rows that the query shows, as offsets in the subquery's result without its LIMIT and OFFSET.
  ///
  /// - Returns: nil if the query counts, selects or sorts these rows.
  private func shown(of select: SelectStatement) throws(FreshetError) -> Range<Int>? {
    if select.limit == nil { return select.offset == nil ? fragments.shown : nil }
    guard let limit = select.limit.flatMap({ Int($0) }), let offset = Int(select.offset ?? "0"),
      min(limit, offset) >= 0,
      fragments.filter == nil, fragments.section == nil, fragments.totals.isEmpty, groups.isEmpty, !hasAggregate,
      !hasWindow, try isSorted(as: select)
    else { return nil }
    let first = min(fragments.shown.lowerBound, limit)
    let (end, isOver) = offset.addingReportingOverflow(min(limit, fragments.shown.upperBound))
    return isOver ? nil : offset + first..<end
  }

  /// Whether the query sorts its rows as its subquery does.
  private func isSorted(as select: SelectStatement) throws(FreshetError) -> Bool {
    let columns = ResultColumns(select.cores[0])
    let terms = select.orderBy.map { columns.name(ofTerm: $0) }
    guard terms.count == fragments.orderBy.count else { return false }
    for (term, own) in zip(terms, fragments.orderBy) {
      guard let term = try term.map({ text throws(FreshetError) in try SortTerm(SQLFragment(text, place: "orderBy")) }),
        term.isDescending == own.isDescending, term.nullsFirst == own.nullsFirst,
        term.expression.unquoted == own.expression.unquoted
      else { return false }
    }
    return true
  }

  /// The SELECT of a source that is a subquery or view, if the query uses all of its rows.
  func innerSelect(of source: FromClause.Source) -> SelectStatement? {
    guard let select = written(source)?.inlined, select.limit == nil, select.offset == nil else { return nil }
    return select
  }

  func written(_ source: FromClause.Source) -> SelectStatement? {
    if let select = source.select(in: from) { return select }
    guard let view = source.table.flatMap(schema.table), view.kind == .view, isPlain(source),
      checker.role.shadows[view.name.lowercased()]?.isRestricting != true
    else { return nil }
    return view.definition.flatMap { SelectStatement(ViewText($0).select) }
  }

  /// The expressions of the SELECT's columns, with each `*` expanded.
  func expressions(of core: SelectStatement.Core, _ from: String) throws(FreshetError) -> [String] {
    var result: [String] = []
    for expression in ResultColumns(core).expressions {
      guard expression.hasSuffix("*") else {
        result.append(expression)
        continue
      }
      let names = try compile("SELECT \(expression) FROM \(from)", place: nil).statement.columnNames
      result += names.map { expression.dropLast() + quotedIdentifier($0) }
    }
    return result
  }

  // MARK: - The query over its tables

  private func fragments(over inner: FlatSource) throws(FreshetError) -> QueryFragments? {
    let meant = try replacingNames { qualifier, name throws(FreshetError) in
      let isKnown = qualifier.map { isSameName($0, from.sources[0].name ?? "") } ?? true
      if isKnown, let meaning = inner.columns[name] { return Self.operand(meaning) }
      if qualifier != nil || inner.names.contains(name) { throw .badQuery("from") }
      return nil
    }
    guard var flat = meant else { return nil }
    flat.from = inner.from
    flat.shown = inner.shown
    let condition = flat.filter?.text
    if inner.groupBy.isEmpty {
      flat.filter = try conjunction(inner.core.filter, condition, "where")
    } else {
      flat.filter = try conjunction(inner.core.filter, nil, "where")
      flat.groupBy = try inner.groupBy.map { term throws(FreshetError) in try SQLFragment(term, place: "groupBy") }
      flat.having = try conjunction(inner.core.having, condition, "having")
    }
    return flat
  }

  /// The expression that replaces a name; nil if the name stays. Throws if the name would mean something else.
  typealias Meaning = (_ qualifier: String?, _ name: String) throws(FreshetError) -> String?

  /// All fragments except FROM, with names replaced by their expressions.
  ///
  /// - Returns: nil if a name would mean something else.
  func replacingNames(_ meaning: @escaping Meaning) throws(FreshetError) -> QueryFragments? {
    var flat = fragments
    let replace = { (fragment: SQLFragment) throws(FreshetError) in try fragment.replacingNames(meaning) }
    flat.filter = try fragments.filter.map(replace)
    flat.groupBy = try fragments.groupBy.map(replace)
    flat.having = try fragments.having.map(replace)
    flat.section = try fragments.section.map(replace)
    flat.sectionName = try fragments.sectionName.map(replace)
    flat.indexTitle = try fragments.indexTitle.map(replace)
    for index in flat.orderBy.indices where !isAlias(flat.orderBy[index].expression) {
      flat.orderBy[index].expression = try replace(flat.orderBy[index].expression)
    }
    for index in flat.totals.indices { flat.totals[index].fragment = try replace(flat.totals[index].fragment) }
    try setOutput(of: &flat) { sql throws(FreshetError) in try replace(SQLFragment(sql, place: "select")).text }
    // If a term is just a name, an alias of `select` takes precedence over a column of that name.
    let names = Set(output.map { $0.name.lowercased() })
    for (before, after) in zip(fragments.orderBy, flat.orderBy) where before.expression.text != after.expression.text {
      let column = after.expression.text
      guard after.expression.tokens.count == 1, let name = SQLFragment.name(of: column) else { continue }
      let isItself = flat.select.contains { $0.numbered.text == "\(column) AS \(quotedIdentifier(name))" }
      if names.contains(name.lowercased()), !isItself { return nil }
    }
    return flat
  }

  /// Makes fragments select the query's columns, with those of the key first.
  ///
  /// - Parameter replacement: the expression that replaces a column.
  func setOutput(
    of fragments: inout QueryFragments, _ replacement: (String) throws(FreshetError) -> String
  ) throws(FreshetError) {
    // The single row of an aggregate without groups has a key of its own.
    let hasOwnKey = hasAggregate && groups.isEmpty && fragments.key.isEmpty
    var columns: [(written: SQLFragment, numbered: SQLFragment)] = []
    for column in output.dropFirst(hasOwnKey ? 1 : 0) {
      let sql = try replacement(column.sql)
      let item = try SQLFragment("\(sql) AS \(quotedIdentifier(column.name))", place: "select")
      columns.append((item, item))
    }
    fragments.select = columns
    fragments.key = hasOwnKey ? [] : Array(columns.prefix(keyCount))
  }

  private func conjunction(_ left: String?, _ right: String?, _ place: String) throws(FreshetError) -> SQLFragment? {
    let parts = [left, right].compactMap(\.self)
    if parts.isEmpty { return nil }
    return try SQLFragment(parts.count == 1 ? parts[0] : "(\(parts[0])) AND (\(parts[1]))", place: place)
  }

  /// Whether the term is just an alias of `select`.
  private func isAlias(_ term: SQLFragment) -> Bool {
    term.tokens.count == 1 && term.name(of: term.tokens[0]).map { aliases[$0.lowercased()] != nil } == true
  }

  /// Puts an expression in parentheses, but not a column, which would become an expression without a collation of its
  /// own.
  private static func operand(_ sql: String) -> String {
    let tokenizer = SQLTokenizer(sql)
    let isColumn = tokenizer.allSatisfy {
      [.identifier, .quotedIdentifier].contains($0.kind) || tokenizer.text(of: $0) == "."
    }
    return isColumn ? sql : "(\(sql))"
  }
}

extension SQLFragment {
  func replacingNames(_ meaning: QueryCompiler.Meaning) throws(FreshetError) -> SQLFragment {
    var replacements: [Int: String] = [:]
    for index in tokens.indices {
      guard let name = name(of: tokens[index])?.lowercased() else { continue }
      let isQualified = index > 1 && text(of: tokens[index - 1]) == "."
      let isReference = isQualified || isLoneName(at: index)
      guard isReference, let new = try meaning(isQualified ? self.name(of: tokens[index - 2]) : nil, name) else {
        continue
      }
      replacements[index] = new
      var first = index
      while first > 1, text(of: tokens[first - 1]) == "." { first -= 2 }
      for part in first..<index { replacements[part] = "" }
    }
    return replacements.isEmpty ? self : try SQLFragment(replacing { replacements[$0] }, place: place)
  }

  /// The words of the fragment, with names unquoted and in lower case.
  fileprivate var unquoted: [String] { tokens.map { name(of: $0)?.lowercased() ?? text(of: $0) } }
}

extension String {
  fileprivate var hasSubquery: Bool { (try? SQLFragment(self, place: ""))?.hasSubquery ?? true }
}

extension SelectStatement.Core {
  /// Whether it returns rows or groups of FROM unchanged, or distinct ones.
  var isRows: Bool {
    from != nil && values == nil && windows == nil && (having == nil || !groupBy.isEmpty)
      && (!isDistinct || groupBy.isEmpty)
  }
}
