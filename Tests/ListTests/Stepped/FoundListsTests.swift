import Following
import GRDB
import LiveQuery
import ServerSupport
import TestSupport
import Testing

/// Former bugs: lists that other testers found to stay wrong, each reduced as far as possible. After each commit the
/// list equals SQLite's answer, and the self-check finds nothing to repair.
@Suite struct FoundListsTests {
  static func run(
    _ name: String, encoding: String = "UTF-8", _ schema: String, _ queries: [OracleQuery], _ commits: [String]
  ) -> (name: String, run: ListRun) {
    let steps = commits.flatMap { [RunStep.commit($0), .step, .compare] }
    let setUp = "PRAGMA encoding = '\(encoding)'; PRAGMA journal_mode = wal;\n\(schema)"
    return (name, ListRun(.stepped, setUp: setUp, queries, steps: steps))
  }

  static func query(
    _ from: String, keys: [String] = ["id"], _ select: [String], where filter: String? = nil, groupBy: [String] = []
  ) -> OracleQuery {
    OracleQuery(
      table: from, keys: keys, select: select, filter: filter, orderBy: [], groupBy: groupBy,
      tellsKey: !groupBy.isEmpty || keys != ["id"])
  }

  private static func rows(_ count: Int) -> String {
    "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < \(count))"
  }

  private static let slow = run(
    "large changes of a subquery's table, once the query is run again",
    """
    CREATE TABLE customer(id INTEGER PRIMARY KEY, region INT);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, region INT);
    \(rows(2_000)) INSERT INTO customer SELECT i, i % 7 FROM s;
    \(rows(2_000)) INSERT INTO orders SELECT i, i % 7 FROM s;
    """,
    [
      query("customer", ["(SELECT count(*) FROM orders o WHERE o.region = customer.region) AS n"]),
      query("customer", ["region"], where: "EXISTS (SELECT 1 FROM orders o WHERE o.region = customer.region)"),
    ],
    [3, 6, 0, 2].map { "UPDATE orders SET region = \($0);" })

  private static let aggregates = ["JOIN", "LEFT JOIN"].map { join in
    run(
      "an aggregate over a \(join) b whose WHERE has a subquery over b",
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, g, x); CREATE TABLE b(id INTEGER PRIMARY KEY, aid, v);
      INSERT INTO a VALUES (1, 'p', 1), (2, 'p', 2), (3, 'q', 3), (4, 'q', NULL), (5, 'r', 1);
      INSERT INTO b VALUES (1, 1, 9), (2, 2, 8), (3, 3, 1), (4, 9, 2);
      """,
      [
        "NOT EXISTS (SELECT 1 FROM b o WHERE o.v = a.x)", "EXISTS (SELECT 1 FROM b o WHERE o.v = a.x)",
        "(SELECT count(*) FROM b o WHERE o.v = a.x) < 2", "a.x NOT IN (SELECT o.v FROM b o WHERE o.id > a.id)",
      ].map { filter in
        query(
          "a \(join) b ON b.aid = a.id", keys: ["a.g"], ["count(*) AS n", "count(b.id) AS m", "max(b.v) AS v"],
          where: filter, groupBy: ["a.g"])
      },
      [
        "UPDATE b SET v = 1 WHERE id = 1;", "UPDATE b SET v = 2;", "UPDATE b SET v = id;",
        "DELETE FROM b WHERE id = 3;",
        "BEGIN; UPDATE a SET x = 4 WHERE id = 2; UPDATE b SET v = 4 WHERE id = 1; COMMIT;",
        "INSERT INTO b VALUES (7, 4, 3);", "UPDATE b SET v = NULL WHERE id = 7;",
      ])
  }

  private static let nulls = run(
    "NULL in what IN and NOT IN compare",
    """
    CREATE TABLE a(id INTEGER PRIMARY KEY, k, x); CREATE TABLE b(id INTEGER PRIMARY KEY, k, v);
    INSERT INTO a VALUES (1, 1, NULL), (2, 1, 5), (3, 2, NULL), (4, NULL, NULL), (5, NULL, 5), (6, 2, 6);
    """,
    [
      query("a", ["x"], where: "a.x NOT IN (SELECT b.v FROM b WHERE b.k = a.k)"),
      query("a", ["x IN (SELECT v FROM b WHERE b.k = a.k) AS y"]), query("a", ["x NOT IN (SELECT v FROM b) AS y"]),
      query("a", ["(x IN (SELECT v FROM b WHERE b.k IS a.k)) IS NULL AS y"]),
      query("a", ["x"], where: "(x IN (SELECT v FROM b WHERE b.k = a.k)) IS NULL"),
      query(
        "a", keys: ["a.k"], ["count(*) AS n"], where: "x NOT IN (SELECT v FROM b WHERE b.k = a.k)", groupBy: ["a.k"]),
    ],
    [
      "INSERT INTO b VALUES (1, 1, 9);", "INSERT INTO b VALUES (2, 2, NULL);", "UPDATE b SET v = 6;",
      "UPDATE b SET k = NULL WHERE id = 2;", "DELETE FROM b WHERE id = 1;", "UPDATE b SET v = NULL, k = 1;",
      "DELETE FROM b;", "INSERT INTO b VALUES (3, NULL, 5), (4, 2, 6);",
    ])

  private static let rowids = ["TEXT PRIMARY KEY", "INT PRIMARY KEY", "INTEGER PRIMARY KEY DESC"].map { key in
    run(
      "a view that gives the rowid of a table with \(key)",
      """
      CREATE TABLE t(k \(key), n); CREATE TABLE u(k, label); CREATE VIEW v AS SELECT rowid AS r, k, n FROM t;
      CREATE VIEW w AS SELECT t.oid AS r, t.k, label FROM t LEFT JOIN u ON u.k = t.k;
      INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4); INSERT INTO u VALUES (1, 'a'), (3, 'b');
      """,
      [query("v", keys: ["r"], ["k", "n"]), query("w", keys: ["r"], ["k", "label"])],
      [
        "DELETE FROM t WHERE k = 2;", "UPDATE t SET rowid = 12 WHERE k = 3;", "INSERT OR REPLACE INTO t VALUES (4, 5);",
        "UPDATE t SET k = 7 WHERE k = 1;", "DELETE FROM t;", "INSERT INTO t VALUES (2, 2);", "UPDATE u SET k = 2;",
      ])
  }

  private static let extremes = ["UTF-16le", "UTF-16be", "UTF-8"].map { encoding in
    run(
      "min and max of text in \(encoding)", encoding: encoding,
      "CREATE TABLE t(id INTEGER PRIMARY KEY, g, s TEXT, n); INSERT INTO t VALUES (1, 'a', 'a', 1);",
      [
        query("t", keys: ["g"], ["min(s) AS low", "max(s) AS high"], groupBy: ["g"]),
        OracleQuery(
          table: "t", keys: ["id"], select: ["s"], orderBy: [], totals: ["low": "min(s)", "high": "max(s)"],
          alongside: ["a": "SELECT max(s) FROM t", "b": "SELECT min(s) FROM t WHERE n > 0"]),
        query("t", keys: ["g"], ["count(DISTINCT s) AS n", "max(s || g) AS x"], groupBy: ["g"]),
      ],
      [
        "INSERT INTO t VALUES (2, 'a', char(0x1F600), 1);", "INSERT INTO t VALUES (3, 'a', 'Ł', 2);",
        "INSERT INTO t VALUES (4, 'a', char(0xFFFD), 2);", "DELETE FROM t WHERE id = 1;",
        "UPDATE t SET s = 'b' WHERE id = 3;",
        "UPDATE t SET s = 'Łb' WHERE id = 4;", "DELETE FROM t WHERE id = 2;", "INSERT INTO t VALUES (5, 'a', 'ż', 3);",
      ])
  }

  private static let literals = run(
    "texts and names that are those of tables as well",
    """
    CREATE TABLE customer(id INTEGER PRIMARY KEY, name); CREATE TABLE mark(id INTEGER PRIMARY KEY, target_type, target);
    CREATE TABLE v(id INTEGER PRIMARY KEY, mark);
    INSERT INTO customer VALUES (1, 'a'), (2, 'b'); INSERT INTO mark VALUES (1, 'customer', 1), (2, 'v', 2);
    INSERT INTO v VALUES (1, 4), (2, 2);
    """,
    [
      query(
        "customer", ["name"],
        where: "EXISTS (SELECT 1 FROM mark m WHERE m.target_type = 'customer' AND m.target = customer.id)"),
      query(
        "customer",
        ["(SELECT count(*) FROM mark WHERE mark.target = customer.id) AS mark"],
        where: "id IN (SELECT target FROM mark)"),
      query(
        "customer", ["name AS v", "(SELECT max(v.mark) FROM v WHERE v.id = customer.id) AS m"],
        where: "EXISTS (SELECT 1 FROM v WHERE mark > id AND v.id = customer.id)"),
      query(
        "customer",
        ["(SELECT count(*) FROM mark m WHERE m.target_type IN ('customer', 'v') AND m.target = customer.id) AS n"]
      ),
    ],
    [
      "INSERT INTO mark VALUES (3, 'customer', 2);", "UPDATE customer SET name = 'c' WHERE id = 2;",
      "UPDATE mark SET target = 1;", "UPDATE v SET mark = 9;", "DELETE FROM mark WHERE id = 1;", "DELETE FROM v;",
    ])

  private static let virtualColumn = run(
    "a virtual column that is not read, and one that is",
    """
    CREATE TABLE t(id INTEGER PRIMARY KEY, g, n INT, double AS (n * 2), s TEXT AS (g || n) STORED, z INT);
    CREATE TABLE u(id INTEGER PRIMARY KEY, n INT, half AS (n / 2));
    INSERT INTO t(id, g, n, z) VALUES (1, 'a', 1, 5), (2, 'b', 2, 6); INSERT INTO u(id, n) VALUES (1, 1), (2, 4);
    """,
    [
      query("t", ["g", "n", "z"], where: "z > 5"), query("t", ["double"], where: "double > 2"), query("t", ["s"]),
      query("t", keys: ["g"], ["count(*) AS c", "sum(n) AS n"], groupBy: ["g"]),
      query("t", keys: ["g"], ["sum(double) AS n"], groupBy: ["g"]),
      query("u", ["(SELECT max(n) FROM t WHERE t.n < u.n) AS m"]),
      query("u", ["n"], where: "EXISTS (SELECT 1 FROM t WHERE t.double = u.n)"),
      query("t JOIN u ON u.half = t.n", keys: ["t.id"], ["u.n"]),
    ],
    [
      "UPDATE t SET n = 3, z = 9 WHERE id = 1;", "INSERT INTO t(id, g, n, z) VALUES (3, 'a', 7, 7);",
      "UPDATE u SET n = 6;", "DELETE FROM t WHERE id = 2;", "UPDATE t SET z = 1;",
    ])

  /// An automatic index of SQLite misses rows of `b` under RTRIM.
  private static let trimmed = run(
    "a join by a column under RTRIM",
    """
    CREATE TABLE a(id INTEGER PRIMARY KEY, k TEXT COLLATE RTRIM); CREATE TABLE b(id INTEGER PRIMARY KEY, k TEXT COLLATE RTRIM);
    \(rows(300)) INSERT INTO a SELECT i, 'k' || (i % 9) || substr('   ', 1, i % 4) FROM s;
    \(rows(300)) INSERT INTO b SELECT i, 'k' || (i % 9) || substr('   ', 1, i % 3) FROM s;
    """,
    [query("a", ["k", "(SELECT count(*) FROM b WHERE b.k = a.k) AS n"])],
    [
      "UPDATE b SET k = 'k1 ' WHERE id < 20;", "UPDATE a SET k = 'k2   ' WHERE id = 7;",
      "DELETE FROM b WHERE id % 7 = 0;",
    ])

  /// Two rows with one key do not end a list: it keeps its rows, and continues when the duplicate is gone.
  @Test(arguments: ["UPDATE t SET u = 'z' WHERE id = 1;", "DELETE FROM t WHERE id = 2;", "UPDATE t SET u = id;"])
  func aListWaitsUntilRowsOfOneKeyAreMended(mending: String) throws {
    let folder = try ProgramFolder(
      "PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, u); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'q');"
    )
    let query = OracleQuery(table: "t", keys: ["u"], select: ["id"], orderBy: [], tellsKey: true)
    let lists = try SteppedLists(path: folder.database, [query]) { $0.retryInterval = .zero }
    lists.step()
    let before = try #require(lists.output.models["0"]).line
    try lists.writer.run("UPDATE t SET u = 'x' WHERE id = 2;")
    for _ in 0..<3 { lists.step() }
    #expect(lists.output.models["0"]?.line == before && lists.output.ended.isEmpty)
    #expect(lists.output.delays["0"]?.code == .duplicateKey)
    try lists.writer.run(mending)
    for _ in 0..<3 { lists.step() }
    let queue = try DatabaseQueue(path: folder.database)
    let answer = try queue.read { try query.answer($0) }
    #expect(try #require(lists.output.models["0"]).difference(from: answer) == nil)
  }

  static let found =
    [slow] + aggregates + [nulls] + rowids + extremes + [literals, virtualColumn, trimmed]

  @Test(arguments: found.indices)
  func whatWasWrongOnceIsRight(index: Int) throws {
    let (name, run) = Self.found[index]
    #expect(try run.failure() == nil, "\(name)\n\(run.story)")
  }
}
