package import ChangeCapture
package import LiveQuery
import Store

// Describes how the query is kept up to date.
extension CompiledQuery {
  /// - Parameter forms: how changes of each of the query's tables are found at the moment, by name; empty if they are
  ///   not followed.
  package func explanation(
    checker: FragmentChecker, forms: [String: CaptureForm] = [:]
  ) throws(FreshetError) -> Explanation {
    let explained = (tables + scalarTables).filter(\.isVisible).map { table in
      Explanation.Table(
        name: table.name, aliases: table.aliases, columns: table.columns, following: following(of: table),
        capture: capture(of: table, forms))
    }
    let hasNoWAL = explained.contains { $0.capture == .comparison }
    // Advice and plan are only for the operator, because they show how statements run, and name indexes and their
    // columns.
    let advice = isOfRole ? [] : (hasNoWAL ? [Self.walAdvice] : []) + (try advice(checker: checker))
    let plan = isOfRole ? [] : try checker.plan(of: askedSQL, mayChange: refreshEvery != nil)
    var explanation = Explanation(
      maintenance: maintenance, reason: sentence(comparing: hasNoWAL), tables: explained, sql: askedSQL, advice: advice,
      plan: plan)
    if !isOfRole { explanation.relation = following.relation }
    return explanation
  }

  /// Tables that only subqueries in conditions read whose values are kept separately.
  private var scalarTables: [QueryTable] {
    let read = alongside.suffix(plan.scalars?.count ?? 0).flatMap(\.aggregateTables)
    return read.filter { table in !tables.contains { isSameName($0.name, table.name) } }
  }

  package var maintenance: Explanation.Maintenance {
    !isRefetched && tables.contains { following(of: $0) != .refetch } ? .incremental : .refetch
  }

  /// The tables that the query reads and its client may read.
  package var tableNames: [String] { tables.filter(\.isVisible).map(\.name) }

  private static let walAdvice =
    "The database is in a rollback-journal mode, so every commit has whole tables compared: PRAGMA journal_mode = WAL makes it "
    + "cost what has changed."

  private func capture(of table: QueryTable, _ forms: [String: CaptureForm]) -> Explanation.Table.Capture {
    guard let sources = table.sources else { return .everyCommit }
    let all = sources.compactMap { forms[$0.table.name.lowercased()] }
    if all.contains(.none) { return .everyCommit }
    if all.contains(.reading) { return .reading }
    if all.contains(.comparison) { return .comparison }
    return all.contains(.pages) ? .pages : .rows
  }

  /// A sentence on why the query is kept up to date in this way.
  package var sentence: String { sentence(comparing: false) }

  /// - Parameter comparesTables: whether changed rows are found by comparing whole tables.
  private func sentence(comparing comparesTables: Bool) -> String {
    if unit == nil { return "The query is run again after a change: \(reason)." }
    if let slowness { return "The query is run again after a change: \(slowness)." }
    if let table = tables.first(where: { $0.isVisible && $0.sources == nil }) {
      return "The query is run again after every commit: nothing tells when \(table.name) changes."
    }
    let refetched = tables.filter { $0.isVisible && following(of: $0) == .refetch }.map(\.name)
    let exception =
      refetched.isEmpty
      ? ""
      : "; a change of \(refetched.joined(separator: ", ")), which a subquery or a view reads, runs the query again"
    let joined =
      tables.contains { following(of: $0) == .join } ? "; one of a joined table leads to the rows that it joins" : ""
    let totaled =
      hasTotals && plan.totalAggregates.isEmpty ? "; totals are computed from all rows after each change" : ""
    let reason = comparesTables && reason == QueryCompiler.captured ? QueryCompiler.compared : reason
    return reason.prefix(1).uppercased() + reason.dropFirst() + joined + exception + totaled + "."
  }

  private func following(of table: QueryTable) -> Explanation.Table.Following {
    guard let index = tables.firstIndex(where: { $0 === table }) else { return isRefetched ? .refetch : .group }
    if let result = plan.resultAggregate, plan.aggregates[result].added.contains(index) { return .group }
    if table.mappings.isEmpty { return nestedTables.contains(index) ? .join : .refetch }
    if table.mappings.allSatisfy(\.isUnit) { return .key }
    return table.mappings.allSatisfy(\.isOfFirstTable) ? .group : .join
  }
}
