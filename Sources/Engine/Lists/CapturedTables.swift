import ChangeCapture
import QueryCompiler
import Store

/// One of a query's tables, and its changes.
struct ConcernedTable {
  /// Index into the query's tables.
  let index: Int
  /// The number that capture gave to the table that stores its rows.
  let number: Int
  /// The step of the tick that the changes belong to. A tick has a step to each state that it goes through, and a last
  /// one.
  let step: Int
  let changes: ChangedRows
}

/// The tables that queries of one shape read, by capture's numbers.
struct CapturedTables {
  /// For each of the query's tables, the tables that store its rows; nil if any commit may change it.
  private var sources: [[Int]?] = []
  /// For each value of `alongside`, the tables and columns that it reads; nil if any commit may concern it.
  private var alongside: [[(number: Int, columns: ColumnMask)]?] = []

  /// For each aggregate and each of its tables, the tables that store the rows.
  private(set) var aggregates: [[[Int]]] = []

  /// How the rows of these tables are stored, by number.
  private(set) var storages: [Int: TableStorage] = [:]

  static let none = CapturedTables()
  private init() {}

  /// Has capture follow the query's tables from now on.
  init(_ query: CompiledQuery, _ schema: DatabaseSchema, _ capture: ChangeCapture) {
    var storages: [Int: TableStorage] = [:]
    let follow = { (source: TableStorage, fields: [Int], records: KeptRecords) in
      let number = capture.follow(source.table, remembering: fields, keeping: records)
      storages[number] = source
      return number
    }
    sources = query.tables.enumerated().map { index, table in
      let records: KeptRecords =
        query.nestedTables.contains(index) || table.tellsWhatPasses
        ? .all : query.isEvaluated(overTable: index) ? .present : .none
      return table.sources?.map { follow($0, table.rememberedFields(of: $0), records) }
    }
    alongside = query.alongside.enumerated().map { index, value in
      var tables: [(number: Int, columns: ColumnMask)] = []
      // For an aggregate no tables are needed here, because changes are added to its value.
      if query.plan.alongsideAggregates[index] != nil { return tables }
      for (name, columns) in value.tables {
        // A name that is not in the schema belongs to a common table expression, which stores no rows.
        guard schema.table(name) != nil else { continue }
        guard let sources = schema.sources(of: name) else { return nil }
        let isOwn = sources.count == 1 && isSameName(sources[0].table.name, name)
        for source in sources {
          tables.append((follow(source, source.keptFields, .none), isOwn ? columns : .all))
        }
      }
      return tables
    }
    aggregates = zip(query.plan.aggregates, query.aggregateTables).map { plan, tables in
      tables.enumerated().map { index, table in
        (table.sources ?? []).map { follow($0, $0.keptFields, plan.added.contains(index) ? .all : .none) }
      }
    }
    self.storages = storages
  }

  var isOfEveryCommit: Bool { sources.contains { $0 == nil } || alongside.contains { $0 == nil } }

  /// The changes of each of the query's tables; nil if they are not known row by row.
  ///
  /// - Parameter tables: the query's tables.
  func concernedTables(_ tables: [QueryTable], _ tick: CapturedTick) -> [ConcernedTable]? {
    var result: [ConcernedTable] = []
    for index in sources.indices {
      guard let numbers = sources[index] else { continue }
      for (place, (number, changes)) in tick.deltas.enumerated() where numbers.contains(number) {
        // Rows of a virtual table's shadow tables are not its own rows.
        if changes.isUnknown || !tables[index].tellsRows { return nil }
        // A full-text table has other columns than the table that stores its rows.
        let isOwn = tables[index].storage != nil
        result.append(
          ConcernedTable(
            index: index, number: number, step: tick.step(ofDelta: place),
            changes: isOwn ? changes : changes.ofAllColumns
          ))
      }
    }
    return result
  }

  /// Changes of an aggregate's tables that may change its value, from a step of the tick on.
  ///
  /// - Parameter tables: the aggregate's tables.
  func concernedTables(
    ofAggregate aggregate: Int, _ tables: [QueryTable], _ tick: CapturedTick, from step: Int
  ) -> [ConcernedTable] {
    var result: [ConcernedTable] = []
    for (index, numbers) in aggregates[aggregate].enumerated() {
      for (place, (number, changes)) in tick.deltas.enumerated()
      where numbers.contains(number) && changes.meets(tables[index].usedColumns) {
        let of = tick.step(ofDelta: place)
        if of >= step { result.append(ConcernedTable(index: index, number: number, step: of, changes: changes)) }
      }
    }
    return result
  }

  /// Numbers of the tables whose changed rows the query is evaluated over.
  func evaluated(_ query: CompiledQuery) -> Set<Int> {
    var numbers: Set<Int> = []
    for (index, source) in sources.enumerated()
    where query.isEvaluated(overTable: index) || query.nestedTables.contains(index)
      || query.tables[index].tellsWhatPasses
    {
      numbers.formUnion(source ?? [])
    }
    for (plan, tables) in zip(query.plan.aggregates, aggregates) {
      for index in plan.added { numbers.formUnion(tables[index]) }
    }
    return numbers
  }

  /// Whether changes concern tables that `alongside` reads.
  func concernsAlongside(_ tick: CapturedTick) -> Bool {
    alongside.contains { tables in
      (tables ?? []).contains { table in
        tick.deltas.contains { $0.table == table.number && $0.delta.meets(table.columns) }
      }
    }
  }
}
