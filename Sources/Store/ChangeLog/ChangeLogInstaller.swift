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

  /// The capacity of the installed log; nil when there is none of this format.
  static func capacity(_ db: Database) throws -> Int? {
    guard try SchemaCatalog.read(db).table(Schema.meta) != nil else { return nil }
    return try Int.fetchOne(
      db, sql: "SELECT capacity FROM main.\"\(Schema.meta)\" WHERE format = ?", arguments: [Schema.format])
  }

  static func entries(_ db: Database) throws -> [TrackedTable] {
    guard try SchemaCatalog.read(db).table(Schema.table) != nil else { return [] }
    let decoder = JSONDecoder()
    let sql = "SELECT id, name, columns, \"key\" FROM main.\"\(Schema.table)\" ORDER BY id"
    return try Row.fetchAll(db, sql: sql).map { row in
      TrackedTable(
        id: row["id"], name: row["name"],
        columns: try decoder.decode([String].self, from: Data((row["columns"] as String).utf8)),
        key: try decoder.decode(TableKey.self, from: Data((row["key"] as String).utf8)))
    }
  }

  /// What should be installed for the entries: each with the shape of the table that it means now.
  fileprivate struct Plan {
    fileprivate var tables: [(entry: TrackedTable, shape: TableShape)] = []

    var triggers: [Schema.Trigger] {
      tables.flatMap { ChangeTriggers(id: $0.entry.id, shape: $0.shape).all }
    }
  }

  /// - Parameter names: tables to track besides those tracked already.
  private func plan(_ catalog: SchemaCatalog, installed: [Installed], adding names: [SchemaCatalog.Table]) throws
    -> Plan
  {
    var plan = Plan()
    var names = names
    for entry in try Self.entries(db) {
      // A renamed table took its triggers along; one that was dropped and made anew lost them.
      let renamed = installed.first { $0.name == Schema.insertTrigger(entry.id) }?.table
      let recorded = catalog.table(entry.name)
      guard let table = renamed.flatMap(catalog.table) ?? recorded, table.isTrackable else { continue }
      try plan.append(id: entry.id, TableShape.read(db, table))
      // After "rename t to old, create t", both are tracked.
      if let recorded, recorded.isTrackable, recorded.name != table.name { names.append(recorded) }
    }
    var next = try nextID()
    for table in names where !plan.tables.contains(where: { $0.entry.name == table.name }) {
      try plan.append(id: next, TableShape.read(db, table))
      next += 1
    }
    return plan
  }

  /// An id that neither a table nor a row of the log has.
  private func nextID() throws -> Int64 {
    let sql = """
      SELECT max(ifnull((SELECT max(id) FROM main."\(Schema.table)"), 0), \
      ifnull((SELECT max(tbl) FROM main."\(Schema.log)"), 0)) + 1
      """
    return try Int64.fetchOne(db, sql: sql) ?? 1
  }

  func isCurrent() throws -> Bool {
    let installed = try Self.triggers(db)
    let catalog = try SchemaCatalog.read(db)
    guard [Schema.log, Schema.table].allSatisfy({ catalog.table($0) != nil }) else { return false }
    let plan = try plan(catalog, installed: installed, adding: [])
    let wanted = plan.triggers + [Schema.trimTrigger(capacity: capacity)]
    return try plan.tables.map(\.entry) == Self.entries(db) && Self.matches(wanted, installed)
  }

  private static func matches(_ wanted: [Schema.Trigger], _ installed: [Installed]) -> Bool {
    wanted.map { [$0.name, $0.sql] }.sorted { $0[0] < $1[0] }
      == installed.map { [$0.name, $0.sql] }.sorted { $0[0] < $1[0] }
  }

  // MARK: - Writing

  func install(tables names: [String]?) throws -> [TrackedTable] {
    let catalog = try SchemaCatalog.read(db)
    let requested = try names.map { try $0.map(catalog.trackable) } ?? catalog.tables.filter(isTrackable)
    try createTables()
    let installed = try Self.triggers(db)
    let before = try Self.entries(db)
    let plan = try plan(catalog, installed: installed, adding: requested)
    try widenLog(toKeyColumns: plan.tables.map { $0.entry.key.names.count }.max() ?? 1)
    let stale = try replaceTriggers(installed: installed, plan: plan)
    try replaceEntries(before, with: plan.tables.map(\.entry))
    let changed = before.contains { entry in
      stale.contains(entry.id) || plan.tables.contains { $0.entry.id == entry.id && $0.entry != entry }
    }
    if changed { try db.execute(sql: "UPDATE main.\"\(Schema.meta)\" SET token = random()") }
    try setCapacity()
    return plan.tables.map(\.entry)
  }

  /// Among all tables, one without any usable key is left out rather than keeping the others from being tracked.
  private func isTrackable(_ table: SchemaCatalog.Table) throws -> Bool {
    guard table.isTrackable else { return false }
    do {
      _ = try TableShape.read(db, table)
      return true
    } catch let error as StoreError where error.code == ErrorCode.notAllowed {
      return false
    }
  }

  private func createTables() throws {
    if try Self.capacity(db) != nil { return }
    // None, or one of another format, whose rows this version does not read.
    try ChangeLog.uninstall(db)
    try db.execute(sql: Schema.createTables)
    try db.execute(
      sql: "INSERT INTO main.\"\(Schema.meta)\"(id, format, token, capacity) VALUES (1, ?, random(), ?)",
      arguments: [Schema.format, capacity])
  }

  private func widenLog(toKeyColumns count: Int) throws {
    let sql = "SELECT count(*) FROM pragma_table_info(?, 'main')"
    let existing = (try Int.fetchOne(db, sql: sql, arguments: [Schema.log]) ?? 0) - Schema.logColumnsBeforeKey
    for index in existing..<max(existing, count) {
      try db.execute(sql: "ALTER TABLE main.\"\(Schema.log)\" ADD COLUMN \(Schema.keyColumn(index))")
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
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    for entry in entries where !before.contains(entry) {
      try db.execute(
        sql: "INSERT OR REPLACE INTO main.\"\(Schema.table)\"(id, name, columns, \"key\") VALUES (?, ?, ?, ?)",
        arguments: [
          entry.id, entry.name, String(decoding: try encoder.encode(entry.columns), as: UTF8.self),
          String(decoding: try encoder.encode(entry.key), as: UTF8.self),
        ])
    }
  }

  private func setCapacity() throws {
    let trigger = Schema.trimTrigger(capacity: capacity)
    let installed = try Self.triggers(db).first { $0.name == trigger.name }
    guard try installed?.sql != trigger.sql || Self.capacity(db) != capacity else { return }
    if installed != nil { try db.execute(sql: "DROP TRIGGER main.\"\(Schema.trim)\"") }
    try db.execute(sql: trigger.sql)
    try db.execute(sql: "UPDATE main.\"\(Schema.meta)\" SET capacity = ?", arguments: [capacity])
    try db.execute(
      sql: "DELETE FROM main.\"\(Schema.log)\" WHERE seq <= (SELECT max(seq) FROM main.\"\(Schema.log)\") - ?",
      arguments: [capacity])
  }
}

extension ChangeLogInstaller.Plan {
  fileprivate mutating func append(id: Int64, _ shape: TableShape) throws {
    let entry = TrackedTable(id: id, name: shape.name, columns: shape.columns.map(\.name), key: shape.key)
    tables.append((entry, shape))
  }
}
