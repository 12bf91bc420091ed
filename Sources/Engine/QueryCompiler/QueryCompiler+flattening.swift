import LiveQuery
import Store

// Flattening: a query over one subquery, or one view, as the same query over the tables of that.
//
//     SELECT nation, sum(volume)
//       FROM (SELECT n_name AS nation, price * (1 - discount) AS volume FROM item JOIN nation …) GROUP BY nation
//     SELECT n_name, sum((price * (1 - discount))) FROM item JOIN nation … GROUP BY n_name
// The subquery's expressions replace its columns, as in SQLite itself, so that all ways of following queries over
// tables work for it. Where a subquery makes groups, the condition on its rows becomes HAVING. Doubtful cases are not
// flattened: names in subqueries of the outer query, and names that would mean a column of the tables.
extension QueryCompiler {
  /// The subquery, or view, that a query reads.
  private struct FlatSource {
    let core: SelectStatement.Core
    let from: FromClause
    /// The source's columns as expressions over `from`, by lower-case name.
    let columns: [String: String]
    let groupBy: [String]
    /// Lower-case names that mean something in `from`.
    let names: Set<String>
    /// The rows that are shown of all of these, and whether it leaves some itself.
    let shown: Range<Int>
    let isLimited: Bool
  }

  /// - Parameter plain: the query as it was asked.
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

  /// Whether one of its own expressions has a subquery.
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
    // Each means something by itself: names that the SELECT gives are gone.
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

  /// The rows that are shown of all that a subquery would have without LIMIT and OFFSET.
  ///
  /// - Returns: nil where something counts, chooses or sorts those that these leave.
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

  /// Whether the query sorts its rows as the subquery in its place does.
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

  /// The SELECT that stands in a source's place, or that its view is, if all of its rows count.
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

  /// The expressions of its columns, with each `*` expanded.
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

  /// The expression for a name; nil: the name stays. Throws where it would mean something else.
  typealias Meaning = (_ qualifier: String?, _ name: String) throws(FreshetError) -> String?

  /// All fragments but FROM, with what names stand for in their place.
  ///
  /// - Returns: nil where a name would mean something else.
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
    // Alone, a name of `select` comes before a column of that name.
    let names = Set(output.map { $0.name.lowercased() })
    for (before, after) in zip(fragments.orderBy, flat.orderBy) where before.expression.text != after.expression.text {
      let column = after.expression.text
      guard after.expression.tokens.count == 1, let name = SQLFragment.name(of: column) else { continue }
      let isItself = flat.select.contains { $0.numbered.text == "\(column) AS \(quotedIdentifier(name))" }
      if names.contains(name.lowercased()), !isItself { return nil }
    }
    return flat
  }

  /// Lets fragments give the query's columns, those of the key first.
  ///
  /// - Parameter replacement: the expression that replaces a column.
  func setOutput(
    of fragments: inout QueryFragments, _ replacement: (String) throws(FreshetError) -> String
  ) throws(FreshetError) {
    // The one row of an aggregate over everything has a key of its own.
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

  /// Whether it is a name that `select` gives, and nothing else.
  private func isAlias(_ term: SQLFragment) -> Bool {
    term.tokens.count == 1 && term.name(of: term.tokens[0]).map { aliases[$0.lowercased()] != nil } == true
  }

  /// A column by itself keeps what it is: in parentheses it would be an expression.
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

  /// Its words, in lower case where they are names.
  fileprivate var unquoted: [String] { tokens.map { name(of: $0)?.lowercased() ?? text(of: $0) } }
}

extension String {
  fileprivate var hasSubquery: Bool { (try? SQLFragment(self, place: ""))?.hasSubquery ?? true }
}

extension SelectStatement.Core {
  /// Whether it gives rows, or groups, of FROM as they are, or such that are distinct.
  var isRows: Bool {
    from != nil && values == nil && windows == nil && (having == nil || !groupBy.isEmpty)
      && (!isDistinct || groupBy.isEmpty)
  }
}
