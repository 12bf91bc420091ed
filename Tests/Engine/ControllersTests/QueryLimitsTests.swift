import Following
import LiveQuery
import Requests
import TestSupport
import Testing

/// Queries that take too long or return too much: each ends soon with its code, and others continue undisturbed.
@Suite struct QueryLimitsTests {
  struct Attempt: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var query: Query
    var code: String

    init(_ description: String, _ code: String, _ from: String, _ change: (inout Query) -> Void = { _ in }) {
      testDescription = description
      self.code = code
      query = Query(from: from)
      change(&query)
    }
  }

  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
  /// A text of 12 MB.
  private static let long =
    "replace(hex(hex(hex(hex(hex(hex(x'00')))))), '3', '\(String(repeating: "a", count: 200_000))')"

  private static let slow = [
    Attempt("endless in where", "timeout", "t") { $0.filter = "(\(endless) SELECT count(*) FROM n)" },
    Attempt("endless in select", "timeout", "t") { $0.select = ["(\(endless) SELECT count(*) FROM n) AS n"] },
    Attempt("endless in orderBy", "timeout", "t") { $0.orderBy = ["(\(endless) SELECT count(*) FROM n)"] },
    Attempt("endless in from", "timeout", "(\(endless) SELECT i FROM n WHERE i < 0) AS n") { $0.key = ["i"] },
    Attempt("endless in a join", "timeout", "t JOIN u ON u.id = (\(endless) SELECT count(*) FROM n)"),
    Attempt("endless alongside", "timeout", "t") { query in
      query.alongside = ["x": "\(endless) SELECT count(*) FROM n"]
    },
    Attempt("a join of everything that gives nothing", "timeout", "t a, t b, t c, t d, t e, t f") {
      $0.filter = "length(a.a || b.a || c.a || d.a || e.a || f.a) = 1"
    },
    Attempt("a recursion over long texts", "timeout", "t") {
      $0.filter = "(WITH RECURSIVE r(n, s) AS (SELECT 1, \(long) UNION SELECT n + 1, s FROM r) SELECT count(*) FROM r)"
    },
    Attempt("long texts of a join, sorted", "timeout", "t") { query in
      let texts = "SELECT \(long) || a.id || b.id AS x FROM t a, t b, t c, t d"
      query.select = ["(SELECT count(*) FROM (\(texts) ORDER BY x LIMIT 9999999999)) AS n"]
    },
  ]

  private static let large = [
    Attempt("endless rows", "too_large", "(\(endless) SELECT i FROM n) AS n") { $0.key = ["i"] },
    Attempt("a join of everything", "too_large", "t a, t b, t c, t d") {
      $0.key = ["a.id AS a", "b.id AS b", "c.id AS c", "d.id AS d"]
      $0.select = ["a.a AS x"]
    },
    Attempt("doubled without end", "too_large", "t") {
      $0.filter = "(WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT count(*) FROM r)"
    },
    Attempt("long keys", "too_large", "t") { $0.key = ["\(long) || id AS k"] },
    Attempt("long contents", "too_large", "t") { $0.select = ["\(long) AS x"] },
    Attempt("long contents that are kept", "too_large", "t") { $0.select = ["\(long) AS x", "count(*) OVER () AS n"] },
    Attempt("a long text of many", "too_large", "t") {
      $0.select = ["group_concat(\(long)) AS x"]
      $0.groupBy = ["1"]
    },
    Attempt("a pattern of many wildcards", "bad_query", "t") {
      $0.filter = "a LIKE '%\(String(repeating: "a%", count: 300))'"
    },
    Attempt("a long pattern", "bad_query", "t") { $0.filter = "a GLOB '*\(String(repeating: "a", count: 20_000))b'" },
  ]

  @Test(arguments: slow + large) func endsWhatIsTooMuch(attempt: Attempt) throws {
    let fixture = try FollowerFixture(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY); INSERT INTO u VALUES (1);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO t SELECT i, 'value ' || i
      FROM n;
      """
    ) { configuration in
      configuration.queryTimeout = .milliseconds(attempt.code == "timeout" ? 300 : 10_000)
      configuration.rowLimit = 10_000
      configuration.resultBytes = 8 << 20
    }
    let other = SubscriptionKey(session: 2, id: "other")
    var one = Query(from: "t")
    one.filter = "id = 2"
    fixture.subscribe(other, one)
    let start = ContinuousClock.now
    let key = SubscriptionKey(session: 1, id: "attempt")
    fixture.subscribe(key, attempt.query)
    #expect(fixture.snapshot(attempt.query) == attempt.code)
    #expect(ContinuousClock.now - start < .seconds(15))
    #expect(fixture.recorder.deliveries(key) == ["fatal \(attempt.code)"])
    try fixture.writer.run("UPDATE t SET a = 'x'")
    #expect(fixture.snapshot(one) == "2,'x'")
    #expect(fixture.recorder.deliveries(other) == ["snapshot 1", "patch -0 +0 >0 *1"])
  }

  /// Limits that the query exceeds only after a commit.
  @Test(arguments: [
    ("t LEFT JOIN u ON u.id = (\(endless) SELECT max(n.i + t.id) FROM n)", "INSERT INTO t VALUES (1, 'x')", "timeout"),
    // Finding the rows that the commit concerns never ends, but running the query does, because t is empty.
    ("t LEFT JOIN u ON u.id = (\(endless) SELECT count(*) FROM n)", "INSERT INTO u VALUES (2)", "snapshot 0"),
    ("t JOIN u AS v ON v.id > 0", "INSERT INTO t SELECT id, 'x' FROM u", "too_large"),
  ])
  func endsWhatBecomesTooMuch(from: String, commit: String, code: String) throws {
    let fixture = try FollowerFixture(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY);
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO u SELECT i FROM n;
      """
    ) { configuration in
      configuration.queryTimeout = .milliseconds(code == "too_large" ? 30_000 : 600)
      configuration.rowLimit = 1_000
    }
    let other = SubscriptionKey(session: 2, id: "other")
    var one = Query(from: "u")
    one.filter = "id < 5 AND id > 3"
    fixture.subscribe(other, one)
    var query = Query(from: from)
    query.key = ["t.id AS t", "\(from.contains(" v ") ? "v" : "u").id AS u"]
    let key = SubscriptionKey(session: 1, id: "attempt")
    fixture.subscribe(key, query)
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(key) == ["snapshot 0"])
    try fixture.writer.run(commit)
    #expect(fixture.snapshot(one) == "4")
    // A reader runs the query, for as long as the limit allows.
    fixture.snapshot(query)
    try fixture.writer.run("DELETE FROM u WHERE id = 4")
    #expect(fixture.snapshot(one) == "")
    #expect(fixture.recorder.deliveries(key).last?.hasSuffix(code) ?? false, "\(fixture.recorder.deliveries(key))")
    #expect(fixture.recorder.deliveries(other) == ["snapshot 1", "patch -1 +0 >0 *0"])
  }
}
