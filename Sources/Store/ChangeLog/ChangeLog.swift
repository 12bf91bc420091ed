package import GRDB
import LiveQuery

/// The change log of a database: triggers that write every changed row's table, key, operation and changed columns
/// into one table, for every writer in every language in any process.
///
/// What it adds is named `_freshet_…`: three tables, up to seven triggers per tracked table, and one that keeps the log
/// short. What writers see of it: nothing but time, the log's own pages, and `sqlite3_total_changes()`, which counts
/// the rows that triggers write (`changes()` and `last_insert_rowid()` do not). Not logged: changes by a connection
/// that switched triggers off (`SQLITE_DBCONFIG_ENABLE_TRIGGER`).
///
/// While a table is tracked, SQLite refuses `ALTER TABLE … DROP COLUMN` on it, as it does for any column a trigger
/// names: `alter` is the way. Adding and renaming columns, renaming, dropping and rebuilding the table work;
/// `refreshIfNeeded` or `install` afterwards brings the triggers up to date.
package enum ChangeLog {
  /// Whether the name of a table is one that only Freshet's own tables have, or SQLite's.
  package static func isReserved(_ name: String) -> Bool {
    hasNamePrefix(name, "sqlite_") || hasNamePrefix(name, ChangeLogSchema.prefix)
  }

  /// Rows that the log keeps unless told otherwise.
  package static let defaultCapacity = 100_000

  /// Tracks tables, brings what is tracked already up to date, and forgets tables that were dropped.
  ///
  /// All in one transaction (IMMEDIATE), or in a savepoint of the caller's. Installing what is installed writes
  /// nothing. When changes may have gone unlogged since the last time (a table was altered or rebuilt), the log gets
  /// a new token, by which every `ChangeLogReader` reports a gap.
  ///
  /// - Parameter tables: names in any case; nil for all tables that can be tracked, and those made later (see
  ///   `refreshIfNeeded`). Tables tracked before stay so.
  /// - Parameter capacity: rows that the log keeps at most, 1 or more.
  /// - Returns: all tracked tables, in order of id.
  /// - Throws: `no_such_table`, `not_allowed` (a view, a virtual table, …), `bad_argument` (the capacity),
  /// `read_only`.
  package static func install(
    _ db: Database, tables: [String]? = nil, capacity: Int = defaultCapacity
  ) throws(StoreError) -> [TrackedTable] {
    guard capacity > 0 else {
      throw StoreError(code: ErrorCode.badArgument, message: "the change log's capacity must be 1 or more")
    }
    return try withStoreErrors {
      var result: [TrackedTable] = []
      try inTransaction(db) {
        result = try ChangeLogInstaller(db: db, capacity: capacity).install(tables: tables)
      }
      return result
    }
  }

  /// Removes every trace: the schema is afterwards what it was without Freshet. Does nothing when there is none.
  package static func uninstall(_ db: Database) throws(StoreError) {
    try withStoreErrors {
      try inTransaction(db) {
        for trigger in try ChangeLogInstaller.triggers(db) {
          try db.execute(sql: "DROP TRIGGER main.\(quotedIdentifier(trigger.name))")
        }
        for table in [ChangeLogSchema.log, ChangeLogSchema.table, ChangeLogSchema.meta] {
          try db.execute(sql: "DROP TABLE IF EXISTS main.\"\(table)\"")
        }
      }
    }
  }

  /// The tracked tables as they were when last installed, in order of id; empty when the database is not tracked.
  package static func trackedTables(_ db: Database) throws(StoreError) -> [TrackedTable] {
    try withStoreErrors { try ChangeLogInstaller.entries(db) }
  }

  /// Those of the tracked tables whose changes are logged in full: their triggers are exactly those that `install`
  /// would make for them as they are now. A table that was renamed, rebuilt or made anew, that got another column, index
  /// or foreign key, or that lost a trigger, is not among them until `install` is called again. The trigger that
  /// keeps the log short does not matter.
  ///
  /// To be called whenever `PRAGMA schema_version` moves: it reads the schema alone, in about 0.2 ms per tracked table.
  package static func followedTables(_ db: Database) throws(StoreError) -> [TrackedTable] {
    try withStoreErrors { try ChangeLogInstaller.followedEntries(db) }
  }

  /// Whether the log and its triggers are those that `install` would make for the schema as it is now. When not,
  /// changes may go unlogged until `install` is called again; untracked tables make no difference.
  package static func isCurrent(_ db: Database) throws(StoreError) -> Bool {
    try withStoreErrors {
      guard let settings = try ChangeLogInstaller.settings(db) else { return false }
      return try ChangeLogInstaller(db: db, capacity: settings.capacity).isCurrent()
    }
  }

  static func inTransaction(_ db: Database, _ body: () throws -> Void) throws {
    func committing() throws -> Database.TransactionCompletion {
      try body()
      return .commit
    }
    if db.isInsideTransaction {
      try db.inSavepoint(committing)
    } else {
      try db.inTransaction(.immediate, committing)
    }
  }
}
