import LiveQuery
import Store

// The unit that is looked up after a change: the first table's rows, or groups, one by one; or the whole query.
//
// A *unit* is what can be evaluated by itself: the key of the first table in `from` (with what that row joins), the
// values of a group, those of what window functions partition by, or the key of a view that is no more than columns of
// joined tables. It is looked up by running the query with `AND unit = ?`; a changed row leads to units, and looking up
// one too many changes nothing. Where the unit is the first table's key, 32 of them are looked up by one statement:
// `WITH batch AS (VALUES …) SELECT … FROM batch CROSS JOIN from`, which SQLite runs as a co-routine, for about half the
// cost of single look-ups (`IN (…)` makes a table first, and leaves SQLite the choice of another index).
//
// FULL joins, RIGHT joins of more than two tables, window functions over all rows, aggregates over everything, a first
// table that a subquery reads as well, and clauses that `FromClause` does not understand have no unit: such a query is
// run again. So it is after a change of a table that only a subquery reads, or when old values that are needed are not
// known. `/v1/explain` says which, why, and what would help.
extension QueryCompiler {
  enum UnitChoice {
    /// The query has to run again, for a reason: a sentence.
    case none(String)
    /// The rows that one row of the first table gives; the names of its key's columns.
    case baseKey([String])
    /// One group.
    case groups
    /// The rows of one partition of the query's window functions: what these partition by.
    case partitions([(sql: String, order: FieldOrder)])
    /// The subquery or view that gives the query its rows.
    case inner(InnerSource)
    /// All rows: they make one row of the result.
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

  /// Whether a subquery reads the first table as well, and no statement tells whom a change concerns.
  private func isNestedUnmapped(_ table: DatabaseSchema.Table, _ key: TableKey) -> Bool {
    let name = table.name.lowercased()
    if !nested.contains(name) { return false }
    if !groups.isEmpty || hasWindow || unmapped.contains(name) { return true }
    var compiler = self
    compiler.unit = .baseKey(key.names)
    return ![compiler].nestedMappings([name: .none], except: unmapped).contains { $0.tables.contains(name) }
  }

  /// Whether SQLite would run a subquery again for each row that is looked up, of a query whose rows are those of one
  /// table.
  var isFilteredBySubquery: Bool {
    guard case .baseKey = unit else { return false }
    return fragments.filter != nil && !nested.isEmpty && groups.isEmpty && from.sources.count == 1
  }

  /// Whether a full-text search asks how well rows match, as far as its words tell.
  var usesRank: Bool {
    fragments.rowTexts.contains { text in ["rank", "bm25"].contains { text.lowercased().contains($0) } }
  }

  /// Whether an expression reads the first table's columns alone.
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
  /// - Parameter first: the first of the parameters that hold the only unit that is wanted, which `unitCondition` asks
  ///   for besides; nil: all are.
  func rowsSQL(first: Int? = nil) -> String {
    guard from.sources.indices.last != nil, inner != nil || !derived.isEmpty else { return fromSQL }
    return rows(through: from.sources.count - 1, first) ?? fromSQL
  }

  /// SQL that is true for the unit whose values are the parameters from `first` on.
  func unitCondition(_ units: [(sql: String, order: FieldOrder)], first: Int) -> String {
    zip(units, first...).map { "(\($0.sql)) \(operatorOfUnit) ?\($1)" }.joined(separator: " AND ")
  }

  /// A rowid is never NULL; other keys and groups may be.
  var operatorOfUnit: String {
    if case .baseKey = unit, case .rowid? = baseTable?.key { return "=" }
    return "IS"
  }

  /// The rows of many units at once.
  ///
  /// The units are the outer loop, whatever SQLite thinks of `where` (CROSS JOIN), and a co-routine: nothing is stored.
  func batchSQL(
    _ units: [(sql: String, order: FieldOrder)], first: Int, _ select: String, filter: String?
  ) -> String? {
    guard case .baseKey = unit, derived.isEmpty else { return nil }
    // Names that no table of a client's query has a column of.
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
