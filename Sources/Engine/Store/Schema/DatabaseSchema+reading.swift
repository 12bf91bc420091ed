import CSQLite
import ChangeCapture
import LiveQuery

// Reads the schema. This takes several statements for each table, which is seconds for thousands of tables. So tables
// with the same declaration and root page as before are not read again.
extension DatabaseSchema {
  /// - Parameter former: an earlier schema of the same or another file.
  package static func read(
    _ db: OpaquePointer, after former: DatabaseSchema = .empty
  ) throws(SQLiteFailure) -> DatabaseSchema {
    let catalog = try SchemaCatalog.read(db)
    let triggers = try catalog.triggers(db)
    let known = catalog.tables.map { table in former.table(table.name).flatMap { $0.isSame(as: table) ? $0 : nil } }
    var changed = Set(former.tables.map { $0.name.lowercased() })
    for table in known { if let table { changed.remove(table.name.lowercased()) } }
    for (table, known) in zip(catalog.tables, known) where known == nil { changed.insert(table.name.lowercased()) }
    return DatabaseSchema(
      tables: try zip(catalog.tables, known).map { table, known throws(SQLiteFailure) in
        guard let known else { return try read(table, of: catalog, triggers, db) }
        // A foreign key without columns refers to the primary key of another table.
        let isKept = known.foreignKeys.allSatisfy { !changed.contains($0.table.lowercased()) }
        return known.with(
          isKept ? known.foreignKeys : try catalog.foreignKeys(db, of: table),
          hasTriggers: triggers[table.name.lowercased()] != nil)
      })
  }

  private static func read(
    _ table: SchemaCatalog.Table, of catalog: SchemaCatalog, _ triggers: [String: [String]], _ db: OpaquePointer
  ) throws(SQLiteFailure) -> Table {
    let kind = Kind(rawValue: table.kind) ?? .table
    let key = kind == .table || kind == .shadow ? try TableKey.read(db, table) : nil
    var (columns, hidden) = columns(db, table.name)
    if kind == .table {
      let checked = CheckedValues(table.definition).values
      for index in columns.indices { columns[index].values = checked[columns[index].name.lowercased()] ?? [] }
    }
    let rows = try catalog.rows(of: table, triggers, db)
    return Table(
      name: table.name, kind: kind, columns: columns,
      key: kind == .table ? key : rows != nil ? .rowid(alias: "rowid") : nil,
      storage: try TableStorage.read(db, table, key),
      storedIn: kind == .virtual ? rows ?? catalog.storage(of: table) : [],
      isSearch: rows != nil, definition: kind == .view ? table.definition : nil, hiddenColumns: hidden,
      foreignKeys: try catalog.foreignKeys(db, of: table), hasTriggers: triggers[table.name.lowercased()] != nil,
      module: table.module,
      searched: table.searched
    ).leavingOut(kind == .table ? unreadable(db, table.name, columns) : [])
  }

  private static func unreadable(
    _ db: OpaquePointer, _ table: String, _ columns: [DatabaseTable.Column]
  ) -> [DatabaseTable.Unreadable] {
    columns.filter(\.isGenerated).compactMap { column in
      do throws(SQLiteFailure) {
        let sql = "SELECT \(quotedIdentifier(column.name)) FROM main.\(quotedIdentifier(table))"
        _ = try PreparedStatement(db, sql, isPersistent: false)
        return nil
      } catch {
        guard error.primaryCode == SQLITE_ERROR else { return nil }
        return DatabaseTable.Unreadable(column: column.name, reason: error.message)
      }
    }
  }

  /// The columns of a table or view; empty for a view that does not compile any more.
  private static func columns(
    _ db: OpaquePointer, _ table: String
  ) -> (listed: [DatabaseTable.Column], hidden: [String]) {
    let sql = "SELECT name, type, \"notnull\", pk, dflt_value, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid"
    let rows = try? PreparedStatement.rows(db, sql, [.text(table)]) { row in
      var column = DatabaseTable.Column(
        name: row.text(0) ?? "", type: row.text(1) ?? "", isNotNull: row.integer(2) != 0,
        keyPosition: Int(row.integer(3)))
      column.isGenerated = row.integer(5) > 1
      column.defaultSQL = row.text(4)
      return (column: column, isHidden: row.integer(5) == 1)
    }
    guard let rows else { return ([], []) }
    return (rows.filter { !$0.isHidden }.map(\.column), rows.filter(\.isHidden).map(\.column.name))
  }
}

extension DatabaseSchema.Table {
  /// Whether everything but triggers and foreign keys follows from the definition and root page, and these are the
  /// same. Views and virtual tables also depend on other tables.
  fileprivate func isSame(as table: SchemaCatalog.Table) -> Bool {
    guard let storage, kind.rawValue == table.kind else { return false }
    return name == table.name && storage.table.definition == table.definition
      && storage.table.rootPage == table.rootPage && storage.isWithoutRowid == table.isWithoutRowid
  }

  fileprivate func with(_ foreignKeys: [DatabaseTable.ForeignKey], hasTriggers: Bool) -> Self {
    Self(
      name: name, kind: kind, columns: columns, key: key, storage: storage, storedIn: storedIn, isSearch: isSearch,
      definition: definition, hiddenColumns: hiddenColumns, foreignKeys: foreignKeys, hasTriggers: hasTriggers,
      module: module, searched: searched
    ).leavingOut(unreadable)
  }
}

extension SchemaCatalog {
  /// The tables whose changed rowids show which rows of a full-text table (FTS5) may have changed; nil if there are no
  /// such tables.
  ///
  /// A full-text table that searches another table's rows has no rows of its own. If triggers of that table maintain
  /// the index, as in SQLite's manual, each change of the index comes with a change of the table's row, or of the row's
  /// length in the index.
  fileprivate func rows(
    of search: Table, _ triggers: [String: [String]], _ db: OpaquePointer
  ) throws(SQLiteFailure) -> [String]? {
    guard search.module == "fts5" else { return nil }
    if search.keepsRows { return [search.name + "_content"] }
    let lengths = search.name + "_docsize"
    guard let searched = search.searched, let content = tables.first(where: { isSameName($0.name, searched.name) }),
      content.kind == "table", tables.contains(where: { $0.kind == "shadow" && isSameName($0.name, lengths) }),
      case .rowid(let alias)? = try TableKey.read(db, content),
      isSameName(alias, searched.rowid) || TableKey.isRowidName(searched.rowid)
    else { return nil }
    let events = (triggers[content.name.lowercased()] ?? []).compactMap { Self.event(of: $0, naming: search.name) }
    return Set(events).count == 3 ? [lengths, content.name] : nil
  }

  /// The tables that store a virtual table's rows: its shadow tables, and for full-text search the table whose rows it
  /// searches, if that is a different one.
  fileprivate func storage(of virtual: Table) -> [String] {
    let shadows = tables.filter { $0.kind == "shadow" && hasNamePrefix($0.name, virtual.name + "_") }.map(\.name)
    if shadows.isEmpty { return [] }
    guard let content = virtual.searched?.name else { return shadows }
    // The rows that a view or a virtual table consists of are unknown. A name that is not that of an ordinary table
    // expresses this.
    return shadows + [content]
  }
}
