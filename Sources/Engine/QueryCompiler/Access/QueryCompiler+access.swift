import LiveQuery
import Store

// Tables that a role may read only in part.
// No SQL is rewritten for them: SQLite knows what a name means, and any other resolver of names will be wrong
// somewhere. SQL of a client is compiled on a connection of the role's own, on which temporary views replace the
// tables, because SQLite's authorizer reports columns of views and not those of common table expressions, and which
// columns a list depends on is what makes it incremental. The statement that runs is compiled once more, with shadows
// in front (`TableShadow`), under an authorizer that lets only a shadow read its table (`StatementAudit`).
//
// - Reads of a filter are added to the query's dependencies; a change of another table that it reads runs the query
//   again.
// - The statements that lead from changed rows to units see all rows: a row that may no longer be read concerns the
//   clients that have it.
// - Claims are parameters, and which of them a query reads is a part of what it is (`Query.Access.read`). So a thousand
//   customers with one query over unfiltered tables share one list, and over filtered ones they have a thousand lists
//   of one shape, to which an equality in the filter routes changes as one in `where` does.
extension QueryCompiler {
  /// Columns that filters on the query's tables read.
  struct FilterReads {
    /// All that they read, by lower-case name of the table.
    var masks: [String: ColumnMask] = [:]
    /// By lower-case name of the filtered table, the filter with its parameters numbered.
    var filters: [String: SQLFragment] = [:]
  }

  /// The filter of a shadow with the claims' numbers.
  private func numbered(_ filter: SQLFragment) throws(FreshetError) -> SQLFragment {
    let sql = try filter.replacing { index throws(FreshetError) in
      let token = filter.tokens[index]
      guard token.kind == .parameter else { return nil }
      // A query's reads are found before it is compiled; a view may read something else since then.
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
        // Its text is the operator's, and may name what clients must not know.
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

  /// A statement as it runs.
  ///
  /// - Parameters:
  ///   - isFiltered: whether rows are held back. Statements that lead from changed rows to units see all rows: a row
  ///     that may not be read any more concerns those who have it.
  ///   - isChecked: whether it can be compiled here: tables of changed rows are there where it runs.
  ///   - texts: the text that names its tables; nil: the SQL itself. A filter in it names tables that the client does
  ///     not.
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

  /// The table's name in SQL that sees no more of it than the client may.
  func reference(to table: DatabaseSchema.Table) -> String {
    isShadowed(table) ? quotedIdentifier(table.name) : "main.\(quotedIdentifier(table.name))"
  }

  func isShadowed(_ table: DatabaseSchema.Table) -> Bool { checker.role.shadows[table.name.lowercased()] != nil }

  /// Names that `*` gives of shadows, and would not of their tables.
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
