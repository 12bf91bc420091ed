package import GRDB
import LiveQuery

extension ChangeLog {
  /// Changes the schema with the triggers out of the way, and installs again: one transaction, all or nothing.
  ///
  /// For `ALTER TABLE … DROP COLUMN`, which SQLite refuses while a trigger names the column. Every trigger that tells
  /// whether a column changed has to name it, so there is no form of the triggers that it would not refuse. (Under
  /// `PRAGMA legacy_alter_table` it drops the column, and the next UPDATE of the table fails.)
  ///
  /// Tracked tables stay so under whatever names the statements leave them; tables that they create are tracked when
  /// the log is for all tables. The log gets a new token, for what the statements write is not logged. Without a log
  /// the statements are run all the same.
  ///
  /// - Parameter sql: one or more statements, none of which begins or ends a transaction. Foreign keys should be off on
  ///   this connection, as SQLite's documentation advises for rebuilding a table: violations are looked for at the end.
  /// - Throws: `bad_query` (SQLite's message, or a statement that cannot be part of it), `constraint` when foreign keys
  ///   are violated that were not before, `read_only`, `overloaded` when somebody else keeps writing.
  package static func alter(_ db: Database, sql: String) throws(StoreError) {
    try withStoreErrors {
      try inTransaction(db) {
        let settings = try ChangeLogInstaller.settings(db)
        let violations = foreignKeyViolations(db)
        if settings != nil { try removeTriggersThatNameColumns(db) }
        try run(sql, db)
        if let violations, let now = foreignKeyViolations(db), now > violations {
          throw StoreError(code: .constraint, message: "rows would be left that refer to rows which are not there")
        }
        guard let settings else { return }
        _ = try ChangeLogInstaller(db: db, capacity: settings.capacity)
          .install(tables: settings.tracksAllTables ? nil : [])
      }
    }
  }

  /// All but the insert triggers, which name the key alone and by which `install` finds a table that was renamed.
  private static func removeTriggersThatNameColumns(_ db: Database) throws {
    let kept = try Set(ChangeLogInstaller.entries(db).map { ChangeLogSchema.insertTrigger($0.id) })
    for trigger in try ChangeLogInstaller.triggers(db) where !kept.contains(trigger.name) {
      try db.execute(sql: "DROP TRIGGER main.\(quotedIdentifier(trigger.name))")
    }
  }

  private static func run(_ sql: String, _ db: Database) throws {
    let statements = try db.allStatements(sql: sql)
    var number = 1
    do {
      while let statement = try statements.next() {
        try checkIsNoTransactionControl(statement.sql)
        try statement.execute()
        number += 1
      }
    } catch let error as DatabaseError where StoreError.code(of: error.resultCode) == .internal {
      throw StoreError(code: .badQuery, message: "statement \(number): \(error.message ?? "\(error)")", cause: error)
    }
    if number == 1 { throw StoreError(code: .badQuery, message: "there is no statement") }
  }

  private static func checkIsNoTransactionControl(_ sql: String) throws(StoreError) {
    let tokenizer = SQLTokenizer(sql)
    guard let first = tokenizer.first(where: { $0.kind != .comment }).map(tokenizer.text) else { return }
    let words = ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM", "PRAGMA"]
    if words.contains(where: { isSameName($0, first) }) {
      throw StoreError(
        code: .badQuery, message: "\(first.uppercased()) cannot be among the statements: they run in one transaction")
    }
  }

  /// Nil when SQLite cannot tell, as for a foreign key to columns that are not unique.
  private static func foreignKeyViolations(_ db: Database) -> Int? {
    try? Int.fetchOne(db, sql: "SELECT count(*) FROM pragma_foreign_key_check")
  }
}
