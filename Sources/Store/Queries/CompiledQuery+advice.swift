import LiveQuery

// What would make following a query cheaper, in sentences that a person can act on.
extension CompiledQuery {
  func advice(checker: FragmentChecker) throws(FreshetError) -> [String] {
    guard let unit else { return [] }
    let untracked = tables.filter { $0.tracked == nil }.map(\.name)
    if !untracked.isEmpty {
      return [
        "Run `freshet track` on the file, or serve it with --track, to have changes of \(untracked.joined(separator: ", ")) "
          + "followed row by row."
      ]
    }
    var advice = try missingIndexes(unit.rowSQL, "Looking up a changed row", checker)
    for table in tables {
      for mapping in table.mappings {
        if let sql = mapping.newSQL { advice += try missingIndexes(sql, "A change of \(table.name)", checker) }
        if let columns = uncaptured(table, mapping) {
          advice.append(
            "The log does not keep the old values of \(table.name)(\(columns)), so a row that goes from there runs the query "
              + "again: \(createIndex(table.name, columns)); then track again.")
        }
      }
    }
    var seen: Set<String> = []
    return advice.filter { seen.insert($0).inserted }
  }

  /// The columns whose old values would be needed to tell what a row led to; nil when there are none.
  private func uncaptured(_ table: FollowedTable, _ mapping: UnitMapping) -> String? {
    guard !mapping.isUnit, mapping.oldSQL == nil, let tracked = table.tracked else { return nil }
    let columns = table.columns.filter { column in
      guard let index = tracked.columns.firstIndex(where: { isSameName($0, column) }) else { return false }
      return mapping.joinColumns.contains(index) && !tracked.captured.contains(index)
        && !tracked.key.names.contains { isSameName($0, column) }
    }
    return columns.isEmpty ? nil : columns.joined(separator: ", ")
  }

  /// Where SQLite reads a whole table, or builds an index of its own, each time that a statement runs.
  private func missingIndexes(
    _ sql: String, _ what: String, _ checker: FragmentChecker
  ) throws(FreshetError) -> [String] {
    var advice: [String] = []
    for line in try checker.plan(of: sql, mayChange: refreshEvery != nil) {
      let words = line.split(separator: " ")
      guard words.count > 1, let table = table(called: words[1]) else { continue }
      let columns: String
      if line.contains(" AUTOMATIC ") {
        // SEARCH genre USING AUTOMATIC COVERING INDEX (label=? AND code=?)
        columns = line.drop { $0 != "(" }.dropFirst().dropLast().split(separator: " ").filter { $0 != "AND" }
          .map { $0.prefix { !"=<>".contains($0) } }.joined(separator: ", ")
      } else if words[0] == "SCAN" {
        columns = searched(table)
      } else {
        continue
      }
      if columns.isEmpty { continue }
      advice.append("\(what) reads all of \(table.name): \(createIndex(table.name, columns)).")
    }
    return advice
  }

  private func createIndex(_ table: String, _ columns: String) -> String {
    let name = ([table] + columns.split(separator: ",").map { $0.filter { $0 != " " } }).joined(separator: "_")
    return "CREATE INDEX \(identifierForPeople(name)) ON \(identifierForPeople(table))(\(columns))"
  }

  private func table(called alias: Substring) -> FollowedTable? {
    tables.first { table in
      isSameName(table.name, String(alias)) || table.aliases.contains { isSameName($0, String(alias)) }
    }
  }

  /// The columns by which a table's rows are looked for.
  private func searched(_ table: FollowedTable) -> String {
    guard let tracked = table.tracked else { return "" }
    let mask =
      table.mappings.reduce(0) { $0 | $1.joinColumns.rawValue }
      | (tables.firstIndex { $0.name == table.name }.flatMap { joinColumns[$0]?.rawValue } ?? 0)
    if mask == -1 { return "" }
    let columns = tracked.columns.enumerated().filter { index, name in
      ColumnMask(rawValue: mask).contains(index) && !tracked.key.names.contains { isSameName($0, name) }
    }
    return columns.map(\.element).joined(separator: ", ")
  }
}
