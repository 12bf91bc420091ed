import LiveQuery
import Store

// Chooses the unit that is looked up after a change: a row of the first table, a group, or the whole query.
//
// A *unit* is a part of the result that can be evaluated separately: the key of the first table in `from` (with the
// rows that this row joins), the values of a group, the values that window functions partition by, or the key of a view
// that only selects columns of joined tables. It is looked up by running the query with `AND unit = ?`. A changed row
// leads to units, and looking up too many units is harmless. If the unit is the first table's key, one statement looks
// up 32 units: `WITH batch AS (VALUES …) SELECT … FROM batch CROSS JOIN from`. SQLite runs this as a co-routine, for
// about half the cost of single look-ups. (`IN (…)` would build a table first, and SQLite could choose another index.)
//
// There is no unit for FULL joins, RIGHT joins of more than two tables, window functions over all rows, aggregates
// without groups, a first table that a subquery reads as well, and clauses that `FromClause` does not understand. Such
// a query is run again after every change. A query is also run again after a change of a table that only a subquery
// reads, or if required former values are unknown. `/v1/explain` says which queries run again, why, and what would
// help.
extension QueryCompiler {
  enum UnitChoice {
    /// The query must run again. The text is the reason, as a sentence.
    case none(String)
    /// The rows that come from one row of the first table, given by the names of its key's columns.
    case baseKey([String])
    /// One group.
    case groups
    /// The rows of one partition, given by the terms that the query's window functions partition by.
    case partitions([(sql: String, order: FieldOrder)])
    /// The unit of the subquery or view that the query's rows come from.
    case inner(InnerSource)
    /// All rows, because they make one row of the result.
    case everything

    var reason: String {
      switch self {
      case .none(let reason): reason
      case .baseKey: "a changed row is looked up by its key"
      case .everything: "the row is looked up"
      case .groups: "the group of a changed row is looked up by its values"
      case .inner(let source):
        source.isKey
          ? "a changed row of the subquery's first table is looked up by its key"
          : source.arms.count > 1
            ? "the rows of the subquery that a changed row made or makes are looked up by their values"
            : "the group or partition of a changed row is looked up by its values"
      case .partitions: "the partition of a changed row is looked up by its values"
      }
    }
  }

  func chooseUnit() -> UnitChoice {
    if query.refreshEvery != nil { return .none("it has a refreshEvery, and is run again whatever happens") }
    if hasAggregate, groups.isEmpty { return .none("an aggregate over everything depends on every row") }
    guard let base = from.sources.first else { return .none("its from is not understood in parts") }
    if from.sources.contains(where: { $0.join == .outer }) {
      return .none("a RIGHT or FULL JOIN gives rows that the first table does not have")
    }
    if groups.isEmpty, !hasWindow, let inner { return .inner(inner) }
    guard let table = base.table.flatMap(schema.table) else { return .none("its from begins with a subquery") }
    if table.isSearch, usesRank {
      return .none("the rank of a row depends on all others")
    }
    guard table.kind == .table || table.isSearch else {
      return .none(
        "\(table.name) is a \(table.kind.rawValue == "view" ? "view" : "virtual table"), whose rows have no key to look up"
      )
    }
    guard let key = table.key else { return .none("\(table.name) has no primary key, and its columns hide the rowid") }
    if isNestedUnmapped(table, key) {
      return .none("a subquery reads \(table.name) as well, so any row can depend on a changed one")
    }
    if hasWindow {
      let partition = groups.isEmpty && !hasAggregate ? partition() : []
      if partition.isEmpty { return .none(Self.spanningWindow) }
      return .partitions(partition)
    }
    if groups.isEmpty || isGroupedByBaseKey { return .baseKey(key.names) }
    if groups.allSatisfy({ isOfBase($0.sql) }) { return .groups }
    return .none("its groups are not made of the first table's columns alone: put their table first")
  }

  private static let spanningWindow =
    "a window function makes each row depend on others: PARTITION BY columns of the first table in all of them would tell on which"

  /// Whether a subquery reads the first table as well, and no statement maps its changes to units.
  private func isNestedUnmapped(_ table: DatabaseSchema.Table, _ key: TableKey) -> Bool {
    let name = table.name.lowercased()
    if !nested.contains(name) { return false }
    if !groups.isEmpty || hasWindow || unmapped.contains(name) { return true }
    var compiler = self
    compiler.unit = .baseKey(key.names)
    return ![compiler].nestedMappings([name: .none], except: unmapped).contains { $0.tables.contains(name) }
  }

  /// Whether SQLite would run a subquery again for each row that is looked up, in a query whose rows are those of one
  /// table.
  var isFilteredBySubquery: Bool {
    guard case .baseKey = unit else { return false }
    return fragments.filter != nil && !nested.isEmpty && groups.isEmpty && from.sources.count == 1
  }

  /// Whether a full-text search uses the rank of rows, as far as the query's words show.
  var usesRank: Bool {
    fragments.rowTexts.contains { text in ["rank", "bm25"].contains { text.lowercased().contains($0) } }
  }

  /// Whether an expression reads only the first table's columns.
  func isOfBase(_ sql: String) -> Bool {
    guard let first = try? from.prefix(through: 0, { _ in nil }) else { return false }
    return (try? compile("SELECT 1 FROM \(first) WHERE (\(sql)) IS NULL", place: nil)) != nil
  }

  /// The unit's values as SQL, with how they are encoded.
  var unitExpressions: [(sql: String, order: FieldOrder)] {
    switch unit {
    case .none: return []
    case .groups: return groups
    case .partitions(let partition): return partition
    case .inner(let source): return source.outerUnit
    case .everything: return [("1", .identity)]
    case .baseKey(let names):
      let qualifier = from.sources[0].qualifier ?? ""
      return names.map { ("\(qualifier).\(quotedIdentifier($0))", .identity) }
    }
  }

  /// The FROM clause that the rows are read from.
  ///
  /// - Parameter first: the number of the first parameter with the values of the only wanted unit; nil if all units are
  ///   wanted. The statement also needs `unitCondition`.
  func rowsSQL(first: Int? = nil) -> String {
    guard from.sources.indices.last != nil, inner != nil || !derived.isEmpty else { return fromSQL }
    return rows(through: from.sources.count - 1, first) ?? fromSQL
  }

  /// SQL that is true for the unit whose values are the parameters from `first` on.
  func unitCondition(_ units: [(sql: String, order: FieldOrder)], first: Int) -> String {
    zip(units, first...).map { "(\($0.sql)) \(operatorOfUnit) ?\($1)" }.joined(separator: " AND ")
  }

  /// The operator that compares units. A rowid is never NULL, but other keys and groups may be.
  var operatorOfUnit: String {
    if case .baseKey = unit, case .rowid? = baseTable?.key { return "=" }
    return "IS"
  }

  /// The SQL that reads the rows of many units at once.
  ///
  /// CROSS JOIN makes the units the outer loop, whatever the conditions in `where` are. They are a co-routine, so
  /// nothing is stored.
  func batchSQL(
    _ units: [(sql: String, order: FieldOrder)], first: Int, _ select: String, filter: String?
  ) -> String? {
    guard case .baseKey = unit, derived.isEmpty else { return nil }
    // Names that no column of a table in a client's query has.
    let batch = "_freshet_batch"
    let names = units.indices.map { "_freshet_unit_\($0)" }
    let values = (0..<ResultPlan.Unit.batchSize).map { place in
      let parameters = units.indices.map { "?\(first + place * units.count + $0)" }
      return "(\(place), \(parameters.joined(separator: ", ")))"
    }
    let conditions = zip(units, names).map { "(\($0.sql)) \(operatorOfUnit) \(batch).\($1)" }
    return """
      WITH \(batch)(_freshet_place, \(names.joined(separator: ", "))) AS (VALUES \(values.joined(separator: ", "))) \
      \(select), \(batch)._freshet_place FROM \(batch) CROSS JOIN \(fromSQL) \
      WHERE \(filter.map { "(\($0)) AND " } ?? "")\(conditions.joined(separator: " AND "))
      """
  }
}
