import Testing

@testable import Store

/// What ordinary statements of another process leave in the log.
@Suite struct ChangeLogCaptureTests {
  private static let well = "CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, depth REAL, note TEXT);"

  private func log(_ fixture: ChangeLogFixture, after sql: String) throws -> [String] {
    try fixture.changes(after: sql).map(\.description)
  }

  @Test func insertUpdateAndDeleteAreLoggedWithKeyAndColumns() throws {
    let fixture = try ChangeLogFixture(Self.well)
    #expect(
      try log(fixture, after: "INSERT INTO well VALUES (7, 'a', 1, NULL); INSERT INTO well(name) VALUES ('b');")
        == ["insert well:7 *", "insert well:8 *"])
    #expect(
      try log(fixture, after: "UPDATE well SET depth = 2, note = 'x' WHERE id = 7") == ["update well:7 depth+note"])
    #expect(try log(fixture, after: "DELETE FROM well WHERE id = 8") == ["delete well:8 *"])
  }

  @Test func updateThatChangesNothingIsNotLogged() throws {
    let fixture = try ChangeLogFixture(Self.well + "INSERT INTO well VALUES (1, 'a', 1, NULL);")
    #expect(try log(fixture, after: "UPDATE well SET name = 'a', depth = 1.0, note = NULL, id = 1") == [])
  }

  @Test func changesThatTheColumnsOwnComparisonMissesAreLogged() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b TEXT COLLATE RTRIM, c, d BLOB, e ANY);"
        + "CREATE TABLE s(id INTEGER PRIMARY KEY, e ANY) STRICT;"
        + "INSERT INTO t VALUES (1, 'a', 'b', 1, 1, 1); INSERT INTO s VALUES (1, 1);")
    #expect(try log(fixture, after: "UPDATE t SET a = 'A'") == ["update t:1 a"])
    #expect(try log(fixture, after: "UPDATE t SET b = 'b '") == ["update t:1 b"])
    #expect(try log(fixture, after: "UPDATE t SET c = 1.0, d = 1.0, e = 1.0") == ["update t:1 c+d"])
    #expect(try log(fixture, after: "UPDATE t SET c = NULL; UPDATE t SET c = 0") == ["update t:1 c", "update t:1 c"])
    #expect(
      try log(fixture, after: "UPDATE t SET c = 'x'; UPDATE t SET c = x'78'") == ["update t:1 c", "update t:1 c"])
    #expect(try log(fixture, after: "UPDATE s SET e = 1.0") == ["update s:1 e"])
  }

  @Test func keyChangeLogsTheOldAndTheNewKey() throws {
    let fixture = try ChangeLogFixture(
      Self.well + "INSERT INTO well VALUES (1, 'a', 1, NULL);"
        + "CREATE TABLE n(name TEXT PRIMARY KEY COLLATE NOCASE, v); INSERT INTO n VALUES ('a', 1);"
        + "CREATE TABLE r(v); INSERT INTO r VALUES (1);"
        + "CREATE TABLE w(a, b, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO w VALUES (1, 2);")
    let moved = ["delete well:1 *", "insert well:2 *"]
    #expect(try log(fixture, after: "UPDATE well SET id = 2, name = 'b'") == moved)
    #expect(try log(fixture, after: "UPDATE well SET rowid = 3") == ["delete well:2 *", "insert well:3 *"])
    #expect(try log(fixture, after: "UPDATE well SET OID = 4") == ["delete well:3 *", "insert well:4 *"])
    #expect(try log(fixture, after: "UPDATE r SET _rowid_ = 9") == ["delete r:1 *", "insert r:9 *"])
    #expect(try log(fixture, after: "UPDATE n SET name = 'A'") == ["delete n:'a' *", "insert n:'A' *"])
    #expect(try log(fixture, after: "UPDATE w SET a = 1.0") == ["delete w:2,1 *", "insert w:2,1.0 *"])
  }

  @Test func keysKeepTheirStorageClass() throws {
    let fixture = try ChangeLogFixture("CREATE TABLE t(k PRIMARY KEY, v); CREATE TABLE f(k REAL PRIMARY KEY);")
    let sql = "INSERT INTO t(k) VALUES (1), (1.5), ('1'), (x'31'), (NULL), (NULL), ('it''s'), (9223372036854775807);"
    let keys = ["1", "1.5", "'1'", "X'31'", "NULL", "NULL", "'it''s'", "9223372036854775807"]
    #expect(try log(fixture, after: sql) == keys.map { "insert t:\($0) *" })
    #expect(try log(fixture, after: "UPDATE t SET v = 1 WHERE k IS NULL") == ["update t:NULL v", "update t:NULL v"])
    #expect(try log(fixture, after: "INSERT INTO f VALUES (2)") == ["insert f:2.0 *"])
  }

  @Test func upserts() throws {
    let fixture = try ChangeLogFixture(Self.well + "INSERT INTO well VALUES (1, 'a', 1, NULL);")
    #expect(try log(fixture, after: "INSERT INTO well(id) VALUES (1) ON CONFLICT DO NOTHING") == [])
    #expect(
      try log(fixture, after: "INSERT INTO well(id) VALUES (1), (2) ON CONFLICT(id) DO UPDATE SET name = 'z'")
        == ["update well:1 name", "insert well:2 *"])
    #expect(
      try log(fixture, after: "INSERT INTO well(id) VALUES (1) ON CONFLICT(id) DO UPDATE SET rowid = 5")
        == ["delete well:1 *", "insert well:5 *"])
  }

  @Test func wholeTableDeleteLogsEveryRow() throws {
    let fixture = try ChangeLogFixture(Self.well + "INSERT INTO well(id) VALUES (1), (2), (3);")
    #expect(try log(fixture, after: "DELETE FROM well") == ["delete well:1 *", "delete well:2 *", "delete well:3 *"])
  }

  @Test func whatIsRolledBackIsNotLogged() throws {
    let fixture = try ChangeLogFixture(Self.well)
    #expect(try log(fixture, after: "BEGIN; INSERT INTO well(id) VALUES (1); ROLLBACK;") == [])
    // The shell leaves out what follows a failed statement on the same line.
    let sql = """
      BEGIN; INSERT INTO well(id) VALUES (1); SAVEPOINT s; INSERT INTO well(id) VALUES (2); ROLLBACK TO s;
      INSERT INTO well(id) VALUES (3); RELEASE s; INSERT INTO well(id) VALUES (4), (1);
      COMMIT;
      """
    #expect(try log(fixture, after: sql) == ["insert well:1 *", "insert well:3 *"])
  }

  @Test func insertAndDeleteInOneTransactionAreBothLogged() throws {
    let fixture = try ChangeLogFixture(Self.well)
    #expect(
      try log(fixture, after: "BEGIN; INSERT INTO well(id) VALUES (1); DELETE FROM well; COMMIT;")
        == ["insert well:1 *", "delete well:1 *"])
  }

  @Test func cascadesAreLogged() throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY, code TEXT UNIQUE);
      CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id) ON DELETE CASCADE ON UPDATE CASCADE);
      CREATE TABLE n(code TEXT PRIMARY KEY REFERENCES p(code) ON DELETE SET NULL ON UPDATE CASCADE);
      CREATE TABLE tree(id INTEGER PRIMARY KEY, up REFERENCES tree(id) ON DELETE CASCADE);
      INSERT INTO p VALUES (1, 'x'), (2, 'y'), (3, 'z'); INSERT INTO c VALUES (10, 1), (20, 2), (30, 3);
      INSERT INTO n VALUES ('x'), ('y'), ('z'); INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 3);
      """)
    let on = "PRAGMA foreign_keys = ON;"
    #expect(try fixture.keys(after: on + "DELETE FROM p WHERE id = 1") == ["c:10", "n:'x'", "n:NULL", "p:1"])
    #expect(
      try fixture.keys(after: on + "UPDATE p SET id = 5, code = 'w' WHERE id = 2")
        == ["c:20", "n:'w'", "n:'y'", "p:2", "p:5"])
    #expect(
      try fixture.keys(after: on + "REPLACE INTO p VALUES (9, 'z')") == ["c:30", "n:'z'", "n:NULL", "p:3", "p:9"])
    #expect(try fixture.keys(after: on + "DELETE FROM tree WHERE id = 1") == ["tree:1", "tree:2", "tree:3", "tree:4"])
  }

  @Test(arguments: ["OFF", "ON"])
  func rowsThatTheUsersTriggersChangeAreLogged(recursive: String) throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, v, touched INTEGER DEFAULT 0); CREATE TABLE b(id INTEGER PRIMARY KEY, n);
      INSERT INTO b VALUES (1, 0); INSERT INTO a VALUES (1, 1, 0);
      CREATE TRIGGER ai AFTER INSERT ON a BEGIN UPDATE b SET n = n + 1; END;
      CREATE TRIGGER au AFTER UPDATE OF v ON a BEGIN UPDATE a SET touched = touched + 1 WHERE id = NEW.id; END;
      CREATE TRIGGER ad BEFORE DELETE ON a BEGIN DELETE FROM b; END;
      """)
    let set = "PRAGMA recursive_triggers = \(recursive);"
    #expect(try fixture.keys(after: set + "INSERT INTO a(id) VALUES (2)") == ["a:2", "b:1"])
    let columns = try fixture.changes(after: set + "UPDATE a SET v = 9 WHERE id = 1").flatMap(\.columns)
    #expect(Set(columns) == ["v", "touched"])
    #expect(try fixture.keys(after: set + "DELETE FROM a WHERE id = 1") == ["a:1", "b:1"])
  }

  @Test func generatedColumnsAreInTheMask() throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE g(id INTEGER PRIMARY KEY, a INT, twice INT AS (a * 2), b TEXT,
        up TEXT AS (upper(b)) STORED, raw AS (a));
      INSERT INTO g(id, a, b) VALUES (1, 1, 'x');
      """)
    #expect(fixture.tables.first?.columns == ["id", "a", "twice", "b", "up", "raw"])
    #expect(try log(fixture, after: "UPDATE g SET a = 2") == ["update g:1 a+twice+raw"])
    #expect(try log(fixture, after: "UPDATE g SET b = 'X'") == ["update g:1 b"])
  }

  @Test(arguments: [70, 1_900])
  func manyColumnsShareTheLastBit(count: Int) throws {
    let names = (1..<count).map { "c\($0)" }
    let fixture = try ChangeLogFixture(
      "CREATE TABLE wide(id INTEGER PRIMARY KEY, \(names.joined(separator: ","))); INSERT INTO wide(id) VALUES (1);")
    #expect(try log(fixture, after: "UPDATE wide SET c1 = 1, c61 = 1") == ["update wide:1 c1+c61"])
    let masks = try fixture.changes(after: "UPDATE wide SET c62 = 1; UPDATE wide SET c\(count - 1) = 1;").map(\.mask)
    #expect(masks == [ColumnMask(rawValue: 1 << 62), ColumnMask(rawValue: 1 << 62)])
    #expect(masks[0].contains(count - 1) && masks[0].contains(62) && !masks[0].contains(61))
  }

  @Test func strictAndAllKeyTables() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE s(id TEXT PRIMARY KEY, v INT) STRICT, WITHOUT ROWID; "
        + "CREATE TABLE k(a INT, b INT, PRIMARY KEY (a, b));"
    )
    #expect(
      try log(fixture, after: "INSERT INTO s VALUES ('a', 1); UPDATE s SET v = 2; DELETE FROM s;")
        == ["insert s:'a' *", "update s:'a' v", "delete s:'a' *"])
    #expect(
      try log(fixture, after: "INSERT INTO k VALUES (1, 2); UPDATE k SET b = 3; DELETE FROM k;")
        == ["insert k:1,2 *", "delete k:1,2 *", "insert k:1,3 *", "delete k:1,3 *"])
  }

  private static let names = [
    "two words", "quo\"te", "it's", "[brackets]", "`tick`", "名前", "select", "order by", "a.b", "1st", "new", "old",
    "NEW", "Mixed_Case", "_freshet", "percent%s", "key", "seq", "rowid", "semi;colon", "-- comment", "new\nline",
  ]

  @Test(arguments: names)
  func anyNameOfATableAndAColumn(name: String) throws {
    let (table, column) = (quotedIdentifier(name), quotedIdentifier(name))
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE \(table)(\(column) TEXT PRIMARY KEY, other TEXT, "u x" UNIQUE);
      CREATE TABLE "second \(name.replacing("\"", with: "\"\""))"(x, \(column));
      INSERT INTO \(table) VALUES ('a', 'b', 1), ('z', 'z', 2);
      """)
    #expect(try fixture.keys(after: "UPDATE \(table) SET other = 'c' WHERE \(column) = 'a'") == ["\(name):'a'"])
    #expect(
      try fixture.keys(after: "UPDATE \(table) SET \(column) = 'd' WHERE \(column) = 'a'") == [
        "\(name):'a'", "\(name):'d'",
      ])
    #expect(try fixture.keys(after: "REPLACE INTO \(table) VALUES ('e', 'f', 1)") == ["\(name):'d'", "\(name):'e'"])
    #expect(try fixture.keys(after: "DELETE FROM \(table) WHERE \(column) = 'e'") == ["\(name):'e'"])
  }

  @Test func namesOfTheRowidMayBeColumns() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE a(rowid TEXT, v); CREATE TABLE b(ROWID, _rowid_, v); "
        + "CREATE TABLE c(oid INTEGER PRIMARY KEY, rowid);"
        + "CREATE TABLE d(rowid TEXT PRIMARY KEY, oid, _rowid_, u UNIQUE);")
    #expect(try fixture.keys(after: "INSERT INTO a VALUES ('x', 1)") == ["a:1"])
    #expect(try fixture.keys(after: "INSERT INTO b VALUES ('x', 'y', 1); UPDATE b SET v = 2;") == ["b:1"])
    #expect(try fixture.keys(after: "INSERT INTO c VALUES (5, 1); UPDATE c SET _rowid_ = 6;") == ["c:5", "c:6"])
    let sql = "INSERT INTO d VALUES ('x', 1, 2, 3); REPLACE INTO d VALUES ('y', 1, 2, 3); UPDATE d SET u = 4;"
    #expect(try fixture.keys(after: sql) == ["d:'x'", "d:'y'"])
  }
}
