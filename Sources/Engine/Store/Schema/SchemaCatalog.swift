/// The entries of the main database's schema, by name.
struct SchemaCatalog {
  struct Table {
    let name: String
    /// `table`, `view`, `virtual` or `shadow`.
    let kind: String
    let isWithoutRowid: Bool
    /// The CREATE statement.
    let definition: String
    /// The root page; 0 for views and virtual tables.
    let rootPage: UInt32
  }

  /// All tables in the order of their names, without SQLite's and Freshet's own.
  let tables: [Table]

  static func read(_ db: OpaquePointer) throws(SQLiteFailure) -> SchemaCatalog {
    let sql = """
      SELECT list.name, list.type, list.wr, master.sql, master.rootpage
      FROM pragma_table_list AS list
      JOIN main.sqlite_master AS master ON master.name = list.name AND master.type IN ('table', 'view')
      WHERE list.schema = 'main' ORDER BY list.name
      """
    let tables = try PreparedStatement.rows(db, sql) { row in
      Table(
        name: row.text(0) ?? "", kind: row.text(1) ?? "", isWithoutRowid: row.integer(2) != 0,
        definition: row.text(3) ?? "", rootPage: UInt32(clamping: row.integer(4)))
    }
    return SchemaCatalog(tables: tables.filter { !ReservedNames.contains($0.name) })
  }
}

/// Names that users' tables may not have.
package enum ReservedNames {
  /// The prefix of Freshet's own tables: temporary ones, and those that the change log of version 0.1 left in files.
  package static let prefix = "_freshet_"

  package static func contains(_ name: String) -> Bool { hasNamePrefix(name, "sqlite_") || hasNamePrefix(name, prefix) }
}
