import LiveQuery

// What `select` and `key` name.
extension QueryCompiler {
  struct OutputColumn {
    var name: String
    var sql: String
    var dependencies: ColumnMask
    /// The column of the table that it is, in lower case, when it is nothing else.
    var tableColumn: String?
  }

  mutating func selectedColumns() throws(FreshetError) -> [OutputColumn] {
    if query.select.isEmpty { return try allColumns(place: "select") }
    var columns: [OutputColumn] = []
    for (index, text) in query.select.enumerated() {
      let place = "select[\(index)]"
      let fragment = try SQLFragment(text, place: place)
      if fragment.text(of: fragment.tokens[fragment.tokens.count - 1]) == "*", [1, 3].contains(fragment.tokens.count) {
        _ = try checker.compile("SELECT \(text) FROM \(reference.sql)", place: place)
        columns += try allColumns(place: place)
      } else {
        columns.append(try selected(fragment))
      }
    }
    return columns
  }

  private mutating func allColumns(place: String) throws(FreshetError) -> [OutputColumn] {
    var columns: [OutputColumn] = []
    for name in table.columns { columns.append(try tableColumn(name, place: place)) }
    return columns
  }

  private mutating func tableColumn(_ name: String, place: String) throws(FreshetError) -> OutputColumn {
    let (sql, dependencies) = try expression("\(reference.qualifier).\(quotedIdentifier(name))", place: place)
    return OutputColumn(name: name, sql: sql, dependencies: dependencies, tableColumn: name.lowercased())
  }

  /// `expression`, `expression AS name` or `expression name`: SQLite tells which, by what it accepts.
  private mutating func selected(_ fragment: SQLFragment) throws(FreshetError) -> OutputColumn {
    let count = fragment.tokens.count
    let hasAs = count > 2 && fragment.keyword(at: count - 2) == "AS"
    var body = fragment
    if hasAs {
      body = try fragment.prefix(count - 2)
    } else if count > 1, isAlias(fragment) {
      body = try fragment.prefix(count - 1)
    }
    let (sql, dependencies) = try expression(body)
    // The name is SQLite's, of the fragment as it was written.
    let name = try checker.compile("SELECT \(fragment.text) FROM \(reference.sql)", place: fragment.place)
      .statement.columnNames
    guard name.count == 1 else { throw .badQuery("\(fragment.place) must be one column") }
    if body.tokens.count < count { aliases[name[0].lowercased()] = sql }
    return OutputColumn(name: name[0], sql: sql, dependencies: dependencies, tableColumn: columnName(body))
  }

  /// Whether the last token is a name that the tokens before it are given.
  private func isAlias(_ fragment: SQLFragment) -> Bool {
    let last = fragment.tokens.count - 1
    guard fragment.tokens[last].kind == .string || fragment.isLoneName(at: last) else { return false }
    let whole = "SELECT 1 FROM \(reference.sql) WHERE (\(fragment.text)) IS NULL"
    if (try? checker.compile(whole, place: nil)) != nil { return false }
    return (try? checker.compile("SELECT \(fragment.text) FROM \(reference.sql)", place: nil)) != nil
  }

  /// The column that a fragment names and nothing else: `name`, `table.name` or `main.table.name`.
  private func columnName(_ fragment: SQLFragment) -> String? {
    let tokens = fragment.tokens
    let dots = stride(from: 1, to: tokens.count, by: 2).allSatisfy { fragment.text(of: tokens[$0]) == "." }
    guard [1, 3, 5].contains(tokens.count), dots, let name = tokens.last.flatMap(fragment.name(of:)) else { return nil }
    if isColumn(name) || table.key.names.contains(where: { isSameName($0, name) }) { return name.lowercased() }
    // All names of the rowid mean the key.
    if case .rowid(let alias) = table.key, TableShape.isRowidName(name) { return alias.lowercased() }
    return nil
  }

  /// Moves the key's columns to the front, adding those that are not selected.
  ///
  /// - Returns: how many there are, and whether they are the table's own key.
  mutating func putKeyFirst(
    _ columns: inout [OutputColumn]
  ) throws(FreshetError) -> (count: Int, isBase: Bool) {
    let base = table.key.names.map { $0.lowercased() }
    var key: [OutputColumn] = []
    if query.key.isEmpty {
      for name in table.key.names { key.append(try tableColumn(name, place: "key")) }
    } else {
      for (index, text) in query.key.enumerated() { key.append(try keyColumn(text, place: "key[\(index)]", columns)) }
    }
    for index in key.indices {
      let name = key[index]
      let match = columns.firstIndex { column in
        column.sql == name.sql || (column.tableColumn != nil && column.tableColumn == name.tableColumn)
      }
      guard let match else { continue }
      key[index] = columns.remove(at: match)
    }
    columns = key + columns
    return (key.count, key.map(\.tableColumn) == base.map(Optional.some))
  }

  /// A key is an expression, or the name that `select` gave to one.
  private mutating func keyColumn(
    _ text: String, place: String, _ columns: [OutputColumn]
  ) throws(FreshetError) -> OutputColumn {
    if let named = columns.first(where: { isSameName($0.name, text) }), named.tableColumn == nil { return named }
    return try selected(try SQLFragment(text, place: place))
  }

  func checkNames(_ columns: [OutputColumn]) throws(FreshetError) {
    var names: Set<String> = []
    for column in columns where !names.insert(column.name).inserted {
      throw .badQuery("two columns are named \(column.name): use AS")
    }
  }

  /// Keys that sort otherwise than by their bytes break ties by their collation first.
  func keyTies(
    _ key: ArraySlice<OutputColumn>
  ) throws(FreshetError) -> [(column: Int, order: FieldOrder)] {
    var ties: [(column: Int, order: FieldOrder)] = []
    for (index, column) in key.enumerated() {
      let collation = try checker.collation(of: column.sql, from: reference.sql, place: "key[\(index)]")
      ties.append((index, FieldOrder(collation: collation)))
    }
    // The identity that follows has them all under BINARY already.
    return ties.allSatisfy { $0.order == .identity } ? [] : ties
  }
}
