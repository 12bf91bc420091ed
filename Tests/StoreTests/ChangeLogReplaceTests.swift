import Testing

@testable import Store

/// Rows that REPLACE deletes through a unique index other than the key: no delete trigger hears of them.
@Suite struct ChangeLogReplaceTests {
  struct Case: Sendable, CustomStringConvertible {
    let name: String
    let schema: String
    let sql: String
    /// Keys that must be in the log, as `ChangeLogFixture.keys` writes them.
    let keys: [String]

    var description: String { name }
  }

  private static let email =
    "CREATE TABLE u(id INTEGER PRIMARY KEY, email TEXT UNIQUE, v); INSERT INTO u VALUES (1, 'a', 0), (2, 'b', 0);"

  static let cases: [Case] = [
    Case(name: "REPLACE INTO", schema: email, sql: "REPLACE INTO u VALUES (3, 'a', 1)", keys: ["u:1", "u:3"]),
    Case(
      name: "INSERT OR REPLACE through two", schema: email + "UPDATE u SET v = id; CREATE UNIQUE INDEX v ON u(v);",
      sql: "INSERT OR REPLACE INTO u VALUES (3, 'a', 2)", keys: ["u:1", "u:2", "u:3"]),
    Case(
      name: "UPDATE OR REPLACE", schema: email, sql: "UPDATE OR REPLACE u SET email = 'a' WHERE id = 2",
      keys: ["u:1", "u:2"]),
    Case(
      name: "UPDATE OR REPLACE of the key", schema: email, sql: "UPDATE OR REPLACE u SET id = 1 WHERE id = 2",
      keys: ["u:1", "u:2"]),
    Case(
      name: "UPDATE OR REPLACE of all", schema: email,
      sql: "UPDATE OR REPLACE u SET email = 'c'", keys: ["u:1", "u:2"]),
    Case(
      name: "a constraint that says REPLACE",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, e UNIQUE ON CONFLICT REPLACE); INSERT INTO u VALUES (1, 'a');",
      sql: "INSERT INTO u VALUES (2, 'a')", keys: ["u:1", "u:2"]),
    Case(
      name: "compound unique",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, b, UNIQUE (b, a)); INSERT INTO u VALUES (1, 1, 2), (2, 1, 3);",
      sql: "REPLACE INTO u VALUES (9, 1, 2)", keys: ["u:1", "u:9"]),
    Case(
      name: "NULLs do not conflict", schema: email + "INSERT INTO u VALUES (3, NULL, 0);",
      sql: "REPLACE INTO u VALUES (4, NULL, 1)", keys: ["u:4"]),
    Case(
      name: "partial index",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, gone INT); CREATE UNIQUE INDEX i ON u(a) WHERE gone = '0';"
        + "INSERT INTO u VALUES (1, 'x', 0), (2, 'x', 1), (3, 'y', 1);",
      sql: "REPLACE INTO u VALUES (4, 'x', 0)", keys: ["u:1", "u:4"]),
    Case(
      name: "update into a partial index",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, gone INT); CREATE UNIQUE INDEX i ON u(a) WHERE gone = '0';"
        + "INSERT INTO u VALUES (1, 'x', 0), (2, 'x', 1), (3, 'y', 1);",
      sql: "UPDATE OR REPLACE u SET gone = 0 WHERE id = 2", keys: ["u:1", "u:2"]),
    Case(
      name: "outside a partial index",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, gone INT); CREATE UNIQUE INDEX i ON u(a) WHERE gone = 0;"
        + "INSERT INTO u VALUES (1, 'x', 0);",
      sql: "REPLACE INTO u VALUES (4, 'x', 1)", keys: ["u:4"]),
    Case(
      name: "expression index",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, \"an email\" TEXT, d INT); INSERT INTO u VALUES (1, 'Ab', 1);"
        + "CREATE UNIQUE INDEX i ON u(lower(\"an email\") /* , */ DESC, "
        + "CASE WHEN d = '1' THEN ',' ELSE 'WHERE (' END ASC);",
      sql: "REPLACE INTO u VALUES (2, 'aB', 1)", keys: ["u:1", "u:2"]),
    Case(
      name: "expression index, update",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT); CREATE UNIQUE INDEX i ON u(substr(e, 1, 1) COLLATE NOCASE);"
        + "INSERT INTO u VALUES (1, 'ab'), (2, 'cd');",
      sql: "UPDATE OR REPLACE u SET e = 'Axe' WHERE id = 2", keys: ["u:1", "u:2"]),
    Case(
      name: "an expression under the column's own collation",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT COLLATE NOCASE NOT NULL DEFAULT 'q');"
        + "CREATE UNIQUE INDEX i ON u((e = 'ABC')); INSERT INTO u VALUES (1, 'abc');",
      sql: "REPLACE INTO u VALUES (2, 'Abc')", keys: ["u:1", "u:2"]),
    Case(
      name: "index with its own collation",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT); CREATE UNIQUE INDEX i ON u(e COLLATE NOCASE); "
        + "INSERT INTO u VALUES (1, 'a');",
      sql: "REPLACE INTO u VALUES (2, 'A')", keys: ["u:1", "u:2"]),
    Case(
      name: "binary index on a NOCASE column",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT COLLATE NOCASE); "
        + "CREATE UNIQUE INDEX i ON u(e COLLATE BINARY); INSERT INTO u VALUES (1, 'a'), (2, 'A');",
      sql: "REPLACE INTO u VALUES (3, 'A')", keys: ["u:2", "u:3"]),
    Case(
      name: "NOCASE primary key",
      schema: "CREATE TABLE u(k TEXT COLLATE NOCASE PRIMARY KEY, v); INSERT INTO u VALUES ('a', 1);",
      sql: "REPLACE INTO u VALUES ('A', 2)", keys: ["u:'A'", "u:'a'"]),
    Case(
      name: "NOCASE primary key without rowid",
      schema:
        "CREATE TABLE u(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO u VALUES ('a', 1), ('b', 1);",
      sql: "UPDATE OR REPLACE u SET k = 'A' WHERE k = 'b'", keys: ["u:'A'", "u:'a'", "u:'b'"]),
    Case(
      name: "untyped primary key", schema: "CREATE TABLE u(k PRIMARY KEY, v); INSERT INTO u VALUES (1, 1);",
      sql: "REPLACE INTO u VALUES (1.0, 2)", keys: ["u:1", "u:1.0"]),
    Case(
      name: "the rowid of a table with another key",
      schema: "CREATE TABLE u(k TEXT PRIMARY KEY, v); INSERT INTO u VALUES ('a', 1), ('b', 2);",
      sql: "REPLACE INTO u(rowid, k) VALUES (1, 'c'); UPDATE OR REPLACE u SET oid = 1 WHERE k = 'b';",
      keys: ["u:'a'", "u:'b'", "u:'c'"]),
    Case(
      name: "WITHOUT ROWID",
      schema:
        "CREATE TABLE u(a INT, b INT, c INT UNIQUE, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO u VALUES (1, 2, 3);",
      sql: "REPLACE INTO u VALUES (5, 6, 3)", keys: ["u:2,1", "u:6,5"]),
    Case(
      name: "a default in place of NULL",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT NOT NULL DEFAULT dflt UNIQUE, "
        + "n INT NOT NULL DEFAULT (1+1) UNIQUE);"
        + "INSERT INTO u VALUES (1, 'dflt', 7), (2, 'b', 2), (4, 'x', 9);",
      sql: "REPLACE INTO u VALUES (3, NULL, NULL)", keys: ["u:1", "u:2", "u:3"]),
    Case(
      name: "a default in place of NULL in a generated column",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT NOT NULL DEFAULT 'Q', g AS (lower(e)) UNIQUE);"
        + "INSERT INTO u(id, e) VALUES (1, 'q');",
      sql: "REPLACE INTO u(id, e) VALUES (3, NULL)", keys: ["u:1", "u:3"]),
    Case(
      name: "unique generated column",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT, g AS (lower(e)) STORED UNIQUE); "
        + "INSERT INTO u(id, e) VALUES (1, 'A'), (2, 'b');",
      sql: "UPDATE OR REPLACE u SET e = 'a' WHERE id = 2", keys: ["u:1", "u:2"]),
    Case(
      name: "text into an integer column",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, n INTEGER UNIQUE); INSERT INTO u VALUES (1, 5);",
      sql: "REPLACE INTO u VALUES (2, '5')", keys: ["u:1", "u:2"]),
    Case(
      name: "a table called new",
      schema:
        "CREATE TABLE new(id INTEGER PRIMARY KEY, e UNIQUE, f); CREATE UNIQUE INDEX i ON new(lower(f)) WHERE f <> 'q';"
        + "INSERT INTO new VALUES (1, 'a', 'A'), (2, 'b', 'B'), (3, 'c', 'C');",
      sql: "REPLACE INTO new VALUES (4, 'a', 'b')", keys: ["new:1", "new:2", "new:4"]),
    Case(
      name: "an integer primary key in a unique index",
      schema:
        "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX i ON u(a, id); "
        + "INSERT INTO u VALUES (1, 1), (2, 1);",
      sql: "UPDATE OR REPLACE u SET rowid = 1 WHERE id = 2", keys: ["u:1", "u:2"]),
    Case(
      name: "quotes in the names of an expression",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, \"quo\"\"te\", \"id]\");"
        + "CREATE UNIQUE INDEX i ON u(lower(\"quo\"\"te\"), abs(`id]`));"
        + "INSERT INTO u VALUES (1, 'x', -1), (2, 'x', 2), (3, 'y', 1);",
      sql: "REPLACE INTO u VALUES (4, 'X', 1)", keys: ["u:1", "u:4"]),
    Case(
      name: "a condition on a key that SQLite chooses",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX i ON u(a) WHERE id > 5;"
        + "INSERT INTO u VALUES (1, 'x'), (10, 'x');",
      sql: "REPLACE INTO u(a) VALUES ('x')", keys: ["u:10", "u:11"]),
    Case(
      name: "a condition on the rowid",
      schema: "CREATE TABLE u(a, b); CREATE UNIQUE INDEX i ON u(a) WHERE rowid > 1;"
        + "INSERT INTO u VALUES ('x', 1), ('x', 2), ('y', 3);",
      sql: "REPLACE INTO u(a) VALUES ('x'); UPDATE OR REPLACE u SET _rowid_ = 7 WHERE rowid = 1;",
      keys: ["u:1", "u:2", "u:4", "u:7"]),
    Case(
      name: "an expression on a key that SQLite chooses",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX i ON u(a, id % 10);"
        + "INSERT INTO u VALUES (1, 'x'), (3, 'y'), (10, 'x');",
      sql: "REPLACE INTO u(a) VALUES ('x')", keys: ["u:1", "u:10", "u:11"]),
    Case(
      name: "a column generated from a key that SQLite chooses",
      schema: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, g AS (CAST(id AS INT) % 10) UNIQUE);"
        + "INSERT INTO u(id, a) VALUES (1, 'x'), (10, 'x');",
      sql: "REPLACE INTO u(a) VALUES ('z')", keys: ["u:1", "u:10", "u:11"]),
    Case(
      name: "in a user's trigger",
      schema: email
        + "CREATE TABLE src(e); "
        + "CREATE TRIGGER t AFTER INSERT ON src BEGIN REPLACE INTO u(id, email) VALUES (7, NEW.e); END;",
      sql: "INSERT INTO src VALUES ('b')", keys: ["src:1", "u:2", "u:7"]),
  ]

  @Test(arguments: cases, ["OFF", "ON"])
  func rowsThrownOutAreLogged(_ test: Case, recursive: String) throws {
    let fixture = try ChangeLogFixture(test.schema)
    #expect(try fixture.keys(after: "PRAGMA recursive_triggers = \(recursive); \(test.sql)") == test.keys)
  }

  @Test func theLookupUsesTheIndexItIsAbout() throws {
    let fixture = try ChangeLogFixture(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT COLLATE NOCASE, c INT, g AS (c + 1));
      CREATE UNIQUE INDEX i1 ON t(a COLLATE NOCASE); CREATE UNIQUE INDEX i2 ON t(lower(b), c DESC);
      CREATE UNIQUE INDEX i3 ON t(b) WHERE c > 0; CREATE UNIQUE INDEX i4 ON t(substr(b, 2) COLLATE NOCASE);
      CREATE UNIQUE INDEX i5 ON t(g);
      """)
    let plan = try fixture.write(".eqp trigger\nREPLACE INTO t(a) VALUES (1);\n")
    let lines = plan.split(separator: "\n").filter { $0.contains("_freshet_row") }
    #expect(lines.count >= 5 && lines.allSatisfy { $0.contains("SEARCH _freshet_row USING") }, "\(plan)")
  }

  @Test func tablesWithoutOtherUniqueIndexesHaveNoSuchTrigger() throws {
    let fixture = try ChangeLogFixture(
      "CREATE TABLE a(id INTEGER PRIMARY KEY, v); CREATE TABLE b(k TEXT PRIMARY KEY, v) WITHOUT ROWID; "
        + "CREATE TABLE c(v);"
    )
    #expect(try fixture.schema().filter { $0.contains("displace") } == [])
  }

  @Test(arguments: ["IGNORE", "REPLACE", "FAIL", "ABORT", "ROLLBACK"])
  func theWritersConflictPolicyCannotHurtTheLog(policy: String) throws {
    let fixture = try ChangeLogFixture(Self.email)
    let sql = """
      INSERT OR \(policy) INTO u VALUES (3, 'c', 0), (4, 'd', 0), (5, 'a', 0);
      INSERT OR \(policy) INTO u VALUES (6, 'f', 0); UPDATE OR \(policy) u SET v = 1 WHERE id = 6;
      DELETE FROM u WHERE id = 6;
      """
    let before = try fixture.changes().count
    let changes = try fixture.changes(after: sql)
    #expect(before == 0)
    let own = changes.filter { $0.key == ["6"] }.map(\.operation)
    #expect(own == [.insert, .update, .delete])
    let rows = try fixture.write("SELECT group_concat(id) FROM (SELECT id FROM u WHERE id BETWEEN 3 AND 5 ORDER BY id)")
    let present = rows.split(separator: ",").map(String.init)
    #expect(present.allSatisfy { id in changes.contains { $0.key == [id] && $0.operation == .insert } })
    #expect(policy != "REPLACE" || changes.contains { $0.key == ["1"] && $0.operation == .displace })
  }

  @Test func writersSeeTheirOwnCountsAndRows() throws {
    let fixture = try ChangeLogFixture(Self.email)
    let sql = """
      INSERT INTO u VALUES (50, 'z', 0); SELECT last_insert_rowid(), changes();
      REPLACE INTO u VALUES (60, 'z', 0); SELECT last_insert_rowid(), changes();
      UPDATE u SET v = 5; SELECT last_insert_rowid(), changes();
      INSERT INTO u VALUES (70, 'y', 1) RETURNING id, email; SELECT last_insert_rowid(), changes();
      UPDATE OR REPLACE u SET email = 'y' WHERE id = 1 RETURNING id, email; DELETE FROM u RETURNING id;
      SELECT last_insert_rowid(), changes();
      """
    #expect(
      try fixture.write(sql).split(separator: "\n")
        == ["50|1", "60|1", "60|3", "70|y", "70|1", "1|y", "1", "2", "60", "70|3"])
  }
}
