import LiveQuery
import Store

/// Changes a replica's schema, in the transaction that is open.
///
/// Tables, indexes, views and triggers are made by the statements that made them. A virtual table is only entered in
/// the schema: making it would make its shadow tables, which come as tables of their own, and needs a module that a
/// replica may not have.
struct SchemaChange {
  private let connection: OpaquePointer

  init(_ connection: OpaquePointer) { self.connection = connection }

  /// - Parameter objects: all objects of the new schema.
  func lead(to objects: [SchemaObject]) throws {
    let wanted = Set(objects)
    // Triggers, views and indexes go first: they are dropped with their table, and may not fit the others any more.
    for type in ["trigger", "view", "index", "table"] {
      for object in try current() where object.type == type && !wanted.contains(object) { try drop(object) }
    }
    let present = Set(try current())
    for type in ["table", "index", "view", "trigger"] {
      for object in objects where object.type == type && !present.contains(object) { try make(object) }
    }
    // A new schema version has other connections read the schema again.
    let version = try PreparedStatement(connection, "PRAGMA main.schema_version", isPersistent: false)
    let number = try version.step() ? version.integer(0) : 0
    version.reset()
    try run("PRAGMA main.schema_version = \(number + 1)")
  }

  private func current() throws -> [SchemaObject] {
    let list = try PreparedStatement(
      connection, "SELECT type, name, tbl_name, sql, rootpage FROM main.sqlite_schema ORDER BY rowid",
      isPersistent: false)
    var objects: [SchemaObject] = []
    while try list.step() {
      guard let type = list.text(0), let name = list.text(1), let table = list.text(2),
        PublishedSchema.isLogged(name), PublishedSchema.isLogged(table)
      else { continue }
      objects.append(
        SchemaObject(type: type, name: name, table: table, sql: list.text(3), isStored: list.integer(4) > 0))
    }
    return objects
  }

  private func drop(_ object: SchemaObject) throws {
    if object.isVirtual {
      return try edit { try enter("DELETE FROM main.sqlite_schema WHERE type = 'table' AND name = ?1", [object.name]) }
    }
    // Skip indexes that SQLite made, and objects that were dropped with their table.
    guard object.sql != nil, try current().contains(object) else { return }
    if isSameName(object.name, "sqlite_sequence") { return try run("DELETE FROM main.sqlite_sequence") }
    try run("DROP \(object.type.uppercased()) main.\(quotedIdentifier(object.name))")
  }

  private func make(_ object: SchemaObject) throws {
    guard let sql = object.sql else { return }
    if object.isVirtual {
      try edit {
        try enter(
          "INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES ('table', ?1, ?2, 0, ?3)",
          [object.name, object.table, sql])
      }
    } else if isSameName(object.name, "sqlite_sequence") {
      // SQLite makes `sqlite_sequence` with the first table that needs it.
      if try current().contains(where: { isSameName($0.name, object.name) }) { return }
      try run("CREATE TABLE main._freshet_sequence(id INTEGER PRIMARY KEY AUTOINCREMENT)")
      try run("DROP TABLE main._freshet_sequence")
    } else if hasNamePrefix(object.name, "sqlite_stat") {
      try run("ANALYZE main.sqlite_schema")
    } else {
      try run(sql)
    }
  }

  private func edit(_ body: () throws -> Void) throws {
    try run("PRAGMA writable_schema = ON")
    // RESET also has this connection read the schema again.
    defer { try? run("PRAGMA writable_schema = RESET") }
    try body()
  }

  private func enter(_ sql: String, _ values: [String]) throws {
    let statement = try PreparedStatement(connection, sql, isPersistent: false)
    for (index, value) in values.enumerated() { statement.bind(.text(value), at: Int32(index + 1)) }
    _ = try statement.step()
  }

  private func run(_ sql: String) throws(SQLiteFailure) { try PreparedStatement.run(connection, sql) }
}
