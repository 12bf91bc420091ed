package import LiveQuery

/// Checks a client's query, fragment by fragment, and composes the statements that answer it.
///
/// SQLite is the only judge of SQL: every fragment is compiled on the checker's connection, alone, so that an error names the
/// fragment, and in a WHERE clause, where SQLite itself refuses aggregates and window functions.
package struct QueryCompiler {
  let checker: FragmentChecker
  let query: Query
  let reference: TableReference
  let table: TrackedTable
  private var numbering: ParameterNumbering
  private var usedColumns: Int64 = 0
  /// Expressions that have a name of their own in `select`, by lower-case name.
  var aliases: [String: String] = [:]
  /// Every entry of a list is compiled by itself, which takes about 0.1 ms.
  private static let longestList = 1_000

  /// - Parameter tables: the tables whose changes are logged.
  /// - Throws: `FreshetError` with the code and the sentence for the client.
  package static func compile(
    _ query: Query, tables: [TrackedTable], checker: FragmentChecker
  ) throws(FreshetError) -> CompiledQuery {
    var compiler = try QueryCompiler(query, tables: tables, checker: checker)
    return try compiler.compile()
  }

  private init(_ query: Query, tables: [TrackedTable], checker: FragmentChecker) throws(FreshetError) {
    if !query.groupBy.isEmpty || query.having != nil { throw .badQuery("groupBy and having are not served yet") }
    if !query.alongside.isEmpty { throw .badQuery("alongside is not served yet") }
    for (name, list) in [("select", query.select), ("orderBy", query.orderBy), ("key", query.key)]
    where list.count > QueryCompiler.longestList {
      throw .badQuery("\(name) has \(list.count) entries, \(QueryCompiler.longestList) at most are allowed")
    }
    self.query = query
    self.checker = checker
    reference = try TableReference(query.from)
    numbering = ParameterNumbering(query.parameters)
    try checker.refreshSchema()
    // An unknown table is SQLite's to report, in its own words.
    _ = try checker.compile("SELECT 1 FROM \(reference.sql)", place: "from")
    let name = reference.table
    guard let table = tables.first(where: { isSameName($0.name, name) }) else {
      throw .badQuery("the table \(name) is not tracked: run `freshet track`, or serve with --track")
    }
    self.table = table
  }

  private mutating func compile() throws(FreshetError) -> CompiledQuery {
    var columns = try selectedColumns()
    var filter: String?
    if let text = query.filter { filter = try expression(text, place: "where").sql }
    var section: Section?
    if let sectionBy = query.sectionBy { section = try self.section(sectionBy) }
    var sorts: [(sql: String, order: FieldOrder)] = []
    for (index, text) in query.orderBy.enumerated() { sorts.append(try sort(text, place: "orderBy[\(index)]")) }
    let (keyCount, isKeyOfTable) = try putKeyFirst(&columns)
    try numbering.checkAllUsed()
    try checkNames(columns)

    let base = table.key.names.map { "\(reference.qualifier).\(quotedIdentifier($0))" }
    var list = [section?.sql, section?.title].compactMap { $0 } + sorts.map(\.sql) + (isKeyOfTable ? [] : base)
    list += columns.map { "\($0.sql) AS \(quotedIdentifier($0.name))" }
    let select = "SELECT \(list.joined(separator: ", ")) FROM \(reference.sql)"
    let firstKeyParameter = numbering.values.count + 1
    let isKey = zip(base, firstKeyParameter...).map { "\($0) \(keyOperator) ?\($1)" }.joined(separator: " AND ")
    let compiled = CompiledQuery(
      table: table, columns: columns.map(\.name), keyColumns: columns.prefix(keyCount).map(\.name), limit: query.limit,
      scanSQL: filter.map { "\(select) WHERE (\($0))" } ?? select,
      rowSQL: "\(select) WHERE \(filter.map { "(\($0)) AND " } ?? "")\(isKey)",
      firstKeyParameter: Int32(firstKeyParameter), parameters: numbering.values,
      section: section?.order, hasIndexTitle: section?.title != nil, sorts: sorts.map(\.order),
      keyTies: try keyTies(columns.prefix(keyCount)), isKeyOfTable: isKeyOfTable, baseKeyCount: base.count,
      dependencies: columns.map(\.dependencies), usedColumns: ColumnMask(rawValue: usedColumns))
    _ = try checker.compile(compiled.rowSQL, place: nil)
    return compiled
  }

  /// A rowid and the key of a WITHOUT ROWID table are never NULL; other keys may be.
  private var keyOperator: String {
    if case .rowid = table.key { return "=" }
    return "IS"
  }
}

// Expressions.
extension QueryCompiler {
  /// One expression, checked, with its parameters numbered.
  mutating func expression(
    _ text: String, place: String
  ) throws(FreshetError) -> (sql: String, dependencies: ColumnMask) {
    try expression(try SQLFragment(text, place: place))
  }

  mutating func expression(
    _ fragment: SQLFragment
  ) throws(FreshetError) -> (sql: String, dependencies: ColumnMask) {
    try refuseNow(fragment)
    try checkFormats(fragment)
    let sql = try rewritten(fragment)
    let place = fragment.place
    let statement = "SELECT 1 FROM \(reference.sql) WHERE (\(sql)) IS NULL"
    let audit = try checker.compile(statement, place: place).audit
    if audit.selects > 1 { throw .badQuery("\(place): subqueries are not served yet") }
    let mask = self.mask(of: audit.reads)
    usedColumns |= mask
    return (sql, ColumnMask(rawValue: mask))
  }

  /// The fragment with numbered parameters, and with names that `select` gave replaced by what they stand for, as SQLite
  /// does it: a column of the table comes before such a name.
  private mutating func rewritten(_ fragment: SQLFragment) throws(FreshetError) -> String {
    var numbering = self.numbering
    let result = try fragment.replacing { index throws(FreshetError) in
      let token = fragment.tokens[index]
      if token.kind == .parameter { return try numbering.replacement(for: fragment.text(of: token)) }
      guard fragment.isLoneName(at: index), let name = fragment.name(of: token), !isColumn(name),
        let alias = aliases[name.lowercased()]
      else { return nil }
      return "(\(alias))"
    }
    self.numbering = numbering
    return result
  }

  func isColumn(_ name: String) -> Bool { table.columns.contains { isSameName($0, name) } }

  /// The bits of the table's columns that a statement reads. The rowid has none: a change of it is a new row.
  private func mask(of reads: Set<FragmentChecker.ColumnRead>) -> Int64 {
    var mask: Int64 = 0
    for read in reads {
      guard let index = table.columns.firstIndex(where: { isSameName($0, read.column) }) else { continue }
      mask |= 1 << Int64(min(index, ColumnMask.lastBit))
    }
    return mask
  }

  /// `printf('%.*c', 900000000, 'x')` takes SQLite seconds in which it cannot be interrupted: formats have to be there to
  /// be read, and modest.
  private func checkFormats(_ fragment: SQLFragment) throws(FreshetError) {
    for index in fragment.tokens.indices {
      guard fragment.isCall(at: index, of: AllowedFunctions.formatting) else { continue }
      let arguments = fragment.tokens[(index + 2)...]
      let text = arguments.first.map { fragment.text(of: $0) } ?? ""
      let isWhole = arguments.dropFirst().first.map { [",", ")"].contains(fragment.text(of: $0)) } ?? false
      let hasWideField = text.split { !$0.isASCII || !$0.isNumber }.contains { $0.count > 3 }
      guard isWhole, arguments.first?.kind == .string, !text.contains("*"), !hasWideField else {
        throw .badQuery("\(fragment.place): a format must be a text without * and without widths of more than 3 digits")
      }
    }
  }

  /// What depends on the time cannot be followed by looking at changed rows.
  private func refuseNow(_ fragment: SQLFragment) throws(FreshetError) {
    for (index, token) in fragment.tokens.enumerated() {
      guard let word = fragment.keyword(at: index)?.lowercased(), index + 2 < fragment.tokens.count,
        AllowedFunctions.temporal.contains(word), fragment.text(of: fragment.tokens[index + 1]) == "("
      else {
        if token.kind == .string, fragment.text(of: token).lowercased() == "'now'" {
          throw .badQuery("\(fragment.place): results that depend on the time ('now') are not served yet")
        }
        continue
      }
      // Without arguments, or with a format alone, they mean now.
      let isBare = fragment.text(of: fragment.tokens[index + 2]) == ")"
      let isFormatAlone =
        word == "strftime" && index + 3 < fragment.tokens.count
        && fragment.text(of: fragment.tokens[index + 3]) == ")"
      if isBare || isFormatAlone {
        throw .badQuery("\(fragment.place): results that depend on the time (\(word)) are not served yet")
      }
    }
  }

  private typealias Section = (sql: String, order: FieldOrder, title: String?)

  private mutating func section(_ sectionBy: Query.SectionBy) throws(FreshetError) -> Section {
    let sql = try expression(sectionBy.expression, place: "sectionBy").sql
    let collation = try checker.collation(of: sql, from: reference.sql, place: "sectionBy")
    var title: String?
    if let text = sectionBy.indexTitle { title = try expression(text, place: "sectionBy.indexTitle").sql }
    return (sql, FieldOrder(collation: collation, isDescending: sectionBy.isDescending), title)
  }

  private mutating func sort(_ text: String, place: String) throws(FreshetError) -> (sql: String, order: FieldOrder) {
    let term = try SortTerm(text, place: place)
    var sql = try expression(term.expression).sql
    // A whole term that is a name of `select` means that, even when the table has a column of the name.
    if term.expression.tokens.count == 1, let name = term.expression.name(of: term.expression.tokens[0]),
      let alias = aliases[name.lowercased()]
    {
      sql = "(\(alias))"
    }
    let collation = try checker.collation(of: sql, from: reference.sql, place: place)
    return (sql, FieldOrder(collation: collation, isDescending: term.isDescending, nullsFirst: term.nullsFirst))
  }
}
