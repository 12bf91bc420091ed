package import LiveQuery

// How the query is kept up to date, in words.
extension CompiledQuery {
  package func explanation(checker: FragmentChecker) throws(FreshetError) -> Explanation {
    let untracked = tables.filter { $0.tracked == nil }
    let tables = tables.map { table in
      Explanation.Table(
        name: table.name, aliases: table.aliases, columns: table.columns, following: table.following,
        isTracked: table.tracked != nil)
    }
    let isIncremental = unit != nil && untracked.isEmpty && tables.contains { $0.following != .refetch }
    return Explanation(
      maintenance: isIncremental ? .incremental : .refetch, reason: sentence(untracked), tables: tables, sql: scanSQL,
      advice: advice(untracked), plan: try checker.plan(of: scanSQL, mayChange: refreshEvery != nil))
  }

  private func sentence(_ untracked: [FollowedTable]) -> String {
    if unit == nil { return "The query is run again after a change: \(reason)." }
    if let table = untracked.first {
      return "The query is run again after every commit: changes of \(table.name) are not logged."
    }
    let refetched = tables.filter { $0.following == .refetch }.map(\.name)
    let exception =
      refetched.isEmpty
      ? ""
      : "; a change of \(refetched.joined(separator: ", ")), which a subquery or a view reads, runs the query again"
    let joined =
      tables.contains { $0.following == .join } ? "; one of a joined table leads to the rows that it joins" : ""
    return reason.prefix(1).uppercased() + reason.dropFirst() + joined + exception + "."
  }

  private func advice(_ untracked: [FollowedTable]) -> [String] {
    var advice: [String] = []
    if unit != nil, !untracked.isEmpty {
      advice.append(
        "Run `freshet track` on the file, or serve it with --track, to have changes of "
          + "\(untracked.map(\.name).joined(separator: ", ")) followed row by row.")
    }
    for table in tables {
      for mapping in table.mappings where !mapping.isUnit && mapping.oldSQL == nil && table.tracked != nil {
        let columns = table.columns.filter { isUncaptured($0, table, mapping) }
        guard !columns.isEmpty else { continue }
        advice.append(
          "The log does not keep the old values of \(table.name).\(columns.joined(separator: ", ")), so a delete there runs "
            + "the query again: CREATE INDEX \(table.name)_\(columns[0]) ON \(table.name)(\(columns.joined(separator: ", "))), "
            + "then track again.")
      }
    }
    return advice
  }

  private func isUncaptured(_ column: String, _ table: FollowedTable, _ mapping: UnitMapping) -> Bool {
    guard let tracked = table.tracked, let index = tracked.columns.firstIndex(where: { isSameName($0, column) }) else {
      return false
    }
    return mapping.joinColumns.contains(index) && !tracked.captured.contains(index)
      && !tracked.key.names.contains { isSameName($0, column) }
  }
}

extension FollowedTable {
  var following: Explanation.Table.Following {
    if mappings.isEmpty { return .refetch }
    return mappings.allSatisfy(\.isUnit) ? .key : .join
  }
}
