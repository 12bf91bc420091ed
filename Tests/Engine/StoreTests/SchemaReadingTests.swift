import GRDB
import TestSupport
import Testing

@testable import Store

/// A schema that is read after an earlier one of the same file: only changed tables are queried.
@Suite struct SchemaReadingTests {
  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue()
    try run(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
      CREATE TABLE keyed(a TEXT, b INT, c REAL DEFAULT 1, PRIMARY KEY (b, a)) WITHOUT ROWID;
      CREATE TABLE computed(a, b AS (a + 1), c AS (a * 2) STORED);
      CREATE VIEW seen AS SELECT * FROM parent;
      CREATE VIRTUAL TABLE found USING fts5(text);
      """)
  }

  private func run(_ sql: String) throws { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }

  private func read(after former: DatabaseSchema = .empty) throws -> DatabaseSchema {
    try queue.read { try DatabaseSchema.read($0.sqliteConnection!, after: former) }
  }

  /// The schema's tables as text.
  private func text(_ schema: DatabaseSchema) -> [String] {
    schema.tables.map { table in
      let storage = table.storage.map { "\($0.table) \($0.fields) \($0.keyFields ?? [])" } ?? "-"
      return "\(table.name) \(table.kind) \(table.columns) \(String(describing: table.key)) \(storage) "
        + "\(table.storedIn) \(table.isSearch) \(table.definition ?? "") \(table.hiddenColumns) "
        + "\(table.foreignKeys) \(table.hasTriggers)"
    }
  }

  @Test(arguments: [
    "ALTER TABLE child ADD COLUMN more DEFAULT 7", "ALTER TABLE parent RENAME COLUMN name TO called",
    "ALTER TABLE parent RENAME TO elder", "DROP TABLE child",
    "DROP TABLE parent; CREATE TABLE parent(other PRIMARY KEY)",
    "DROP TABLE parent; CREATE TABLE parent(a, b, PRIMARY KEY (a, b))", "DROP TABLE parent",
    "CREATE TRIGGER t AFTER INSERT ON child BEGIN SELECT 1; END", "DROP TABLE found", "VACUUM",
    "DROP VIEW seen; CREATE VIEW seen AS SELECT id FROM child", "DROP VIEW seen; CREATE TABLE seen(a)",
    "DROP TABLE keyed; CREATE TABLE keyed(a TEXT, b INT, c REAL DEFAULT 1, PRIMARY KEY (b, a))",
    "CREATE TABLE another(a, b REFERENCES child)", "CREATE INDEX i ON child(parent)",
    "DROP TABLE computed; CREATE TABLE first(x); CREATE TABLE computed(a, b AS (a + 1), c AS (a * 2) STORED)",
  ])
  func `It is what a first reading gives`(change: String) throws {
    let former = try read()
    try run(change)
    #expect(text(try read(after: former)) == text(try read()))
  }

  @Test func `An altered table among many costs as many statements as among few`() throws {
    for number in 0..<500 { try run("CREATE TABLE many\(number)(id INTEGER PRIMARY KEY, a, b REFERENCES parent)") }
    let former = try read()
    try run("ALTER TABLE many7 ADD COLUMN c")
    var count = 0
    let schema = try queue.read { db in
      db.trace { _ in count += 1 }
      defer { db.trace() }
      return try DatabaseSchema.read(db.sqliteConnection!, after: former)
    }
    #expect(schema.table("many7")?.columnNames == ["id", "a", "b", "c"])
    #expect(count < 60, "\(count) statements")
  }
}
