import LiveQuery

/// Identifies a row of a table.
package enum TableKey: Sendable, Equatable {
  /// The rowid. `alias` is a name for it: the name of the INTEGER PRIMARY KEY column if there is one, otherwise the
  /// first of `rowid`, `_rowid_` and `oid` that is not the name of a column. Without an INTEGER PRIMARY KEY, VACUUM may
  /// renumber the rows.
  case rowid(alias: String)
  /// The columns of the primary key, in its order. Unless the table is WITHOUT ROWID they may hold NULL, and rows
  /// with a NULL in their key need not be unique.
  case columns([String])

  /// The names by which SQL reads the key of a row; at least one.
  package var names: [String] {
    switch self {
    case .rowid(let alias): [alias]
    case .columns(let columns): columns
    }
  }

  package static let rowidNames = ["rowid", "_rowid_", "oid"]

  package static func isRowidName(_ name: String) -> Bool { rowidNames.contains { isSameName($0, name) } }
}

extension TableKey {
  /// Reads the key of a table. Nil if nothing distinguishes its rows.
  static func read(_ db: OpaquePointer, _ table: SchemaCatalog.Table) throws(SQLiteFailure) -> TableKey? {
    // INTEGER PRIMARY KEY is the only primary key without an index. (The column's type is not enough: INTEGER PRIMARY
    // KEY DESC is an ordinary column with an index.)
    let indexed = """
      SELECT info.name FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS info
      WHERE list.origin = 'pk' AND info.key ORDER BY info.seqno
      """
    let columns = try PreparedStatement.texts(db, indexed, [.text(table.name)])
    if !columns.isEmpty {
      return .columns(columns.reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } })
    }
    let sql = "SELECT name, pk FROM pragma_table_xinfo(?1, 'main')"
    let all = try PreparedStatement.rows(db, sql, [.text(table.name)]) {
      (name: $0.text(0) ?? "", place: $0.integer(1))
    }
    if let column = all.first(where: { $0.place > 0 }) { return .rowid(alias: column.name) }
    let names = all.map(\.name)
    return rowidNames.first { name in !names.contains { isSameName($0, name) } }.map { .rowid(alias: $0) }
  }
}
