import GRDB
import Testing

@testable import Store

/// Changing the schema with the triggers out of the way.
@Suite struct ChangeLogAlterTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, v, u); CREATE INDEX i ON t(v); INSERT INTO t VALUES (1, 1, 1);
    CREATE TABLE other(id INTEGER PRIMARY KEY, t REFERENCES t(id)); INSERT INTO other VALUES (1, 1);

    """

  /// The error's code and message, or nil.
  private func alter(_ fixture: ChangeLogFixture, _ sql: String) throws -> String? {
    try fixture.queue.writeWithoutTransaction { db -> String? in
      try db.execute(sql: "PRAGMA foreign_keys = OFF")
      do {
        try ChangeLog.alter(db, sql: sql)
        return nil
      } catch let error as StoreError {
        return error.description
      }
    }
  }

  @Test func aColumnIsDroppedAndTheTableStaysTracked() throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let reader = try fixture.queue.writeWithoutTransaction { try ChangeLogReader(connection: $0.sqliteConnection!) }
    let newest = try fixture.queue.read { _ in try reader.newest() }
    #expect(try alter(fixture, "ALTER TABLE t DROP COLUMN u; -- gone\n UPDATE t SET v = 2;") == nil)
    #expect(try fixture.isCurrent())
    let outcome = try fixture.queue.read { _ in try reader.read(after: newest) { _ in } }
    #expect(outcome == .gap(newest: outcome.newest), "the update went unlogged")
    fixture.tables = try fixture.queue.read { try ChangeLog.followedTables($0) }
    #expect(fixture.tables.map(\.columns) == [["id", "t"], ["id", "v"]])
    _ = try fixture.changes()
    #expect(try fixture.changes(after: "UPDATE t SET v = 3").map(\.description) == ["update t:1 v was 2"])
  }

  @Test func aRenamedTableOfANamedFewStaysTracked() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: ["t"])
    #expect(try alter(fixture, "ALTER TABLE t DROP COLUMN u; ALTER TABLE t RENAME TO s; CREATE TABLE more(a);") == nil)
    #expect(try fixture.queue.read { try ChangeLog.followedTables($0).map(\.name) } == ["s"])
    let rebuild =
      "CREATE TABLE n(k TEXT PRIMARY KEY); INSERT INTO n SELECT v FROM s; DROP TABLE s; ALTER TABLE n RENAME TO s"
    #expect(try alter(fixture, rebuild) == nil)
    #expect(try fixture.queue.read { try ChangeLog.followedTables($0).map(\.columns) } == [["k"]])
  }

  @Test func newTablesOfALogForAllAreTracked() throws {
    let fixture = try ChangeLogFixture(Self.schema, capacity: 77)
    #expect(try alter(fixture, "CREATE TABLE more(a)") == nil)
    #expect(try fixture.queue.read { try ChangeLog.followedTables($0).map(\.name) } == ["other", "t", "more"])
    #expect(try fixture.write("SELECT capacity FROM _freshet_meta") == "77")
  }

  @Test(arguments: [
    ("ALTER TABLE t DROP COLUMN u; ALTER TABLE nosuch ADD COLUMN x", "bad_query: statement 2: no such table: nosuch"),
    ("ALTER TABLE t DROP COLUMN u; nonsense", "bad_query: statement 2: near \"nonsense\": syntax error"),
    ("ALTER TABLE t DROP COLUMN u; /* , */ commit; DROP TABLE t", "bad_query: COMMIT cannot be among the statements"),
    ("ALTER TABLE t DROP COLUMN id", "bad_query: statement 1: cannot drop PRIMARY KEY column: \"id\""),
    ("DROP TABLE t", "constraint: rows would be left that refer to rows which are not there"),
    ("INSERT INTO t VALUES (1, 1, 1)", "constraint: UNIQUE constraint failed: t.id"),
    ("DROP TABLE _freshet_log", "internal: no such table"), (" -- nothing", "bad_query: there is no statement"),
  ])
  func anErrorLeavesEverythingAsItWas(sql: String, message: String) throws {
    let fixture = try ChangeLogFixture(Self.schema)
    let before = try fixture.schema()
    #expect(try alter(fixture, sql)?.hasPrefix(message) == true)
    #expect(try fixture.schema() == before)
    #expect(try fixture.isCurrent())
  }

  @Test func aDatabaseWithoutALogIsAlteredAllTheSame() throws {
    let fixture = try ChangeLogFixture(Self.schema, tables: [])
    #expect(try alter(fixture, "ALTER TABLE t DROP COLUMN u") == nil)
    #expect(try fixture.schema().contains { $0.contains("_freshet") } == false)
  }
}
