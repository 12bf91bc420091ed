import LiveQuery
import Store

// Advice for people on how to make following a query cheaper.
extension CompiledQuery {
  func advice(checker: FragmentChecker) throws(FreshetError) -> [String] {
    guard let unit else { return [] }
    // There is no advice on indexes if changes are added to groups. Groups are seldom looked up then, and reading a
    // large group through an index is slower than reading the table.
    var advice = plan.resultAggregate != nil ? [] : try missingIndexes(unit.rowSQL, "Looking up a changed row", checker)
    for table in tables {
      for mapping in table.mappings {
        if let sql = mapping.newSQL { advice += try missingIndexes(sql, "A change of \(table.name)", checker) }
      }
    }
    var seen: Set<String> = []
    return advice.filter { seen.insert($0).inserted }
  }

  /// Finds where SQLite reads a whole table, or builds an index, each time that a statement runs.
  private func missingIndexes(
    _ sql: String, _ what: String, _ checker: FragmentChecker
  ) throws(FreshetError) -> [String] {
    var advice: [String] = []
    for line in try checker.plan(of: sql, mayChange: refreshEvery != nil) {
      let words = line.split(separator: " ")
      guard words.count > 1, let table = table(called: words[1]) else { continue }
      let columns: String
      if line.contains(" AUTOMATIC ") {
        // The line is like "SEARCH genre USING AUTOMATIC COVERING INDEX (label=? AND code=?)".
        columns = line.drop { $0 != "(" }.dropFirst().dropLast().split(separator: " ").filter { $0 != "AND" }
          .map { $0.prefix { !"=<>".contains($0) } }.joined(separator: ", ")
      } else if words[0] == "SCAN" {
        columns = searched(table)
      } else {
        continue
      }
      // If there is such an index, SQLite has not used it.
      if columns.isEmpty { continue }
      if try hasIndex(table.name, columns, checker) { continue }
      advice.append("\(what) reads all of \(table.name): \(createIndex(table.name, columns)).")
    }
    return advice
  }

  /// Whether an index of the table begins with these columns, in any order.
  private func hasIndex(_ table: String, _ columns: String, _ checker: FragmentChecker) throws(FreshetError) -> Bool {
    func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
    let names = columns.split(separator: ",").map { literal($0.trimmingPrefix(" ").lowercased()) }
    return try checker.givesRow(
      """
      SELECT 1 FROM pragma_index_list(\(literal(table))) AS list WHERE \(names.count) =
        (SELECT count(*) FROM pragma_index_info(list.name) AS info
          WHERE info.seqno < \(names.count) AND lower(info.name) IN (\(names.joined(separator: ", "))))
      """)
  }

  private func createIndex(_ table: String, _ columns: String) -> String {
    let name = ([table] + columns.split(separator: ",").map { $0.filter { $0 != " " } }).joined(separator: "_")
    return "CREATE INDEX \(identifierForPeople(name)) ON \(identifierForPeople(table))(\(columns))"
  }

  private func table(called alias: Substring) -> QueryTable? {
    tables.first { table in
      isSameName(table.name, String(alias)) || table.aliases.contains { isSameName($0, String(alias)) }
    }
  }

  /// The columns that a table's rows are searched by.
  private func searched(_ table: QueryTable) -> String {
    let mask =
      table.mappings.reduce(0) { $0 | $1.joinColumns.rawValue }
      | (tables.firstIndex { $0.name == table.name }.flatMap { joinColumns[$0]?.rawValue } ?? 0)
    if mask == -1 { return "" }
    let keyNames = table.table.key?.names ?? []
    let columns = table.table.columnNames.enumerated().filter { index, name in
      ColumnMask(rawValue: mask).contains(index) && !keyNames.contains { isSameName($0, name) }
    }
    return columns.map(\.element).joined(separator: ", ")
  }
}
