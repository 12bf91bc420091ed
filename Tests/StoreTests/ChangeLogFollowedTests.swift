import GRDB
import Testing

@testable import Store

/// Which tables the log can be relied on for after their schema has changed, and bringing it up to date.
@Suite struct ChangeLogFollowedTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, v, u); CREATE TABLE other(id INTEGER PRIMARY KEY);
    CREATE INDEX i ON t(v); CREATE VIEW w AS SELECT v FROM t;

    """

  private func followed(_ fixture: ChangeLogFixture) throws -> [String] {
    try fixture.queue.read { try ChangeLog.followedTables($0).map(\.name) }
  }

  private func refresh(_ fixture: ChangeLogFixture) throws -> Bool {
    try fixture.queue.writeWithoutTransaction { try ChangeLog.refreshIfNeeded($0) }
  }

  @Test(arguments: [
    "ALTER TABLE t ADD COLUMN more", "ALTER TABLE t RENAME COLUMN u TO w", "ALTER TABLE t RENAME COLUMN id TO k",
    "ALTER TABLE t RENAME TO s", "CREATE INDEX j ON t(u)", "DROP INDEX i",
    "CREATE UNIQUE INDEX j ON t(lower(u))", "DROP TRIGGER _freshet_2_update", "DROP TABLE t",
    "DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, v, u); CREATE INDEX i ON t(v);",
    "ALTER TABLE t RENAME TO s; CREATE TABLE t(k TEXT PRIMARY KEY);",
    "DROP TABLE t; CREATE TABLE t(rowid, oid, _rowid_);",
    "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS id;",
    "CREATE TRIGGER _freshet_2_mine AFTER INSERT ON t BEGIN SELECT 1; END;",
  ])
  func aTableThatIsAnotherIsNotFollowedUntilInstalledAgain(sql: String) throws {
    let fixture = try ChangeLogFixture(Self.schema)
    #expect(try followed(fixture) == ["other", "t"])
    #expect(try fixture.write(sql) == "")
    #expect(try followed(fixture) == ["other"])
    #expect(try fixture.isCurrent() == false)
    #expect(try refresh(fixture))
    #expect(try followed(fixture) == fixture.queue.read { try ChangeLog.trackedTables($0).map(\.name) })
    #expect(try refresh(fixture) == false)
  }

  @Test(arguments: [
    "DROP TRIGGER _freshet_trim", "ANALYZE", "VACUUM", "CREATE TRIGGER mine AFTER INSERT ON t BEGIN SELECT 1; END;",
    "CREATE INDEX j ON t(lower(u))", "CREATE VIEW x AS SELECT * FROM t", "CREATE TABLE more(a)",
    "CREATE TABLE child(t REFERENCES t(v))",
  ])
  func whatTheTriggersDoNotDependOnLeavesTheTableFollowed(sql: String) throws {
    let fixture = try ChangeLogFixture(Self.schema)
    #expect(try fixture.write(sql) == "")
    #expect(try followed(fixture) == ["other", "t"])
  }

  @Test func theTriggersOfManyTablesAreToldApart() throws {
    let fixture = try ChangeLogFixture((1...12).map { "CREATE TABLE t\($0)(a);" }.joined())
    #expect(try followed(fixture).count == 12)
    try fixture.write("DROP TRIGGER _freshet_1_insert")
    #expect(try Set(followed(fixture)).symmetricDifference(fixture.tables.map(\.name)) == [fixture.tables[0].name])
  }

  @Test func refreshingFollowsNewTablesOfALogForAll() throws {
    let fixture = try ChangeLogFixture(Self.schema, capacity: 77)
    #expect(try refresh(fixture) == false)
    try fixture.write("CREATE TABLE more(id INTEGER PRIMARY KEY); CREATE TABLE hidden(rowid, oid, _rowid_);")
    let reader = try fixture.queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
    let newest = try fixture.queue.read { _ in try reader.newest() }
    #expect(try refresh(fixture))
    #expect(try refresh(fixture) == false)
    #expect(try followed(fixture) == ["other", "t", "more"])
    let outcome = try fixture.queue.read { _ in try reader.read(after: newest) { _ in } }
    #expect(outcome == .complete(outcome.newest), "what was followed lost nothing")
    #expect(try fixture.write("SELECT capacity FROM _freshet_meta") == "77")
  }

  @Test func refreshingKeepsToTheTablesThatWereNamed() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: ["t"])
    try fixture.write("CREATE TABLE more(a)")
    #expect(try refresh(fixture) == false)
    try fixture.write("ALTER TABLE t ADD COLUMN x")
    #expect(try refresh(fixture))
    #expect(try followed(fixture) == ["t"])
    try fixture.install()
    try fixture.install(tables: ["t"])
    try fixture.write("CREATE TABLE again(a)")
    #expect(try refresh(fixture), "once for all, always for all")
  }

  @Test func refreshingMakesNoLog() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    let before = try fixture.schema()
    #expect(try refresh(fixture) == false)
    #expect(try fixture.schema() == before)
  }

  /// As the first format was.
  private static let formatOne = """
    CREATE TABLE "_freshet_meta"(id INTEGER PRIMARY KEY, format INTEGER, token INTEGER, capacity INTEGER);
    CREATE TABLE "_freshet_table"(id INTEGER PRIMARY KEY, name TEXT, columns TEXT, "key" TEXT);
    CREATE TABLE "_freshet_log"(seq INTEGER PRIMARY KEY, tbl INTEGER, op INTEGER, cols INTEGER, k0);
    INSERT INTO _freshet_meta VALUES (1, 1, 5, 100000); INSERT INTO _freshet_table VALUES (1, 't', '[]', '{}');
    INSERT INTO _freshet_log VALUES (1, 1, 0, -1, 7);
    CREATE TRIGGER "_freshet_1_insert" AFTER INSERT ON t BEGIN INSERT INTO _freshet_log(tbl) VALUES (1); END;
    """

  @Test func aLogOfAnOlderFormatIsReplacedAndItsTablesStayTracked() throws {
    let fixture = try ChangeLogFixture(Self.schema + Self.formatOne, tables: [])
    let reader = try fixture.queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
    let newest = try fixture.queue.read { _ in try reader.newest() }
    #expect(try followed(fixture) == [])
    #expect(try refresh(fixture) == false)
    #expect(try fixture.install(tables: ["other"]).map(\.name) == ["t", "other"])
    #expect(try followed(fixture) == ["t", "other"])
    try fixture.write("INSERT INTO t(id) VALUES (1), (2)")
    let outcome = try fixture.queue.read { _ in try reader.read(after: newest) { _ in } }
    #expect(outcome == .gap(newest: outcome.newest))
  }
}
