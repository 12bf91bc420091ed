import LiveQuery
import Store

// Reads the columns that `select` and `key` name.
extension QueryCompiler {
  struct OutputColumn {
    var name: String
    var sql: String
    var reads: Set<FragmentChecker.ColumnRead>
    /// The table's column, if the expression is just a column.
    var reference: ColumnReference?
  }

  /// A column of one of the tables in `from`. Names are in lower case. A rowid that is the key has the name of the
  /// key's column.
  struct ColumnReference: Equatable {
    var source: Int
    var column: String
  }

  mutating func selectedColumns() throws(FreshetError) -> [OutputColumn] {
    if fragments.select.isEmpty { return try allColumns(ofSource: 0, place: "select") }
    var columns: [OutputColumn] = []
    for (written, numbered) in fragments.select {
      if numbered.text(of: numbered.tokens[numbered.tokens.count - 1]) == "*", [1, 3].contains(numbered.tokens.count) {
        columns += try starred(numbered)
      } else {
        columns.append(try selected(written, numbered))
      }
    }
    return columns
  }

  /// Expands `*` and `table.*`.
  private mutating func starred(_ fragment: SQLFragment) throws(FreshetError) -> [OutputColumn] {
    let names = try compile("SELECT \(fragment.text) FROM \(fromSQL)", place: fragment.place).statement.columnNames
    if fragment.tokens.count == 1, from.sources.count != 1 || from.isNatural {
      // With several tables, SQLite reports a name that two of them have.
      return try columns(names, qualifier: nil, place: fragment.place)
    }
    let qualifier = fragment.tokens.count == 3 ? fragment.text(of: fragment.tokens[0]) : from.sources[0].qualifier
    return try columns(names, qualifier: qualifier, place: fragment.place)
  }

  /// The names of `SELECT *`, without columns that SQLite cannot compute here.
  func allNames(of from: String, place: String) throws(FreshetError) -> [String] {
    do throws(FreshetError) {
      return try compile("SELECT * FROM \(from)", place: place).statement.columnNames
    } catch {
      let tables = self.from.sources.compactMap { $0.table.flatMap(schema.table) }
      guard tables.contains(where: { !$0.unreadable.isEmpty }) else { throw error }
      try compile("SELECT 1 FROM \(from)", place: place)
      let sources = self.from.sources.prefix(from == fromSQL ? self.from.sources.count : 1)
      return sources.flatMap { $0.table.flatMap(schema.table)?.visibleNames ?? [] }
    }
  }

  private mutating func allColumns(ofSource index: Int, place: String) throws(FreshetError) -> [OutputColumn] {
    guard let source = from.sources.first else {
      return try columns(
        try allNames(of: fromSQL, place: place), qualifier: nil, place: place)
    }
    let first = try from.prefix(through: index) { _ in nil }
    let names = try allNames(of: first, place: place)
    return try columns(names, qualifier: source.qualifier, place: place)
  }

  private mutating func columns(
    _ names: [String], qualifier: String?, place: String
  ) throws(FreshetError) -> [OutputColumn] {
    var columns: [OutputColumn] = []
    let unlisted = unlistedNames
    for name in names where !unlisted.contains(name.lowercased()) {
      let text = (qualifier.map { "\($0)." } ?? "") + quotedIdentifier(name)
      let fragment = try SQLFragment(text, place: place)
      let expression = try expression(fragment)
      columns.append(
        OutputColumn(name: name, sql: expression.sql, reads: expression.reads, reference: reference(fragment)))
    }
    return columns
  }

  /// The expression of `expression`, `expression AS name` or `expression name`, whichever SQLite accepts.
  func body(of fragment: SQLFragment) throws(FreshetError) -> SQLFragment {
    let count = fragment.tokens.count
    if count > 2, fragment.keyword(at: count - 2) == "AS" { return try fragment.prefix(count - 2) }
    return count > 1 && isAlias(fragment) ? try fragment.prefix(count - 1) : fragment
  }

  private mutating func selected(
    _ written: SQLFragment, _ numbered: SQLFragment
  ) throws(FreshetError) -> OutputColumn {
    let body = try body(of: numbered)
    let expression = try expression(body)
    // The name is the one that SQLite gives to the fragment as it was written.
    let names = try compile("SELECT \(written.text) FROM \(fromSQL)", place: written.place).statement.columnNames
    guard names.count == 1 else { throw .badQuery("\(written.place) must be one column") }
    if body.tokens.count < numbered.tokens.count { aliases[names[0].lowercased()] = expression.sql }
    return OutputColumn(
      name: names[0], sql: expression.sql, reads: expression.reads, reference: reference(body))
  }

  /// Whether the last token is an alias for the tokens before it.
  private func isAlias(_ fragment: SQLFragment) -> Bool {
    let last = fragment.tokens.count - 1
    guard fragment.tokens[last].kind == .string || fragment.isLoneName(at: last) else { return false }
    if (try? compile("SELECT 1, (\(fragment.text)) FROM \(fromSQL)", place: nil)) != nil { return false }
    return (try? compile("SELECT \(fragment.text) FROM \(fromSQL)", place: nil)) != nil
  }

  /// The column that a fragment consists of: `name`, `table.name` or `main.table.name`.
  func reference(_ fragment: SQLFragment) -> ColumnReference? {
    let tokens = fragment.tokens
    let dots = stride(from: 1, to: tokens.count, by: 2).allSatisfy { fragment.text(of: tokens[$0]) == "." }
    guard [1, 3, 5].contains(tokens.count), dots, let name = tokens.last.flatMap(fragment.name(of:)) else { return nil }
    let qualifier = tokens.count > 1 ? fragment.name(of: tokens[tokens.count - 3]) : nil
    for (index, source) in from.sources.enumerated() {
      if let qualifier, !isSameName(qualifier, source.name ?? "") { continue }
      // SQLite has checked that only one table has a column of this name.
      guard let table = source.table.flatMap(schema.table), let column = table.referred(name) else { continue }
      return ColumnReference(source: index, column: column)
    }
    return nil
  }

  /// The columns of a key as they are in `from`'s first table.
  private func references(toKey names: [String]) -> [ColumnReference?] {
    names.map { ColumnReference(source: 0, column: $0.lowercased()) }
  }

  /// Whether `groupBy` has every column of the first table's key, so that each group has only one row of that table.
  var isGroupedByBaseKey: Bool {
    guard let key = baseTable?.key, !groups.isEmpty else { return false }
    let grouped = fragments.groupBy.map(reference)
    return references(toKey: key.names).allSatisfy(grouped.contains)
  }

  /// The first table, if it is an ordinary table.
  var baseTable: DatabaseSchema.Table? {
    guard let table = from.sources.first?.table.flatMap(schema.table), table.kind == .table else { return nil }
    return table
  }

  var basePrefix: String { (try? from.prefix(through: 0) { _ in nil }) ?? fromSQL }
}

// The key.
extension QueryCompiler {
  /// Moves the key's columns to the front, and adds those that are not selected.
  ///
  /// - Returns: the number of key columns, and whether they are the unit.
  mutating func putKeyFirst(
    _ columns: inout [OutputColumn]
  ) throws(FreshetError) -> (count: Int, isUnit: Bool) {
    var key: [OutputColumn] = []
    if fragments.key.isEmpty {
      key = try defaultKey(columns)
    } else {
      for (written, numbered) in fragments.key { key.append(try keyColumn(written, numbered, columns)) }
    }
    for index in key.indices {
      let name = key[index]
      let match = columns.firstIndex { column in
        column.sql == name.sql || (column.reference != nil && column.reference == name.reference)
      }
      guard let match else { continue }
      key[index] = columns.remove(at: match)
    }
    columns = key + columns
    return (key.count, isUnit(key))
  }

  /// The default key of a query over one table, and the name of the rowid, if the key is a primary key that may contain
  /// NULL. (SQLite allows several rows with NULL in a primary key that is not declared NOT NULL. The rowid
  /// distinguishes them.)
  var nullableKey: (columns: [String], rowid: String)? {
    guard fragments.key.isEmpty, groups.isEmpty, !hasAggregate, from.sources.count == 1, let table = baseTable,
      case .columns(let names)? = table.key, table.storage?.isWithoutRowid == false,
      let rowid = TableKey.rowidNames.first(where: { !table.hasColumn($0) })
    else { return nil }
    let nullable = names.filter { name in !table.columns.contains { isSameName($0.name, name) && $0.isNotNull } }
    return nullable.isEmpty ? nil : (names, rowid)
  }

  /// Whether several rows of the table have the same key with NULL in it at present. The primary key's index finds
  /// them.
  func hasDuplicateKeys() throws(FreshetError) -> Bool {
    guard let table = baseTable, let key = nullableKey else { return false }
    let columns = key.columns.map(quotedIdentifier)
    return try checker.givesRow(
      """
      SELECT 1 FROM main.\(quotedIdentifier(table.name)) WHERE \(columns.map { "\($0) IS NULL" }.joined(separator: " OR ")) \
      GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1
      """)
  }

  private func isUnit(_ key: [OutputColumn]) -> Bool {
    switch unit {
    case .none, .partitions, .inner: false
    case .everything: key.map(\.sql) == ["1"]
    case .baseKey(let names): key.map(\.reference) == references(toKey: names)
    case .groups: key.map(\.sql) == groups.map(\.sql) && groups.allSatisfy { $0.order == .identity }
    }
  }

  /// - Parameter columns: the selected columns.
  private mutating func defaultKey(_ columns: [OutputColumn]) throws(FreshetError) -> [OutputColumn] {
    if !groups.isEmpty, !isGroupedByBaseKey {
      var key: [OutputColumn] = []
      for fragment in fragments.groupBy { key.append(try selected(fragment, fragment)) }
      return key
    }
    if hasAggregate, groups.isEmpty { return [OutputColumn(name: "key", sql: "1", reads: [], reference: nil)] }
    guard let base = from.sources.first else { throw .badQuery("key is needed: a subquery has no key of its own") }
    let qualifier = base.qualifier
    if let names = try keyNames(of: base) { return try keyColumns(named: names, qualifier, among: columns) }
    if isKeyedByRowid, let name = nullableKey?.rowid { return [try keyColumn(named: name, qualifier)] }
    if let key = baseTable?.key { return try keyColumns(named: key.names, qualifier) }
    if let table = base.table.flatMap(schema.table), table.kind == .virtual {
      return [try keyColumn(named: "rowid", qualifier)]
    }
    throw .badQuery("key is needed: \(base.table ?? base.name ?? "a subquery") has no key of its own")
  }

  /// - Parameter selected: the selected columns. They are matched by name, because no schema describes the columns of a
  ///   subquery.
  private mutating func keyColumns(
    named names: [String], _ qualifier: String?, among selected: [OutputColumn] = []
  ) throws(FreshetError) -> [OutputColumn] {
    var columns: [OutputColumn] = []
    for name in names {
      var column = try keyColumn(named: name, qualifier)
      let written = [name, quotedIdentifier(name)].flatMap { [$0, "\(qualifier ?? "").\($0)"] }.map { $0.lowercased() }
      if let known = selected.first(where: { written.contains($0.sql.lowercased()) }) { column = known }
      columns.append(column)
    }
    return columns
  }

  private mutating func keyColumn(named name: String, _ qualifier: String?) throws(FreshetError) -> OutputColumn {
    let isRowid = TableKey.isRowidName(name) && baseTable?.hasColumn(name) != true
    let text = "\(qualifier.map { "\($0)." } ?? "")\(isRowid ? name : quotedIdentifier(name))"
    let fragment = try SQLFragment(text, place: "key")
    let expression = try expression(fragment)
    return OutputColumn(name: name, sql: expression.sql, reads: expression.reads, reference: reference(fragment))
  }

  /// Reads a term of `key`, which is an expression, or a name that `select` gave to one.
  private mutating func keyColumn(
    _ written: SQLFragment, _ numbered: SQLFragment, _ columns: [OutputColumn]
  ) throws(FreshetError) -> OutputColumn {
    let name = numbered.tokens.count == 1 ? numbered.name(of: numbered.tokens[0]) : nil
    let named = columns.first { column in
      name.map { isSameName(column.name, $0) && (column.reference == nil || !isColumn($0)) } == true
    }
    if let named { return named }
    return try selected(written, numbered)
  }

  func checkNames(_ columns: [OutputColumn]) throws(FreshetError) {
    var names: Set<String> = []
    for column in columns where !names.insert(column.name).inserted {
      throw .badQuery("two columns are named \(column.name): use AS")
    }
  }

  /// How keys break ties: key columns that are not BINARY break ties by their collation first.
  func keyTies(
    _ key: ArraySlice<OutputColumn>
  ) throws(FreshetError) -> [(column: Int, order: FieldOrder)] {
    var ties: [(column: Int, order: FieldOrder)] = []
    for (index, column) in key.enumerated() {
      ties.append((index, FieldOrder(collation: try collation(of: column.sql, place: "key[\(index)]"))))
    }
    // If all columns are BINARY, the identity that follows has the same order already.
    return ties.allSatisfy { $0.order == .identity } ? [] : ties
  }
}

extension DatabaseSchema.Table {
  /// The column with a name, in lower case. All names of the rowid refer to the key, unless a column has the name.
  fileprivate func referred(_ name: String) -> String? {
    if hasColumn(name) { return name.lowercased() }
    if case .rowid(let alias)? = key, TableKey.isRowidName(name) { return alias.lowercased() }
    return nil
  }
}
