package import GRDB

extension ChangeLog {
  /// Installs again when the schema has changed such that changes may go unlogged: when `isCurrent` is false, or, in a
  /// log installed for all tables, when there is a table that is not tracked yet. The log keeps its capacity.
  ///
  /// Writes nothing, and takes no lock, when nothing is needed. To be called outside of a transaction.
  ///
  /// - Returns: whether it installed; the schema's version has then moved.
  /// - Throws: `read_only`, and what SQLite reports. Without a log, or with one of another
  ///   format, it returns false; it does not make one.
  package static func refreshIfNeeded(_ db: Database) throws(StoreError) -> Bool {
    let settings = try withStoreErrors { try ChangeLogInstaller.settings(db) }
    guard let settings else { return false }
    let isNeeded = try withStoreErrors {
      let installer = ChangeLogInstaller(db: db, capacity: settings.capacity)
      return try !installer.isCurrent() || settings.tracksAllTables && installer.hasNewTables()
    }
    guard isNeeded else { return false }
    _ = try install(db, tables: settings.tracksAllTables ? nil : [], capacity: settings.capacity)
    return true
  }
}

extension ChangeLogInstaller {
  /// Whether there is a table that an installation for all tables would add.
  func hasNewTables() throws -> Bool {
    let entries = try Self.entries(db)
    return try allTables(SchemaCatalog.read(db)).contains { table in !entries.contains { $0.name == table.name } }
  }
}
