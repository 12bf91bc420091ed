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
      advice: try advice(checker: checker), plan: try checker.plan(of: scanSQL, mayChange: refreshEvery != nil))
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
}

extension FollowedTable {
  var following: Explanation.Table.Following {
    if mappings.isEmpty { return .refetch }
    return mappings.allSatisfy(\.isUnit) ? .key : .join
  }
}
