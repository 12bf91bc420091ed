package import LiveQuery
import Store

/// Selects the captured changes of one table's rows that a client requested.
package struct ChangesStatement: Sendable {
  /// The SQL over the virtual table of captured rows. It selects the rows that the client may see, with the key's
  /// columns first.
  package var sql: String
  package var columns: [String]
  /// The number of columns of the key.
  package var keyCount: Int
  /// For each column of the key, whether the client requested it.
  package var isKeyAsked: [Bool]
  /// Whether the role may read only some of the rows.
  package var isFilteredByRole: Bool
  /// The values of its parameters.
  package var values: [SQLValue]
}

extension QueryCompiler {
  /// Checks a client's request for a table's changes in the same way as a query.
  ///
  /// - Parameter query: a query of one table, columns of it, and a condition.
  /// - Throws: `FreshetError` with the code and the message for the client.
  package static func compileChanges(
    _ query: Query, checker: FragmentChecker
  ) throws(FreshetError) -> ChangesStatement {
    try checker.refreshSchema()
    return try checker.compilingQuery { () throws(FreshetError) in
      var compiler = try QueryCompiler(query, checker: checker)
      return try compiler.compileChanges()
    }
  }

  private mutating func compileChanges() throws(FreshetError) -> ChangesStatement {
    guard let table = baseTable, table.kind == .table, table.storage != nil, let qualifier = from.sources[0].qualifier
    else { throw .badQuery("\(query.from) is no table: changes are those of tables") }
    guard let key = table.key else { throw .badQuery("\(query.from) has no key that may be read") }
    unit = .baseKey(key.names)
    var columns = try selectedColumns()
    let asked = Set(columns.map { $0.name.lowercased() })
    var filter: String?
    if let fragment = fragments.filter { filter = try expression(fragment, isRow: true).sql }
    if hasAggregate || hasWindow { throw .badQuery("where: changes of single rows have no aggregates") }
    if nested.contains(table.name.lowercased()) || fragments.rowTexts.contains(where: QueryCompiler.namesSchema) {
      throw .badQuery("where: a subquery over \(table.name) itself has no meaning for one changed row")
    }
    let keyCount = try putKeyFirst(&columns).count
    try checkNames(columns)
    let selected = "SELECT " + columns.map { "\($0.sql) AS \(quotedIdentifier($0.name))" }.joined(separator: ", ")
    let condition = filter.map { " WHERE (\($0))" } ?? ""
    try compile("\(selected) FROM \(fromSQL)\(condition)", place: nil)
    return ChangesStatement(
      sql: try changesSQL(selected, condition, table, qualifier), columns: columns.map(\.name), keyCount: keyCount,
      isKeyAsked: columns.prefix(keyCount).map { asked.contains($0.name.lowercased()) },
      isFilteredByRole: filterReads.filters[table.name.lowercased()] != nil,
      values: CompiledQuery.values(fragments.parameterNames, of: query))
  }

  private func changesSQL(
    _ selected: String, _ condition: String, _ table: DatabaseSchema.Table, _ qualifier: String
  ) throws(FreshetError) -> String {
    let shadows = checker.role.shadows(for: fragments.rowTexts)
    guard shadows.contains(where: { isSameName($0.name, table.name) }) else {
      let sql = "\(selected) FROM \(CapturedRows.reference(to: table.name)) AS \(qualifier)\(condition)"
      return try executed(sql, isChecked: false, naming: fragments.rowTexts)
    }
    let expressions = shadows.map { shadow in
      let filter = filterReads.filters[shadow.name.lowercased()]?.text
      return isSameName(shadow.name, table.name)
        ? shadow.capturedExpression(filter: filter, isFirst: true) : shadow.expression(filter: filter, isFirst: true)
    }
    return "WITH \(expressions.joined(separator: ", ")) \(selected) FROM \(fromSQL)\(condition)"
  }
}
