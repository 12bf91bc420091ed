import LiveQuery
import Store

// Finds changes that do not concern queries that are run again: neither the former nor the present values of any
// changed row pass the conditions of WHERE and ON that read only that table.
extension QueryCompiler {
  /// For each table, by lower-case name, a statement for each of its places in the query, which returns a row if a
  /// changed row passes. A table is left out if any row may matter.
  func passing() -> [String: [String]] {
    var statements: [String: [String]] = [:]
    var unknown: Set<String> = []
    for reader in readers() {
      unknown.formUnion(reader.nested)
      unknown.formUnion(reader.unmapped)
      for arm in reader.derived.values.flatMap(\.arms) {
        unknown.formUnion(arm.compiler.nested)
        unknown.formUnion(arm.compiler.from.sources.compactMap { $0.table?.lowercased() })
      }
      let isJoined = reader.from.isNatural || reader.from.sources.contains { $0.join != .inner }
      for (index, source) in reader.from.sources.enumerated() {
        guard let table = source.table.flatMap(schema.table) else { continue }
        let name = table.name.lowercased()
        if !isJoined, table.kind == .table, let sql = reader.passingSQL(index, source, table) {
          statements[name, default: []].append(sql)
        } else {
          unknown.insert(name)
        }
      }
    }
    return statements.filter { !unknown.contains($0.key) }
  }

  /// The SELECTs that read tables: the query itself, or the SELECTs of its one source.
  private func readers() -> [QueryCompiler] {
    // If the query's own expressions have subqueries, the tables that they read would be missed.
    guard from.sources.count == 1, !hasSubquery, let select = written(from.sources[0])?.inlined else { return [self] }
    let names = (try? compile("SELECT * FROM \(fromSQL)", place: nil).statement.columnNames) ?? []
    let inner = select.cores.compactMap { try? innerSelect($0, names)?.compiler }
    return inner.count == select.cores.count ? inner : [self]
  }

  private func passingSQL(_ index: Int, _ source: FromClause.Source, _ table: DatabaseSchema.Table) -> String? {
    guard let qualifier = source.qualifier, isPlain(source) else { return nil }
    var fragments = writtenFilter.map { [$0] } ?? []
    for source in from.sources where !source.constraint.isEmpty {
      guard from.fragment.keyword(at: source.constraint.lowerBound) == "ON",
        let condition = try? SQLFragment(from.fragment.text(of: source.constraint.dropFirst()), place: "")
      else { return nil }
      fragments.append(condition)
    }
    let conditions = fragments.flatMap { fragment in
      fragment.conjuncts.filter { !fragment.hasSubquery(in: $0) && sources(namedIn: fragment, $0) == [index] }
        .map { "(\(fragment.text(of: $0)))" }
    }.joined(separator: " AND ")
    let plain = "SELECT 1 FROM \(reference(to: table)) AS \(qualifier) WHERE"
    guard !conditions.isEmpty, (try? compile("\(plain) \(conditions)", place: nil)) != nil else { return nil }
    let changed = "SELECT 1 FROM \(CapturedRows.reference(to: table.name)) AS \(qualifier) WHERE \(conditions) LIMIT 1"
    return try? executed(changed, isFiltered: false, isChecked: false)
  }
}
