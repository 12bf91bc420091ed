import GRDB
import LiveQuery
import TestSupport
import Testing

/// The contents of many rows at once: they are read in a different order than they are shown.
@Suite struct ManyRowsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var query: Query
    /// A SELECT of the same rows.
    var sql: String
  }

  private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER);
    \(numbers) INSERT INTO t SELECT i * 7919 % 100003 - 50000, 'a' || i * 31 % 97, i % 40 FROM n;
    CREATE TABLE w(k TEXT, l INTEGER, a TEXT, PRIMARY KEY(k, l)) WITHOUT ROWID;
    \(numbers) INSERT INTO w SELECT 'one long prefix ' || i % 50, i, i * 31 % 97 FROM n;
    CREATE TABLE c(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t(id) ON DELETE CASCADE, a TEXT);
    CREATE INDEX c_t ON c(t);
    INSERT INTO c SELECT rowid, id, a FROM t; INSERT INTO c SELECT NULL, id, b FROM t WHERE b < 20;
    """

  private static func make(_ description: String, _ from: String, _ sql: String, _ change: (inout Query) -> Void)
    -> Case
  {
    var query = Query(from: from)
    change(&query)
    return Case(testDescription: description, query: query, sql: sql)
  }

  private static let cases = [
    make("all rows", "t", "SELECT id, a, b FROM t ORDER BY a, id") { $0.orderBy = ["a"] },
    make("few of many rows", "t", "SELECT id, a, b FROM t WHERE b = 3 ORDER BY a DESC, id") {
      $0.filter = "b = 3"
      $0.orderBy = ["a DESC"]
    },
    make("a limit", "t", "SELECT id, a, b FROM t ORDER BY a, id LIMIT 20") {
      $0.orderBy = ["a"]
      $0.limit = 20
    },
    make("keys of several columns and a common prefix", "w", "SELECT k, l, a FROM w ORDER BY a, k, l") {
      $0.orderBy = ["a"]
    },
    make(
      "rows of a join", "t JOIN c ON c.t = t.id", "SELECT c.id, t.a, c.a FROM t JOIN c ON c.t = t.id ORDER BY t.a, c.id"
    ) {
      $0.key = ["c.id"]
      $0.select = ["t.a AS x", "c.a AS y"]
      $0.orderBy = ["t.a"]
    },
    make("groups", "t", "SELECT b, count(*) AS n FROM t GROUP BY b ORDER BY n, b") {
      $0.select = ["count(*) AS n"]
      $0.groupBy = ["b"]
      $0.orderBy = ["count(*)"]
    },
  ]

  @Test(arguments: cases, ["UTF-8", "UTF-16le"])
  func areThoseOfSQLite(_ test: Case, encoding: String) throws {
    let fixture = try FollowerFixture("PRAGMA encoding = '\(encoding)';" + Self.schema)
    for change in ["", "UPDATE t SET a = 'b' || a WHERE id % 3 = 0", "DELETE FROM t WHERE id % 5 = 0"] {
      try fixture.queue.writeWithoutTransaction { try $0.execute(sql: change) }
      let rows: [String] = try fixture.queue.read { db in
        try Row.fetchAll(db, sql: test.sql).map { row in
          row.databaseValues.map { value in
            switch value.storage {
            case .int64(let value): "\(value)"
            case .string(let value): "'\(value)'"
            default: "null"
            }
          }.joined(separator: ",")
        }
      }
      let expected = rows.joined(separator: " ")
      #expect(rows.count >= 8)
      #expect(fixture.snapshot(test.query) == expected)
    }
  }

  @Test func aWindowThatWasSentIsNotSentAgainOnceItChanged() throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: "t")
    query.filter = "b = 3"
    var last = ""
    for value in ["x", "y", "x"] {
      try fixture.writer.run("UPDATE t SET a = '\(value)' WHERE b = 3")
      let now = fixture.snapshot(query)
      #expect(now.contains("'\(value)'") && now != last)
      #expect(fixture.snapshot(query) == now)
      last = now
    }
  }
}
