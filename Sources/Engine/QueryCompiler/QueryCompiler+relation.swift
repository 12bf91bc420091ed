import LiveQuery
import Store

// Describes the parts of a query for people.
extension QueryCompiler {
  func relation(_ name: String? = nil) -> Explanation.Relation {
    var (kind, key) = (Explanation.Relation.Kind.whole, unitExpressions.map(\.sql))
    switch unit {
    case .none: break
    case .baseKey(let names): (kind, key) = (.rows, names)
    case .groups, .everything: kind = .groups
    case .partitions: kind = hasWindow ? .partitions : groups.isEmpty ? .rows : .groups
    case .inner: (kind, key) = (.rows, [])
    }
    if case .everything = unit { key = [] }
    var parts: [Explanation.Relation] = []
    for (index, source) in from.sources.enumerated() {
      if index == 0, case .inner(let inner) = unit {
        parts.append(relation(source.name, inner.arms))
      } else if let derived = derived[index] {
        parts.append(relation(source.name, derived.arms.map(looked)))
      }
    }
    let scalars = fragments.alongside.suffix(scalarCount).map { value in
      let reads = (try? compile("SELECT (\(value.fragment.text))", place: nil).reads) ?? []
      return Explanation.Relation(
        .value, tables: names(Set(reads.map { $0.table.lowercased() })), isKept: true)
    }
    parts += subqueries.map { .init(.subquery, tables: names(Set($0.tables.map { $0.table.name.lowercased() }))) }
    return Explanation.Relation(kind, name: name, key: key, tables: ownTables, parts: parts + scalars)
  }

  private func relation(_ name: String?, _ arms: [InnerSelect]) -> Explanation.Relation {
    if arms.count == 1 { return arms[0].compiler.relation(name) }
    return Explanation.Relation(
      .compound, name: name, key: arms[0].compiler.unitExpressions.map(\.sql),
      parts: arms.map { $0.compiler.relation() })
  }

  /// A derived source as it is looked up: by its groups or partitions, or by its rows.
  private func looked(_ arm: InnerSelect) -> InnerSelect {
    var arm = arm
    arm.compiler.unit = arm.compiler.chooseUnit()
    return arm
  }

  private var ownTables: [String] {
    names(Set(from.sources.compactMap { $0.table?.lowercased() }.filter { schema.table($0)?.kind != .view }))
  }

  private func names(_ tables: Set<String>) -> [String] {
    tables.compactMap { schema.table($0) }.filter { $0.kind != .view }.map(\.name).sorted()
  }
}
