import ChangeCapture
import LiveQuery
import QueryCompiler
import Store

/// A table of a query, and what changed in it.
struct ConcernedTable {
  /// Among the query's tables.
  let index: Int
  let changes: TableChanges
}

/// The tables that queries of one shape read, by the numbers under which capture follows them.
struct CapturedTables {
  /// By index into the query's tables: the tables that hold its rows. Nil where any commit may have changed it.
  private var sources: [[Int]?] = []
  /// By index into `alongside`: the tables, with the columns that are read; nil where any commit may concern it.
  private var alongside: [[(number: Int, columns: ColumnMask)]?] = []

  /// How the rows of all these tables are stored, by number.
  private(set) var storages: [Int: TableStorage] = [:]

  static let none = CapturedTables()
  private init() {}

  /// Has them followed from now on.
  init(_ query: CompiledQuery, _ schema: DatabaseSchema, _ capture: ChangeCapture) {
    var storages: [Int: TableStorage] = [:]
    let follow = { (source: TableStorage, fields: [Int]) in
      let number = capture.follow(source.table, remembering: fields)
      storages[number] = source
      return number
    }
    sources = query.tables.map { table in table.sources?.map { follow($0, table.rememberedFields(of: $0)) } }
    alongside = query.alongside.map { value in
      var tables: [(number: Int, columns: ColumnMask)] = []
      for (name, columns) in value.tables {
        // What is none of the schema's tables, a common table expression, has nothing that could change.
        guard schema.table(name) != nil else { continue }
        guard let sources = schema.sources(of: name) else { return nil }
        let isOwn = sources.count == 1 && isSameName(sources[0].table.name, name)
        for source in sources {
          tables.append((follow(source, source.keptFields), isOwn ? columns : .all))
        }
      }
      return tables
    }
    self.storages = storages
  }

  var isOfEveryCommit: Bool { sources.contains { $0 == nil } || alongside.contains { $0 == nil } }

  /// What changed in each of the query's tables; nil when that is not known row by row.
  ///
  /// - Parameter tables: the query's.
  func concernedTables(_ tables: [FollowedTable], _ changes: [TableChanges]) -> [ConcernedTable]? {
    var result: [ConcernedTable] = []
    for index in sources.indices {
      guard let numbers = sources[index] else { continue }
      for change in changes where numbers.contains(change.number) {
        // What a virtual table keeps in tables of its own is not its rows.
        guard change.tellsRows, tables[index].tellsRows else { return nil }
        // The columns of a full-text table are not those of the table that holds them.
        let isOwn = tables[index].storage != nil
        result.append(ConcernedTable(index: index, changes: isOwn ? change : change.ofAllColumns))
      }
    }
    return result
  }

  /// Whether changes concern what is read alongside.
  func concernsAlongside(_ changes: [TableChanges]) -> Bool {
    if alongside.isEmpty { return false }
    return alongside.contains { tables in
      (tables ?? []).contains { table in
        changes.contains { $0.number == table.number && (!$0.tellsRows || $0.meets(table.columns)) }
      }
    }
  }
}
