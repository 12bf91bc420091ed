import GRDB
import LiveQuery

/// What the main database's schema lists under which name.
struct SchemaCatalog {
  struct Table {
    let name: String
    /// `table`, `view`, `virtual` or `shadow`.
    let kind: String
    let isWithoutRowid: Bool
    let isStrict: Bool

    /// Whether changes of this table can be logged: SQLite has no triggers on anything but ordinary tables.
    var isTrackable: Bool {
      kind == "table" && !ChangeLog.isReserved(name)
    }
  }

  let tables: [Table]

  static func read(_ db: Database) throws -> SchemaCatalog {
    let sql = "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
    return SchemaCatalog(
      tables: try Row.fetchAll(db, sql: sql).map {
        Table(name: $0["name"], kind: $0["type"], isWithoutRowid: $0["wr"], isStrict: $0["strict"])
      })
  }

  func table(_ name: String) -> Table? {
    tables.first { isSameName($0.name, name) }
  }

  /// The table of this name, in any case.
  func trackable(_ name: String) throws(StoreError) -> Table {
    guard let table = table(name) else {
      throw StoreError(code: ErrorCode.noSuchTable, message: "no such table: \(name)")
    }
    guard table.isTrackable else {
      let what =
        switch table.kind {
        case "view": "a view"
        case "virtual": "a virtual table"
        case "shadow": "part of a virtual table"
        default: "an internal table"
        }
      throw StoreError(code: ErrorCode.notAllowed, message: "\(table.name) cannot be tracked: it is \(what)")
    }
    return table
  }
}
