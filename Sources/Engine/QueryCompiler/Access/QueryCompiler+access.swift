import LiveQuery
import Store

// Handles tables that a role may read only in part. No SQL is rewritten for them, because only SQLite knows for certain
// what a name means. A client's SQL is compiled on a connection of the role, on which temporary views replace the
// tables. Views are used because SQLite's authorizer reports the columns of views, but not those of common table
// expressions, and a list can be incremental only if the columns that it depends on are known. The statement that runs
// is compiled once more, with shadows in front (`TableShadow`), under an authorizer that lets only a shadow read its
// table (`StatementAudit`).
//
// - Columns that a filter reads are added to the query's dependencies. A change of another table that the filter reads
//   runs the query again.
// - The statements that lead from changed rows to units see all rows, because a row that may no longer be read still
//   concerns the clients that have it.
// - Claims are parameters, and the claims that a query reads are a part of its identity (`Query.Access.read`). So a
//   thousand customers with the same query over unfiltered tables share one list. Over filtered tables they have a
//   thousand lists of one shape, and an equality in the filter routes changes to them as an equality in `where` does.
extension QueryCompiler {
  /// Columns that filters on the query's tables read.
  struct FilterReads {
    /// All columns that filters read, by lower-case name of the table.
    var masks: [String: ColumnMask] = [:]
    /// The filters with their parameters numbered, by lower-case name of the filtered table.
    var filters: [String: SQLFragment] = [:]
  }

  /// A shadow's filter with the numbers of the claims' parameters.
  private func numbered(_ filter: SQLFragment) throws(FreshetError) -> SQLFragment {
    let sql = try filter.replacing { index throws(FreshetError) in
      let token = filter.tokens[index]
      guard token.kind == .parameter else { return nil }
      // The claims that a query reads are determined before it is compiled, and a view may have changed since then.
      guard let number = fragments.claims[String(filter.text(of: token).dropFirst())] else {
        throw FreshetError(.schemaChanged, "a view has changed: ask again")
      }
      return number
    }
    return try SQLFragment(sql, place: filter.place)
  }

  /// - Parameter texts: SQL that names the tables.
  mutating func readFilters(of texts: [String]) throws(FreshetError) -> FilterReads {
    var result = FilterReads()
    for shadow in checker.role.shadows(for: texts) {
      guard let filter = shadow.filter else { continue }
      let numbered = try numbered(filter)
      let reads: Set<FragmentChecker.ColumnRead>
      do throws(FreshetError) {
        reads = try checker.compileFilter(shadow.filterSQL(numbered.text))
      } catch {
        // The filter's text is hidden from clients, because it may contain names that they must not know.
        throw FreshetError(.internal, "the rows of \(shadow.name) that may be read cannot be determined")
      }
      let table = shadow.name.lowercased()
      result.filters[table] = numbered
      result.masks.formUnion(masks(of: reads))
      let others = reads.lazy.map { $0.table.lowercased() }.filter { $0 != table }
      nested.formUnion(others)
      unmapped.formUnion(others)
      if numbered.hasSubquery { noteUnmapped(numbered, numbered.tokens.indices, in: checker.role.whole) }
    }
    return result
  }

  /// The SQL of a statement as it is run, with shadows in front.
  ///
  /// - Parameters:
  ///   - isFiltered: whether the filters apply. Statements that lead from changed rows to units see all rows, because a
  ///     row that may no longer be read still concerns clients that have it.
  ///   - isChecked: whether the statement can be compiled here. Tables of changed rows exist only on the connection
  ///     that runs it.
  ///   - texts: the texts that name the statement's tables; nil for the SQL itself. They are given if the SQL contains
  ///     a filter, which names tables that the client does not name.
  func executed(
    _ sql: String, isFiltered: Bool = true, isChecked: Bool = true, naming texts: [String]? = nil
  ) throws(FreshetError) -> String {
    let shadows = checker.role.shadows(for: texts ?? [sql])
    if shadows.isEmpty { return sql }
    var expressions: [String] = []
    let mayFail = isFiltered && FailingCalls.areIn(sql)
    for shadow in shadows {
      let filter = isFiltered ? try shadow.filter.map { filter throws(FreshetError) in try numbered(filter).text } : nil
      expressions.append(shadow.expression(filter: filter, isFirst: mayFail))
    }
    let list = expressions.joined(separator: ", ")
    let with = "WITH "
    let result = sql.hasPrefix(with) ? "\(with)\(list), \(sql.dropFirst(with.count))" : "\(with)\(list) \(sql)"
    if isChecked { try checker.compile(result, place: nil, mayChange: mayChange, for: .executing) }
    return result
  }

  func executed(_ mapping: UnitMapping) throws(FreshetError) -> UnitMapping {
    var result = mapping
    if let sql = mapping.newSQL { result.newSQL = try executed(sql, isFiltered: false) }
    if let sql = mapping.oldSQL { result.oldSQL = try executed(sql, isFiltered: false) }
    return result
  }

  /// The name of a table in SQL that reads only what the client may read of it.
  func reference(to table: DatabaseSchema.Table) -> String {
    isShadowed(table) ? quotedIdentifier(table.name) : "main.\(quotedIdentifier(table.name))"
  }

  func isShadowed(_ table: DatabaseSchema.Table) -> Bool { checker.role.shadows[table.name.lowercased()] != nil }

  /// Names of columns that `*` includes for shadows but not for their tables.
  var unlistedNames: Set<String> {
    var names: Set<String> = []
    for table in from.sources.compactMap({ $0.table.flatMap(schema.table) }) where isShadowed(table) {
      for column in table.unlistedColumns { names.insert(SQLFragment.name(of: column)?.lowercased() ?? column) }
    }
    for table in from.sources.compactMap({ $0.table.flatMap(schema.table) }) {
      names.subtract(table.visibleNames.map { $0.lowercased() })
    }
    return names
  }
}

extension [String: ColumnMask] {
  mutating func formUnion(_ other: [String: ColumnMask]) {
    merge(other) { ColumnMask(rawValue: $0.rawValue | $1.rawValue) }
  }
}
