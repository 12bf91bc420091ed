import Foundation
import GRDB
import LiveQuery

/// One installation: compares what the schema should hold with what it does, and writes the difference.
struct ChangeLogInstaller {
  let db: Database
  let capacity: Int

  typealias Schema = ChangeLogSchema

  /// A trigger as the schema has it.
  struct Installed {
    let name: String
    let table: String
    let sql: String
  }

  // MARK: - Reading

  static func triggers(_ db: Database) throws -> [Installed] {
    let sql = "SELECT name, tbl_name, sql FROM main.sqlite_master WHERE type = 'trigger' ORDER BY rowid"
    return try Row.fetchAll(db, sql: sql).map { Installed(name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
      .filter { hasNamePrefix($0.name, Schema.prefix) }
  }

  /// What the installed log was told when it was installed.
  struct Settings {
    let capacity: Int
    /// Whether tables made later are to be tracked too, at the next installation.
    let tracksAllTables: Bool
  }

  /// Nil when no log of this format is installed.
  static func settings(_ db: Database) throws -> Settings? {
    guard try hasTable(db, Schema.meta) else { return nil }
    let meta = "SELECT * FROM main.\"\(Schema.meta)\" WHERE format = ?"
    return try Row.fetchOne(db, sql: meta, arguments: [Schema.format]).map { row in
      Settings(capacity: row["capacity"], tracksAllTables: row["alltables"])
    }
  }

  /// Empty when no log of this format is installed.
  static func entries(_ db: Database) throws -> [TrackedTable] {
    guard try settings(db) != nil, try hasTable(db, Schema.table) else { return [] }
    let sql = "SELECT id, name, columns, \"key\", captured FROM main.\"\(Schema.table)\" ORDER BY id"
    return try Row.fetchAll(db, sql: sql).map { row in
      TrackedTable(
        id: row["id"], name: row["name"], columns: try decoded(row["columns"]), key: try decoded(row["key"]),
        captured: try decoded(row["captured"]))
    }
  }

  static func hasTable(_ db: Database, _ name: String) throws -> Bool {
    let sql = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?"
    return try Int.fetchOne(db, sql: sql, arguments: [name]) != nil
  }

  private static func decoded<Value: Decodable>(_ json: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(json.utf8))
  }

  private static func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  // MARK: - Writing

  func install(tables names: [String]?) throws -> [TrackedTable] {
    let catalog = try SchemaCatalog.read(db)
    let requested = try names.map { try $0.map(catalog.trackable) } ?? allTables(catalog)
    let formerly = try createTables().compactMap(catalog.table).filter { try Self.shape(db, $0) != nil }
    let installed = try Self.triggers(db)
    let before = try Self.entries(db)
    let plan = try plan(catalog, installed: installed, adding: formerly + requested)
    try widenLog(toValues: plan.tables.map { $0.entry.key.names.count + $0.entry.captured.count }.max() ?? 1)
    let stale = try replaceTriggers(installed: installed, plan: plan)
    try replaceEntries(before, with: plan.tables.map(\.entry))
    let changed = before.contains { entry in
      stale.contains(entry.id) || plan.tables.contains { $0.entry.id == entry.id && $0.entry != entry }
    }
    if changed { try db.execute(sql: "UPDATE main.\"\(Schema.meta)\" SET token = random()") }
    if try names == nil && Self.settings(db)?.tracksAllTables == false {
      try db.execute(sql: "UPDATE main.\"\(Schema.meta)\" SET alltables = 1")
    }
    try setCapacity()
    return plan.tables.map(\.entry)
  }

  /// - Returns: the names of the tables that a log of another format had, which was replaced.
  private func createTables() throws -> [String] {
    if try Self.settings(db) != nil { return [] }
    let names = "SELECT name FROM main.\"\(Schema.table)\" ORDER BY id"
    let formerly = try Self.hasTable(db, Schema.table) ? String.fetchAll(db, sql: names) : []
    // Its rows are not read by this version.
    try ChangeLog.uninstall(db)
    try db.execute(sql: Schema.createTables)
    try db.execute(
      sql: "INSERT INTO main.\"\(Schema.meta)\"(id, format, token, capacity, alltables) VALUES (1, ?, random(), ?, 0)",
      arguments: [Schema.format, capacity])
    return formerly
  }

  private func widenLog(toValues count: Int) throws {
    let sql = "SELECT count(*) FROM pragma_table_info(?, 'main')"
    let existing = (try Int.fetchOne(db, sql: sql, arguments: [Schema.log]) ?? 0) - Schema.logColumnsBeforeValues
    for index in existing..<max(existing, count) {
      try db.execute(sql: "ALTER TABLE main.\"\(Schema.log)\" ADD COLUMN \(Schema.valueColumn(index))")
    }
  }

  /// - Returns: the ids of the tables whose triggers were not as they should be.
  private func replaceTriggers(installed: [Installed], plan: Plan) throws -> Set<Int64> {
    let wanted = plan.triggers
    for trigger in installed
    where trigger.name != Schema.trim && !wanted.contains(Schema.Trigger(name: trigger.name, sql: trigger.sql)) {
      try db.execute(sql: "DROP TRIGGER main.\(quotedIdentifier(trigger.name))")
    }
    var stale: Set<Int64> = []
    for (entry, shape) in plan.tables {
      let triggers = ChangeTriggers(id: entry.id, shape: shape).all
      for trigger in triggers where !installed.contains(where: { $0.name == trigger.name && $0.sql == trigger.sql }) {
        try db.execute(sql: trigger.sql)
        stale.insert(entry.id)
      }
    }
    return stale
  }

  private func replaceEntries(_ before: [TrackedTable], with entries: [TrackedTable]) throws {
    for entry in before where !entries.contains(where: { $0.id == entry.id }) {
      try db.execute(sql: "DELETE FROM main.\"\(Schema.table)\" WHERE id = ?", arguments: [entry.id])
    }
    for entry in entries where !before.contains(entry) {
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO main."\(Schema.table)"(id, name, columns, "key", captured) VALUES (?, ?, ?, ?, ?)
          """,
        arguments: [
          entry.id, entry.name, try Self.encoded(entry.columns), try Self.encoded(entry.key),
          try Self.encoded(entry.captured),
        ])
    }
  }

  private func setCapacity() throws {
    let trigger = Schema.trimTrigger(capacity: capacity)
    let installed = try Self.triggers(db).first { $0.name == trigger.name }
    guard try installed?.sql != trigger.sql || Self.settings(db)?.capacity != capacity else { return }
    if installed != nil { try db.execute(sql: "DROP TRIGGER main.\"\(Schema.trim)\"") }
    try db.execute(sql: trigger.sql)
    try db.execute(sql: "UPDATE main.\"\(Schema.meta)\" SET capacity = ?", arguments: [capacity])
    try db.execute(
      sql: "DELETE FROM main.\"\(Schema.log)\" WHERE seq <= (SELECT max(seq) FROM main.\"\(Schema.log)\") - ?",
      arguments: [capacity])
  }
}
