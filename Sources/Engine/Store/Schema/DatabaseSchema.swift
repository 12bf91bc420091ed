package import LiveQuery

/// Everything in the main database that queries can read, at the time when the schema was read.
package struct DatabaseSchema: Sendable {
  package struct Table: Sendable {
    package let name: String
    package let kind: Kind
    /// The columns of `SELECT *`, in the order of the bits of a `ColumnMask`.
    package let columns: [DatabaseTable.Column]
    /// The key that identifies a row. Nil for views and virtual tables, and if columns hide all names of the rowid, or
    /// a part of the key is withheld.
    package private(set) var key: TableKey?
    /// How rows are stored; nil for views and virtual tables, which store no rows themselves.
    package let storage: TableStorage?
    /// The tables that store a virtual table's rows; empty if unknown.
    package let storedIn: [String]
    /// Whether it is a full-text table whose rows are those of the one table in `storedIn`, by rowid. Whether a search
    /// finds a row then depends on that row alone.
    package let isSearch: Bool
    /// The CREATE VIEW statement of a view.
    package let definition: String?
    /// Columns that exist but that `*` does not include.
    package let hiddenColumns: [String]
    package let foreignKeys: [DatabaseTable.ForeignKey]
    package let hasTriggers: Bool
    /// The module of a virtual table.
    package let module: String?
    /// The table whose rows a full-text table searches, if that is a different one.
    package let searched: DatabaseTable.SearchedTable?
    /// Indices of columns that are hidden from the client.
    package private(set) var withheld: Set<Int> = []
    /// Virtual columns that cannot be computed here, with SQLite's message: they may call a function of the
    /// application. They are withheld from all roles.
    package private(set) var unreadable: [DatabaseTable.Unreadable] = []

    func leavingOut(_ unreadable: [DatabaseTable.Unreadable]) -> Table {
      if unreadable.isEmpty { return self }
      var table = withholding { name in unreadable.contains { isSameName($0.column, name) } }
      table.unreadable = unreadable
      return table
    }

    package var columnNames: [String] { columns.map(\.name) }
    package var visibleColumns: [DatabaseTable.Column] {
      withheld.isEmpty ? columns : columns.enumerated().filter { !withheld.contains($0.offset) }.map(\.element)
    }
    package var visibleNames: [String] { visibleColumns.map(\.name) }
    package func hasColumn(_ name: String) -> Bool { visibleColumns.contains { isSameName($0.name, name) } }

    /// The table for roles that may not read some columns. All columns keep their bits.
    package func withholding(_ isWithheld: (String) -> Bool) -> Table {
      var table = self
      table.withheld.formUnion(columns.indices.filter { isWithheld(columns[$0].name) })
      if let key,
        key.names.contains(where: { name in columns.contains { isSameName($0.name, name) } && isWithheld(name) })
      {
        table.key = nil
      }
      return table
    }

    /// The bits of columns given by name. The rowid has no bit, because a row with a changed rowid counts as a new row.
    package func mask(of names: some Sequence<String>) -> ColumnMask {
      var mask: Int64 = 0
      for name in names {
        guard let index = columns.firstIndex(where: { isSameName($0.name, name) }) else { continue }
        mask |= ColumnMask.bit(index)
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

  package init(tables: [Table]) {
    self.tables = tables
    indexByName = Dictionary(tables.indices.map { (tables[$0].name.lowercased(), $0) }) { first, _ in first }
  }

  /// The table, view or virtual table of this name, in any case.
  package func table(_ name: String) -> Table? { indexByName[name.lowercased()].map { tables[$0] } }

  /// The tables whose rows a table shows: the table itself, or those that store a virtual table's rows. Nil if unknown,
  /// so that any commit may have changed it.
  package func sources(of name: String) -> [TableStorage]? {
    guard let table = table(name) else { return nil }
    if let storage = table.storage { return [storage] }
    let sources = table.storedIn.compactMap { self.table($0)?.storage }
    return sources.isEmpty || sources.count < table.storedIn.count ? nil : sources
  }

  /// The CREATE VIEW statements, in the order of the views' names.
  package var viewDefinitions: [String] { tables.compactMap(\.definition) }

  /// The entry in `/v1/schema`.
  package var listing: [DatabaseTable] {
    tables.filter { $0.kind != .shadow }.map { table in
      var listed = DatabaseTable(
        name: table.name, kind: table.kind.rawValue, columns: table.visibleColumns, key: table.key?.names)
      listed.isWithoutRowid = table.storage?.isWithoutRowid == true
      listed.foreignKeys = table.foreignKeys
      listed.hasTriggers = table.hasTriggers
      listed.module = table.module
      listed.searched = table.searched
      listed.unreadable = table.unreadable
      return listed
    }.withoutUnlisted()
  }
}
