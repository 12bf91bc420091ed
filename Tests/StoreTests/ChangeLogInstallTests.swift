import GRDB
import GRDBSQLite
import LiveQuery
import TestSupport
import Testing

@testable import Store

/// Installing, repairing and removing the log.
@Suite struct ChangeLogInstallTests {
  private static let schema = """
    CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
    CREATE TABLE sequence(id INTEGER PRIMARY KEY AUTOINCREMENT, v); INSERT INTO sequence(v) VALUES (1);
    CREATE TABLE pair(a, b TEXT COLLATE NOCASE, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE VIEW names AS SELECT name FROM well; CREATE INDEX byName ON well(name);
    CREATE TRIGGER mine AFTER INSERT ON well BEGIN UPDATE sequence SET v = v + 1; END;
    CREATE VIRTUAL TABLE words USING fts5(text);

    """

  private func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code.rawValue ?? "\(error)"
    }
  }

  @Test(arguments: ["", "PRAGMA auto_vacuum = FULL;\n", "PRAGMA encoding = 'UTF-16';\n"])
  func untrackLeavesTheSchemaAsItWas(pragma: String) throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    let before = try fixture.schema()
    try fixture.install()
    try fixture.write("INSERT INTO well(name) VALUES ('a'); REPLACE INTO well(name) VALUES ('a'); ANALYZE;")
    let statistics = try fixture.schema().filter { $0.contains("sqlite_stat") }
    try fixture.uninstall()
    #expect(try fixture.schema() == before + statistics, "the statistics are the writer's own")
    #expect(try fixture.write("SELECT count(*) FROM sqlite_stat1 WHERE tbl LIKE '\\_freshet%' ESCAPE '\\'") == "0")
    #expect(try fixture.write("PRAGMA integrity_check") == "ok")
    try fixture.uninstall()
    #expect(try fixture.queue.read { try ChangeLog.trackedTables($0) } == [])
    #expect(try fixture.isCurrent() == false)
  }

  @Test func installingAgainWritesNothing() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let (tables, schema) = (fixture.tables, try fixture.schema())
    #expect(tables.map(\.name) == ["pair", "sequence", "well"])
    let version = try fixture.write("PRAGMA schema_version; PRAGMA data_version;")
    let before = try fixture.queue.read { $0.totalChangesCount }
    #expect(try fixture.install() == tables)
    #expect(try fixture.queue.read { $0.totalChangesCount } == before)
    #expect(try fixture.schema() == schema)
    #expect(try fixture.write("PRAGMA schema_version; PRAGMA data_version;") == version)
    #expect(try fixture.queue.read { try ChangeLog.trackedTables($0) } == tables)
    #expect(try fixture.isCurrent())
  }

  @Test func tablesAddUp() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: ["WELL"])
    #expect(fixture.tables.map(\.name) == ["well"])
    #expect(try fixture.install(tables: ["pair"]).map(\.name) == ["well", "pair"])
    #expect(
      try fixture.keys(after: "INSERT INTO pair VALUES (1, 'x'); INSERT INTO sequence(v) VALUES (1);") == ["pair:'x',1"]
    )
    #expect(try fixture.schema().contains { $0.contains("v1") })
  }

  @Test func anErrorLeavesTheSchemaAlone() throws {
    let fixture = try ChangeLogFixture(
      Self.schema + "CREATE TABLE hidden(rowid, _rowid_, oid); CREATE TABLE rtree_like(a);", tables: [])
    let before = try fixture.schema()
    let cases = [
      ("nothing", "no_such_table"), ("names", "not_allowed"), ("words", "not_allowed"), ("words_data", "not_allowed"),
      ("sqlite_sequence", "not_allowed"), ("sqlite_schema", "not_allowed"), ("hidden", "not_allowed"),
    ]
    for (name, expected) in cases {
      #expect(code { try fixture.install(tables: ["well", name]) } == expected, "\(name)")
    }
    #expect(code { try fixture.install(capacity: 0) } == "bad_argument")
    #expect(try fixture.schema() == before)
    #expect(try fixture.install().map(\.name) == ["pair", "rtree_like", "sequence", "well"], "all that can be tracked")
    #expect(code { try fixture.install(tables: ["_freshet_log"]) } == "not_allowed")
    var configuration = Configuration()
    configuration.readonly = true
    let readOnly = try DatabaseQueue(path: fixture.path, configuration: configuration)
    #expect(code { try readOnly.read { try ChangeLog.uninstall($0) } } == "read_only")
  }

  @Test func keysOfTables() throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE a("the id" INTEGER PRIMARY KEY); CREATE TABLE b(k INTEGER PRIMARY KEY DESC); CREATE TABLE c(v);
      CREATE TABLE d(x INT, y TEXT COLLATE RTRIM, PRIMARY KEY (y, x COLLATE NOCASE)); CREATE TABLE e(rowid);
      CREATE TABLE f(x INTEGER PRIMARY KEY) WITHOUT ROWID; CREATE TABLE g(x INT PRIMARY KEY);
      CREATE TABLE h(x INTEGER, PRIMARY KEY (x)); CREATE VIEW v AS SELECT 1;
      """, tables: [])
    let expected: [(String, TableKey)] = [
      ("a", .rowid(alias: "the id")), ("b", .columns([KeyColumn(name: "k", collation: "BINARY")])),
      ("C", .rowid(alias: "rowid")),
      ("d", .columns([KeyColumn(name: "y", collation: "RTRIM"), KeyColumn(name: "x", collation: "NOCASE")])),
      ("e", .rowid(alias: "_rowid_")), ("f", .columns([KeyColumn(name: "x", collation: "BINARY")])),
      ("g", .columns([KeyColumn(name: "x", collation: "BINARY")])), ("h", .rowid(alias: "x")),
    ]
    try fixture.queue.read { (db: Database) throws in
      for (table, key) in expected { #expect(try TableKey.derive(db, table: table) == key) }
      #expect(code { _ = try TableKey.derive(db, table: "v") } == "not_allowed")
      #expect(code { _ = try TableKey.derive(db, table: "none") } == "no_such_table")
    }
  }

  struct Alteration: Sendable, CustomTestStringConvertible {
    let sql: String
    /// Tables, columns and whether changes went on being logged under the old names is told by the log after this.
    let after: String
    let logged: [String]
    var testDescription: String { sql }
  }

  @Test(arguments: [
    Alteration(sql: "ALTER TABLE t ADD COLUMN more", after: "UPDATE t SET more = 1", logged: ["update t:1 more"]),
    Alteration(sql: "ALTER TABLE t RENAME COLUMN v TO w", after: "UPDATE t SET w = 7", logged: ["update t:1 w"]),
    Alteration(sql: "ALTER TABLE t RENAME COLUMN id TO k", after: "DELETE FROM t", logged: ["delete t:1 *"]),
    Alteration(sql: "ALTER TABLE t RENAME TO s", after: "UPDATE s SET v = 7", logged: ["update s:1 v"]),
    Alteration(
      sql: "ALTER TABLE t RENAME TO s; CREATE TABLE t(k TEXT PRIMARY KEY);",
      after: "UPDATE s SET v = 7; INSERT INTO t VALUES ('x');", logged: ["update s:1 v", "insert t:'x' *"]),
    Alteration(
      sql: "CREATE UNIQUE INDEX i ON t(v)", after: "REPLACE INTO t VALUES (2, 1, 5);",
      logged: [
        "displace t:1 * was 1", "insert t:2 *",
      ]),
    Alteration(
      sql:
        "CREATE TABLE s(id INTEGER PRIMARY KEY, u); INSERT INTO s SELECT id, u FROM t; DROP TABLE t; "
        + "ALTER TABLE s RENAME TO t;",
      after: "UPDATE t SET u = 7", logged: ["update t:1 u"]),
    Alteration(
      sql: "DROP TABLE t; CREATE TABLE t(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;",
      after: "INSERT INTO t VALUES (1, 2)", logged: ["insert t:1,2 *"]),
    Alteration(sql: "DROP TABLE t", after: "INSERT INTO other VALUES (1)", logged: ["insert other:1 *"]),
    Alteration(sql: "DROP TRIGGER _freshet_2_update", after: "UPDATE t SET u = 7", logged: ["update t:1 u"]),
  ])
  func whatAnAlteredSchemaMadeStaleIsRepaired(_ alteration: Alteration) throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE other(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, v, u); "
        + "INSERT INTO t VALUES (1, 1, 1);"
    )
    let reader = try fixture.queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
    let newest = try fixture.queue.read { _ in try reader.newest() }
    let schemaVersion = try fixture.schemaVersion()
    #expect(try fixture.write(alteration.sql) == "")
    #expect(try fixture.isCurrent() == false)
    let ids = fixture.tables.map(\.id)
    try fixture.install(tables: [])
    #expect(try fixture.isCurrent())
    _ = try fixture.changes()
    #expect(try fixture.changes(after: alteration.after).map(\.description) == alteration.logged)
    let outcome = try fixture.queue.read { _ in try reader.read(after: newest) { _ in } }
    #expect(try fixture.schemaVersion() > schemaVersion)
    if alteration.sql == "DROP TABLE t" {
      #expect(fixture.tables.map(\.id) == [ids[0]], "nothing of the other table went unlogged")
    } else {
      #expect(outcome == .gap(newest: outcome.newest))
    }
  }

  @Test func aDroppedColumnNeedsTheLogOutOfTheWay() throws {
    let fixture = try ChangeLogFixture("CREATE TABLE t(id INTEGER PRIMARY KEY, v, u);")
    #expect(try fixture.write("ALTER TABLE t DROP COLUMN u").contains("_freshet_1_update"), "SQLite's own message")
    try fixture.uninstall()
    #expect(try fixture.write("ALTER TABLE t DROP COLUMN u") == "")
    #expect(try fixture.install().first?.columns == ["id", "v"])
  }

  @Test func anIdIsNotGivenAgainWhileTheLogHasIt() throws {
    let fixture = try ChangeLogFixture("CREATE TABLE a(v); CREATE TABLE b(v);")
    try fixture.write("INSERT INTO b VALUES (1); DROP TABLE b; CREATE TABLE c(v);")
    #expect(try fixture.install().map { "\($0.id) \($0.name)" } == ["1 a", "3 c"])
  }

  @Test func aLogOfAnotherFormatIsReplaced() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let schema = try fixture.schema()
    try fixture.write("UPDATE _freshet_meta SET format = 0")
    #expect(try fixture.isCurrent() == false)
    try fixture.install()
    #expect(try fixture.isCurrent())
    #expect(try Set(fixture.schema()) == Set(schema))
  }

  @Test func installInsideACallersTransactionIsUndoneWithIt() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    let before = try fixture.schema()
    try fixture.queue.writeWithoutTransaction { db in
      try db.inTransaction {
        _ = try ChangeLog.install(db)
        return .rollback
      }
    }
    #expect(try fixture.schema() == before)
  }

  @Test func aWriterOnAnAttachedDatabaseIsLoggedThere() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE u(id INTEGER PRIMARY KEY, e UNIQUE); INSERT INTO u VALUES (1, 'a');")
    _ = try fixture.changes()
    let shell = SQLiteShell(path: ":memory:")
    let sql = """
      CREATE TABLE u(id, e); CREATE TEMP TABLE _freshet_log(x); ATTACH '\(fixture.path)' AS app;
      REPLACE INTO app.u VALUES (2, 'a'); SELECT count(*) FROM u;
      """
    #expect(try shell.run(sql) == "0")
    #expect(try fixture.changes().map(\.description) == ["displace u:1 * was 'a'", "insert u:2 *"])
  }
}
