package import GRDB
package import LiveQuery

/// Everything in the main database that queries can read, as the schema was when it was read.
package struct DatabaseSchema: Sendable {
  package struct Table: Sendable {
    package let name: String
    package let kind: Kind
    /// Those that `SELECT *` gives, and for a tracked table in the order of its masks' bits.
    package let columns: [DatabaseTable.Column]
    /// What identifies a row; nil for views and virtual tables, and where all names of the rowid are hidden.
    package let key: TableKey?
    /// Set when its changes are logged.
    package let tracked: TrackedTable?
    /// The CREATE VIEW statement of a view.
    let definition: String?

    package var columnNames: [String] { columns.map(\.name) }

    /// The bits of columns given by name. The rowid has none: a change of it is a new row.
    func mask(of names: some Sequence<String>) -> ColumnMask {
      var mask: Int64 = 0
      for name in names {
        guard let index = columns.firstIndex(where: { isSameName($0.name, name) }) else { continue }
        mask |= 1 << Int64(min(index, ColumnMask.lastBit))
      }
      return ColumnMask(rawValue: mask)
    }
  }

  package enum Kind: String, Sendable {
    case table, view, virtual, shadow
  }

  package let tables: [Table]
  private let indexByName: [String: Int]

  package static let empty = DatabaseSchema(tables: [])

  init(tables: [Table]) {
    self.tables = tables
    indexByName = Dictionary(tables.indices.map { (tables[$0].name.lowercased(), $0) }) { first, _ in first }
  }

  /// The table, view or virtual table of this name, in any case.
  package func table(_ name: String) -> Table? { indexByName[name.lowercased()].map { tables[$0] } }

  /// By `TrackedTable.id`.
  package func table(id: Int64) -> Table? { tables.first { $0.tracked?.id == id } }

  /// Whether every table that holds rows of its own is tracked: then a commit that the log does not tell of changed none.
  package var isWhollyTracked: Bool {
    tables.allSatisfy { $0.tracked != nil || $0.kind == .view || $0.kind == .shadow }
  }

  /// What `/v1/schema` lists.
  package var listing: [DatabaseTable] {
    tables.filter { $0.kind != .shadow }.map {
      DatabaseTable(name: $0.name, kind: $0.kind.rawValue, isTracked: $0.tracked != nil, columns: $0.columns)
    }
  }
}

extension DatabaseSchema {
  /// - Parameter followed: the tables whose changes are logged (`ChangeLog.followedTables`).
  package static func read(_ db: Database, followed: [TrackedTable]) throws -> DatabaseSchema {
    let catalog = try SchemaCatalog.read(db)
    var tables: [Table] = []
    for table in catalog.tables where !ChangeLog.isReserved(table.name) {
      let tracked = followed.first { isSameName($0.name, table.name) }
      tables.append(
        Table(
          name: table.name, kind: Kind(rawValue: table.kind) ?? .table,
          columns: try columns(db, table.name),
          key: try tracked?.key ?? (table.isTrackable ? key(db, table) : nil), tracked: tracked,
          definition: table.kind == "view" ? try definition(db, table.name) : nil))
    }
    return DatabaseSchema(tables: tables)
  }

  private static func definition(_ db: Database, _ view: String) throws -> String? {
    let sql = "SELECT sql FROM main.sqlite_master WHERE type = 'view' AND name = ?"
    return try String.fetchOne(db, sql: sql, arguments: [view])
  }

  /// Nil when the rows have nothing to be told apart by.
  private static func key(_ db: Database, _ table: SchemaCatalog.Table) throws -> TableKey? {
    do {
      return try TableShape.read(db, table).key
    } catch let error as StoreError where error.code == ErrorCode.notAllowed { return nil }
  }

  /// A view that does not compile any more has none.
  private static func columns(_ db: Database, _ table: String) throws -> [DatabaseTable.Column] {
    let sql = "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid"
    guard let rows = try? Row.fetchAll(db, sql: sql, arguments: [table]) else { return [] }
    return rows.filter { $0["hidden"] as Int != 1 }.map {
      DatabaseTable.Column(
        name: $0["name"], type: $0["type"] ?? "", isNotNull: $0["notnull"], keyPosition: $0["pk"])
    }
  }
}
