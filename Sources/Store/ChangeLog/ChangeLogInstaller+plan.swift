import GRDB
import LiveQuery

/// What should be installed, and how it compares with what is.
extension ChangeLogInstaller {
  /// What should be installed for the entries: each with the shape of the table that it means now.
  struct Plan {
    var tables: [(entry: TrackedTable, shape: TableShape)] = []

    var triggers: [Schema.Trigger] {
      tables.flatMap { ChangeTriggers(id: $0.entry.id, shape: $0.shape).all }
    }

    mutating func append(id: Int64, _ shape: TableShape) {
      let entry = TrackedTable(
        id: id, name: shape.name, columns: shape.columns.map(\.name), key: shape.key, captured: shape.captured)
      tables.append((entry, shape))
    }
  }

  /// - Parameter names: tables to track besides those tracked already.
  func plan(_ catalog: SchemaCatalog, installed: [Installed], adding names: [SchemaCatalog.Table]) throws
    -> Plan
  {
    var plan = Plan()
    var names = names
    for entry in try Self.entries(db) {
      // A renamed table took its triggers along; one that was dropped and made anew lost them.
      let renamed = installed.first { $0.name == Schema.insertTrigger(entry.id) }?.table
      let recorded = catalog.table(entry.name)
      guard let table = renamed.flatMap(catalog.table) ?? recorded, let shape = try Self.shape(db, table) else {
        continue
      }
      plan.append(id: entry.id, shape)
      // After "rename t to old, create t", both are tracked.
      if let recorded, recorded.name != table.name, recorded.isTrackable { names.append(recorded) }
    }
    var next = try nextID()
    for table in names where !plan.tables.contains(where: { $0.entry.name == table.name }) {
      plan.append(id: next, try TableShape.read(db, table))
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

  /// Those of the entries for which everything is as an installation would leave it.
  static func followedEntries(_ db: Database) throws -> [TrackedTable] {
    let installed = try triggers(db)
    let catalog = try SchemaCatalog.read(db)
    return try entries(db).filter { entry in
      guard let shape = try catalog.table(entry.name).flatMap({ try shape(db, $0) }) else { return false }
      var now = Plan()
      now.append(id: entry.id, shape)
      // The prefix ends in `_`: 1 is not taken for 11.
      let own = installed.filter { hasNamePrefix($0.name, Schema.triggerPrefix(entry.id)) }
      return now.tables[0].entry == entry && matches(now.triggers, own)
    }
  }

  /// All tables that can be tracked. One without any usable key is left out rather than keeping the others from it.
  func allTables(_ catalog: SchemaCatalog) throws -> [SchemaCatalog.Table] {
    try catalog.tables.filter { try Self.shape(db, $0) != nil }
  }

  /// Nil when the table cannot be tracked.
  static func shape(_ db: Database, _ table: SchemaCatalog.Table) throws -> TableShape? {
    guard table.isTrackable else { return nil }
    do { return try TableShape.read(db, table) } catch let error as StoreError
      where error.code == ErrorCode.notAllowed
    {
      return nil
    }
  }
}
