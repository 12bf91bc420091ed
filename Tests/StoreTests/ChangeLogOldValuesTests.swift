import Testing

@testable import Store

/// What the log says about the former values of columns by which rows are found.
@Suite struct ChangeLogOldValuesTests {
  private static let well = """
    CREATE TABLE operator(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE well(id INTEGER PRIMARY KEY, operator_id INTEGER REFERENCES operator(id), name TEXT, depth);
    CREATE INDEX byName ON well(name COLLATE NOCASE); INSERT INTO well VALUES (1, 7, 'a', 1.5), (2, 8, 'b', 2);

    """

  private func log(_ fixture: ChangeLogFixture, after sql: String) throws -> [String] {
    try fixture.changes(after: sql).map(\.description)
  }

  @Test func columnsOfForeignKeysAndIndexesAreCaptured() throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, p REFERENCES b, q, r, s, "t u" AS (q || 'x'), v AS (r) STORED, w);
      CREATE INDEX i ON a(Q DESC, id); CREATE UNIQUE INDEX j ON a(lower(r)) WHERE s > 1; CREATE INDEX k ON a("t u", v);
      CREATE TABLE b(x TEXT, y INT UNIQUE, z, PRIMARY KEY (x, z)) WITHOUT ROWID;
      CREATE TABLE c(x, y, z, FOREIGN KEY (Y, x) REFERENCES b(x, z)); CREATE INDEX l ON c(y);
      CREATE TABLE d(x, y);
      """)
    let captured = fixture.tables.map { table in (table.name, table.captured.map { table.columns[$0] }) }
    #expect(captured.map(\.0) == ["a", "b", "c", "d"])
    #expect(captured.map(\.1) == [["p", "q", "t u", "v"], ["y"], ["x", "y"], []])
  }

  @Test func whatEndsAStateOfARowSaysWhatItWas() throws {
    let fixture = try ChangeLogFixture(Self.well)
    #expect(try log(fixture, after: "INSERT INTO well(id, name) VALUES (3, 'c')") == ["insert well:3 *"])
    #expect(try log(fixture, after: "UPDATE well SET depth = 9 WHERE id = 1") == ["update well:1 depth"])
    #expect(
      try log(fixture, after: "UPDATE well SET operator_id = NULL, depth = 8 WHERE id = 1")
        == ["update well:1 operator_id+depth was 7,'a'"])
    #expect(try log(fixture, after: "UPDATE well SET name = 'A' WHERE id = 1") == ["update well:1 name was NULL,'a'"])
    #expect(
      try log(fixture, after: "UPDATE well SET id = 5, name = 'z' WHERE id = 2")
        == ["delete well:2 * was 8,'b'", "insert well:5 *"])
    #expect(try log(fixture, after: "DELETE FROM well WHERE id = 5") == ["delete well:5 * was 8,'z'"])
  }

  @Test func aRowReplacedUnderItsOwnKeySaysWhatItWas() throws {
    let fixture = try ChangeLogFixture(
      Self.well + "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE INDEX i ON t(v); INSERT INTO t VALUES ('x', 1);"
        + "CREATE TABLE w(a, b, c UNIQUE, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO w VALUES (1, 2, 3), (4, 5, 6);"
        + "CREATE TABLE r(v); CREATE INDEX j ON r(v); INSERT INTO r VALUES ('old');")
    #expect(
      try log(fixture, after: "REPLACE INTO well VALUES (1, 9, 'n', 0); REPLACE INTO well(name) VALUES ('new');")
        == ["displace well:1 * was 7,'a'", "insert well:1 *", "insert well:3 *"])
    #expect(
      try log(fixture, after: "UPDATE OR REPLACE well SET id = 1 WHERE id = 2")
        == ["displace well:1 * was 9,'n'", "delete well:2 * was 8,'b'", "insert well:1 *"])
    #expect(try log(fixture, after: "REPLACE INTO t VALUES ('x', 2)") == ["displace t:'x' * was 1", "insert t:'x' *"])
    #expect(
      try log(fixture, after: "REPLACE INTO w VALUES (1, 2, 4)") == ["displace w:2,1 * was 3", "insert w:2,1 *"])
    #expect(
      try log(fixture, after: "UPDATE OR REPLACE w SET a = 1, b = 2 WHERE a = 4")
        == ["displace w:2,1 * was 4", "delete w:5,4 * was 6", "insert w:2,1 *"])
    #expect(
      try log(fixture, after: "REPLACE INTO r(rowid, v) VALUES (1, 'new')")
        == ["displace r:1 * was 'old'", "insert r:1 *"])
  }

  @Test func oldValuesKeepTheirStorageClass() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v, g AS (v)); CREATE INDEX i ON t(v); CREATE INDEX j ON t(g);"
        + "INSERT INTO t VALUES (1, 1), (2, 1.0), (3, '1'), (4, x'31'), (5, NULL), (6, 9223372036854775807);")
    let values = ["1", "1.0", "'1'", "X'31'", "NULL", "9223372036854775807"]
    #expect(
      try log(fixture, after: "UPDATE t SET v = 'other'")
        == values.enumerated().map { "update t:\($0 + 1) v+g was \($1),\($1)" })
  }

  @Test func columnsThatShareABitWithACapturedOneBringItsOldValue() throws {
    let names = (1..<70).map { "c\($0)" }.joined(separator: ",")
    let fixture = try ChangeLogFixture(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, \(names)); CREATE INDEX i ON t(c65, c3);"
        + "INSERT INTO t(id, c3, c65) VALUES (1, 'three', 'sixty-five');")
    let old = try fixture.changes(after: "UPDATE t SET c1 = 1; UPDATE t SET c69 = 1; UPDATE t SET c3 = 1;").map(\.old)
    #expect(old == [nil, ["'three'", "'sixty-five'"], ["'three'", "'sixty-five'"]])
  }

  @Test func moreIndexedColumnsThanTheLogCanHold() throws {
    let names = (1..<1_900).map { "c\($0)" }
    let indexes = stride(from: 0, to: 1_800, by: 100).map { start in
      "CREATE INDEX i\(start) ON t(\(names[start..<start + 100].joined(separator: ",")));"
    }
    let fixture = try ChangeLogFixture("CREATE TABLE t(\(names.joined(separator: ",")));\(indexes.joined())")
    #expect(fixture.tables.first?.captured == Array(0..<200))
    #expect(try fixture.changes(after: "INSERT INTO t(c1) VALUES (1); UPDATE t SET c1 = 2;").last?.old?.first == "1")
  }
}
