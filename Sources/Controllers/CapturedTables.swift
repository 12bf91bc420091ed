import ChangeCapture
import LiveQuery
import Store

/// The tables that queries of one shape read, by the numbers under which capture follows them.
struct CapturedTables {
  /// By index into the query's tables: the tables that hold its rows. Nil where any commit may have changed it.
  private var sources: [[Int]?] = []
  /// By index into `alongside`: the tables, with the columns that are read; nil where any commit may concern it.
  private var alongside: [[(number: Int, columns: ColumnMask)]?] = []

  static let none = CapturedTables()
  private init() {}

  /// Has them followed from now on.
  init(_ query: CompiledQuery, _ schema: DatabaseSchema, _ capture: ChangeCapture) {
    sources = query.tables.map { table in
      table.sources?.map { capture.follow($0.table, remembering: table.rememberedFields(of: $0)) }
    }
    alongside = query.alongside.map { value in
      var tables: [(number: Int, columns: ColumnMask)] = []
      for (name, columns) in value.tables {
        // What is none of the schema's tables, a common table expression, has nothing that could change.
        guard schema.table(name) != nil else { continue }
        guard let sources = schema.sources(of: name) else { return nil }
        let isOwn = sources.count == 1 && isSameName(sources[0].table.name, name)
        for source in sources {
          tables.append((capture.follow(source.table, remembering: source.keptFields), isOwn ? columns : .all))
        }
      }
      return tables
    }
  }

  var isOfEveryCommit: Bool { sources.contains { $0 == nil } || alongside.contains { $0 == nil } }

  var numbers: Set<Int> {
    Set(sources.flatMap { $0 ?? [] }).union(alongside.flatMap { ($0 ?? []).map(\.number) })
  }

  /// What changed in each of the query's tables, by index; nil when it cannot be told row by row.
  ///
  /// - Parameter changes: by number; nil for a table in which something changed that is not told.
  func changes(
    of tables: [FollowedTable], among changes: [Int: TableChanges?]
  ) -> [(index: Int, changes: TableChanges)]? {
    var result: [(index: Int, changes: TableChanges)] = []
    for (index, numbers) in sources.enumerated() {
      for number in numbers ?? [] {
        guard let change = changes[number] else { continue }
        // What a virtual table keeps in tables of its own is not its rows.
        guard let change, tables[index].storage != nil else { return nil }
        result.append((index, change))
      }
    }
    return result
  }

  /// Whether changes concern what is read alongside.
  func concernsAlongside(_ values: [CompiledAlongside], _ changes: [Int: TableChanges?]) -> Bool {
    alongside.contains { tables in
      (tables ?? []).contains { table in
        guard let change = changes[table.number] else { return false }
        return change?.meets(table.columns) ?? true
      }
    }
  }
}
