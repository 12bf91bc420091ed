import Following
import Foundation
import ServerSupport
import TestSupport
import Testing

/// Subqueries, views and common tables that a query joins, set operators, DISTINCT, RIGHT and FULL JOIN, in random
/// combinations, while another process commits, readers run and ticks come in random order: at quiet points each list
/// equals SQLite's own answer.
///
/// `FRESHET_SEED=n swift test --filter JoinedSourcesTests` repeats a failure; `FRESHET_SEEDS=n` runs n cases.
@Suite(.serialized) struct JoinedSourcesTests {
  private static let numbers: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    let first = UInt64.random(in: 0..<1 << 40)
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(6, long: 330)))).map { first + $0 }
  }()

  @Test(arguments: numbers)
  func listsAgreeWithSQLite(number: UInt64) throws {
    var generator = JoinedGenerator(seed: number)
    let problem = try generator.run(lists: 7, transactions: 60).report("joined-\(number)")
    #expect(problem == nil, "FRESHET_SEED=\(number)")
  }

  /// Typical queries of applications, with commits that must not run them again.
  @Test(arguments: JoinedGenerator.kept)
  func `No change of a table runs them again`(query: OracleQuery) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL;\n\(ShopCommits.schema)\n\(JoinedGenerator.views)")
    let lists = try SteppedLists(path: path, [query]) { $0.selfCheck = .off }
    lists.step()
    lists.step()
    let first = lists.runs
    for commit in [
      "UPDATE orders SET total = 99, n = 3 WHERE id = 7", "DELETE FROM orders WHERE id = 4",
      "INSERT INTO orders VALUES (50, 2, 's0', 3, 3, 3)", "UPDATE customers SET rank = 2, region = 'r2' WHERE id = 3",
    ] {
      try lists.writer.run(commit)
      lists.step()
    }
    #expect(lists.runs == first)
  }
}

/// Queries that are run again, but not after changes of rows that pass none of their conditions.
@Suite struct PassingTests {
  private static let queries: [OracleQuery] = [
    ("orders", "id", "sum(n) OVER (ORDER BY id) AS s", "status = 's1'"),
    ("(SELECT id, n FROM orders WHERE status = 's1' ORDER BY n DESC, id LIMIT 3) x", "id", "n", nil),
    (
      "orders o JOIN customers c ON c.id = o.customer AND o.status = 's1'", "o.id",
      "row_number() OVER (ORDER BY o.id) AS s", "c.rank > :least"
    ),
  ].map { from, key, select, filter in
    OracleQuery(
      table: from, keys: [key], select: [select], filter: filter, orderBy: [], tellsKey: true,
      parameters: filter?.contains(":least") == true ? ["least": 0] : [:])
  }

  @Test(arguments: queries)
  func `Only what passes runs the query`(query: OracleQuery) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL;\n\(ShopCommits.schema)")
    let lists = try SteppedLists(path: path, [query]) { $0.selfCheck = .off }
    lists.step()
    let first = lists.runs
    for commit in [
      "UPDATE orders SET n = 8 WHERE id = 2", "DELETE FROM orders WHERE id = 4",
      "INSERT INTO orders VALUES (50, 2, 's0', 3, 3, 3)", "UPDATE orders SET status = 's3' WHERE id = 6",
    ] {
      try lists.writer.run(commit)
      lists.step()
    }
    #expect(lists.runs == first)
  }

  /// Queries that read their tables in other ways as well.
  private static let others: [OracleQuery] = [
    ("spent AS x, orders o", ["x.k", "o.id"], "x.s", "o.status = 's1'"),
    (
      "(SELECT id, sum(n) OVER (ORDER BY id) AS s FROM orders WHERE status = 's1') AS x", ["x.id"], "s",
      "x.id IN (SELECT n FROM orders)"
    ),
  ].map { OracleQuery(table: $0, keys: $1, select: [$2], filter: $3, orderBy: [], tellsKey: true) }

  @Test(arguments: queries + others)
  func `What passes is seen`(query: OracleQuery) throws {
    let commits = [
      "UPDATE orders SET n = 100, customer = 2 WHERE id = 1", "UPDATE orders SET status = 's1', n = 200 WHERE id = 8",
      "UPDATE orders SET n = 7 WHERE id = 2", "UPDATE orders SET status = 's2' WHERE id = 5",
      "UPDATE orders SET total = 50, n = 9 WHERE id = 2", "UPDATE orders SET total = 51, n = 1 WHERE id = 2",
      "DELETE FROM orders WHERE id = 1", "UPDATE customers SET rank = -1 WHERE id = 2",
    ]
    let run = ListRun(
      .stepped, setUp: "PRAGMA journal_mode = WAL;\n\(ShopCommits.schema)\n\(JoinedGenerator.views)", [query],
      steps: commits.flatMap { [.commit($0), .step, .compare] })
    #expect(try run.report("passing") == nil)
  }
}

private struct JoinedGenerator {
  private var commits: ShopCommits

  init(seed: UInt64) { commits = ShopCommits(seed: seed) }

  mutating func run(lists: Int, transactions: Int) -> ListRun {
    let queries = (0..<lists).map { _ in query() }
    return commits.run(queries, transactions: transactions, views: Self.views)
  }

  static let views = """
    CREATE VIEW spent AS SELECT customer AS k, max(id) AS v, sum(total) AS s FROM orders GROUP BY customer;
    CREATE VIEW open AS SELECT customer AS k, id AS v, n AS s FROM orders WHERE n > 2;
    CREATE VIEW named(k, v, s) AS SELECT id, CAST(rank AS INTEGER), region FROM customers UNION SELECT customer, n, status FROM orders;
    """

  /// Derived sources. Each has a `k` (mostly a customer), a `v` and an `s`, which together identify its rows.
  private static let derived = [
    "SELECT customer AS k, max(id) AS v, count(*) AS s FROM orders GROUP BY customer",
    "SELECT customer AS k, min(o.id) AS v, sum(total) AS s FROM orders o WHERE n > 1 GROUP BY 1 HAVING count(*) > 1",
    "SELECT o.n AS k, count(*) AS v, o.customer AS s FROM orders o GROUP BY o.customer, o.n",
    "SELECT c.id AS k, count(o.id) AS v, max(o.id) AS s FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.n > 2 GROUP BY c.id",
    "SELECT c.id AS k, count(o.id) AS v, max(d.id) AS s FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.n > 4 JOIN orders d ON d.n = c.id GROUP BY c.id",
    "SELECT o.customer AS k, count(*) AS v, max(c.rank) AS s FROM orders o LEFT JOIN customers c ON c.id = o.n LEFT JOIN kept ON kept.b = c.id GROUP BY o.customer",
    "SELECT c.id AS k, max(o.id) AS v, c.region AS s FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.id",
    "SELECT DISTINCT customer AS k, n AS v, status AS s FROM orders",
    "SELECT DISTINCT o.customer AS k, c.region AS v, 1 AS s FROM orders o, customers c WHERE c.id = o.n",
    "SELECT customer AS k, id AS v, total AS s FROM orders WHERE status <> 's1'",
    "SELECT o.customer AS k, o.id AS v, c.rank AS s FROM orders o JOIN customers c ON c.id = o.n",
    "SELECT customer AS k, row_number() OVER (PARTITION BY customer ORDER BY id DESC) AS v, id AS s FROM orders",
    "SELECT customer AS k, id AS v, 0 AS s FROM orders WHERE n < 5 UNION ALL SELECT id, id, 1 FROM customers",
    "SELECT customer AS k, n AS v, 0 AS s FROM orders UNION SELECT id, CAST(rank AS INTEGER), 0 FROM customers",
    "SELECT id AS k, 0 AS v, 0 AS s FROM customers EXCEPT SELECT customer, 0, 0 FROM orders WHERE n > 4",
    "SELECT customer AS k, n AS v, 0 AS s FROM orders INTERSECT SELECT id, CAST(rank AS INTEGER), 0 FROM customers",
    "SELECT customer AS k, 0 AS v, count(*) AS s FROM orders GROUP BY customer UNION ALL SELECT id, 1, rank FROM customers",
    "SELECT b AS k, a AS v, v AS s FROM kept WHERE v > 1",
    "SELECT customer AS k, id AS v, sum(n) OVER (ORDER BY id) AS s FROM orders WHERE status IN ('s1', 's2')",
    "SELECT customer AS k, id AS v, n AS s FROM orders WHERE n > 3 ORDER BY n DESC, id LIMIT 4",
    "SELECT o.customer AS k, o.id AS v, c.rank AS s FROM orders o JOIN customers c ON c.id = o.n UNION ALL SELECT rank, -id, 1 FROM customers UNION ALL SELECT length(b), v, a || b FROM kept",
    "SELECT c.rank AS k, c.id AS v, o.id AS s FROM customers c LEFT JOIN orders o ON o.customer = c.id UNION ALL SELECT count(*), -n, 'x' FROM orders GROUP BY n",
    "SELECT n AS k, count(*) AS v, status AS s FROM orders GROUP BY status, n",
    "SELECT x.k, x.v, x.s FROM (SELECT customer AS k, count(*) AS v, max(n) AS s FROM orders GROUP BY customer) AS x WHERE x.v > 2",
  ]

  /// FROM with `X` and `Y` for derived sources, the key's columns without theirs, and WHERE.
  private static let shapes: [(from: String, keys: [String], filter: String?)] = [
    ("customers c JOIN X x ON x.k = c.id", ["c.id"], nil),
    ("customers c LEFT JOIN X x ON x.k = c.id", ["c.id"], nil),
    ("customers c LEFT JOIN X x ON c.id = x.k AND x.v > 1", ["c.id"], "c.rank > 0.5 OR x.v IS NULL"),
    ("X x JOIN customers c ON c.id = x.k", ["c.id"], nil),
    ("X x LEFT JOIN customers c ON c.id = x.k", ["c.id"], nil),
    ("X x, customers c", ["c.id"], "x.k = c.id AND c.region <> 'r0'"),
    ("orders o JOIN X x ON x.k = o.customer AND x.v = o.id", ["o.id"], nil),
    ("orders o, X x", ["o.id"], "x.v = o.id AND o.n > 1"),
    ("X x LEFT JOIN orders o ON o.id = x.v", ["o.id"], nil),
    ("customers c LEFT JOIN X x ON x.k = c.id LEFT JOIN orders o ON o.id = x.v", ["c.id", "o.id"], nil),
    ("customers c LEFT JOIN X x ON x.k = c.id LEFT JOIN Y y ON y.k = c.id", ["c.id"], nil),
    ("customers c JOIN X x ON x.k = c.id JOIN Y y ON y.k = x.k", ["c.id"], "x.v IS NOT y.v"),
    ("X x JOIN Y y ON y.k = x.k", [], nil),
    ("X x LEFT JOIN Y y ON x.k = y.k AND y.v > 2", [], nil),
    ("orders o JOIN customers c ON c.id = o.customer JOIN X x ON x.k = c.rank", ["o.id"], "o.n > 2"),
    ("orders o, customers c, X x", ["o.id", "c.id"], "c.id = o.customer AND x.k = o.n AND x.v > c.rank"),
    (
      "customers c JOIN X x ON x.k = c.id", ["c.id"],
      "EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.n > x.v)"
    ),
    ("customers c JOIN X x ON x.k = c.id", ["c.id"], "c.rank > (SELECT avg(n) / 4 FROM orders)"),
    ("spent AS x", [], "x.s = (SELECT max(s) FROM spent)"),
    ("customers c JOIN orders o USING (id) LEFT JOIN X x ON x.k = c.rank", ["c.id"], nil),
    ("customers c LEFT JOIN X x ON x.k = c.id OR x.v = 3", ["c.id"], nil),
    ("customers c, X x", ["c.id"], "x.k = c.id OR c.rank > 2"),
    ("customers c, X x", ["c.id"], "x.k = c.id IS NULL"),
    ("X x JOIN customers c ON NOT x.k = c.id", ["c.id"], "x.v < 3"),
    ("customers c LEFT JOIN X x ON x.v < 3 LEFT JOIN orders o ON o.id = c.id AND x.k = c.id", ["c.id", "o.id"], nil),
    (
      "X x LEFT JOIN customers c ON c.rank > 1 LEFT JOIN orders o ON o.n = 4 AND x.k = c.id", ["c.id", "o.id"],
      "x.v < 4"
    ),
    (
      "customers c JOIN X x ON x.k = c.id", ["c.id"],
      "x.v >= (SELECT avg(v) FROM (SELECT customer AS k, count(*) AS v FROM orders GROUP BY customer))"
    ),
    ("orders o RIGHT JOIN customers c ON c.id = o.customer AND o.n > 2", ["c.id", "o.id"], nil),
    ("X x RIGHT JOIN customers c ON c.id = x.k", ["c.id"], nil),
    ("customers c FULL JOIN X x ON x.k = c.id", ["c.id"], nil),
    ("X x FULL JOIN customers c ON x.k = c.id AND c.rank > 0.5", ["c.id"], "c.id IS NULL OR x.v > 1"),
    ("X x FULL JOIN Y y ON x.k = y.k", [], nil),
    ("orders o FULL JOIN customers c ON c.id = o.customer AND o.n > 2", ["c.id", "o.id"], nil),
    ("customers c FULL OUTER JOIN orders o ON c.id = customer", ["c.id", "o.id"], "n > 1 OR region <> 'r1'"),
    ("X x", [], nil),
    ("X x", [], "x.v > 1"),
  ]

  private mutating func source() -> String {
    switch commits.number(0..<20) {
    case 0: "spent"
    case 1: "open"
    case 2: "named"
    default: "(\(commits.pick(Self.derived)))"
    }
  }

  /// A query for some rows in the middle.
  private mutating func page() -> OracleQuery {
    let columns = commits.chance(50) ? ["k DESC", "v", "s DESC"] : ["s", "k", "v DESC"]
    let limit = "LIMIT \(commits.number(0..<9))" + (commits.chance(80) ? " OFFSET \(commits.number(0..<12))" : "")
    var query = OracleQuery(
      table:
        "(\(commits.pick(Self.derived.filter { !$0.contains("LIMIT") })) ORDER BY \(columns.joined(separator: ", ")) \(limit)) AS x",
      keys: ["k", "v", "s"], select: ["typeof(v) AS a"], orderBy: columns, tellsKey: true)
    if commits.chance(20) { query.limit = commits.number(0..<5) }
    if commits.chance(20) { query.filter = "v > 1" }
    return query
  }

  private mutating func query() -> OracleQuery {
    if commits.chance(12) { return page() }
    let shape = commits.pick(Self.shapes)
    let from = shape.from.replacing("X x", with: "\(source()) AS x").replacing("Y y", with: "\(source()) AS y")
    let names = ["x", "y"].filter {
      from.contains(" AS \($0) ") || from.hasSuffix(" AS \($0)") || from.contains(" AS \($0),")
    }
    let columns = shape.keys + names.flatMap { ["\($0).k", "\($0).v", "\($0).s"] }
    if commits.chance(20) {
      let value = commits.pick(columns)
      let group = commits.pick(columns)
      return OracleQuery(
        table: from, keys: ["\(group) AS g"], select: ["count(*) AS n", "max(\(value)) AS m"],
        filter: shape.filter, orderBy: [], groupBy: [group], tellsKey: true)
    }
    let keys = columns.enumerated().map { "\($1) AS k\($0)" }
    var query = OracleQuery(
      table: from, keys: keys,
      select: ["coalesce(\(commits.pick(columns)), -1) AS a", "typeof(\(commits.pick(columns))) AS b"],
      filter: shape.filter, orderBy: commits.chance(50) ? ["a", "b DESC"] : [], tellsKey: true)
    if commits.chance(20) { query.limit = 3 }
    if commits.chance(15) { query.section = ("typeof(\(commits.pick(columns)))", false) }
    return query
  }

  static let kept: [OracleQuery] =
    [
      (
        "customers c LEFT JOIN (SELECT customer, count(*) AS n FROM orders GROUP BY customer) s ON s.customer = c.id",
        ["c.id"], "n"
      ),
      ("customers c JOIN spent s ON s.k = c.id", ["c.id"], "v"),
      ("spent s JOIN customers c ON s.k = c.id", ["s.k"], "name"),
      (
        "orders o JOIN (SELECT customer, max(id) AS last FROM orders GROUP BY customer) l ON l.last = o.id", ["o.id"],
        "total"
      ),
      ("spent s LEFT JOIN orders o ON o.id = s.v", ["s.k"], "total"),
      ("customers c JOIN spent s ON s.k = c.id AND s.s = (SELECT max(s) FROM spent)", ["c.id"], "v"),
      ("customers c LEFT JOIN orders o ON o.customer = c.id", ["c.id", "o.id"], "total"),
      ("orders o RIGHT JOIN customers c ON o.customer = c.id", ["c.id", "o.id AS o"], "total"),
      ("orders o FULL JOIN customers c ON o.customer = c.id", ["c.id", "o.id AS o"], "total"),
      ("(SELECT DISTINCT customer, n FROM orders) x", ["customer", "n"], "1 AS a"),
      (
        "(SELECT customer FROM orders WHERE n > 2 UNION SELECT id FROM customers WHERE rank > 1) x", ["customer"],
        "1 AS a"
      ),
      ("(SELECT id FROM customers EXCEPT SELECT customer FROM orders WHERE n > 5) x", ["id"], "1 AS a"),
      (
        "(SELECT o.id AS o, c.id AS c FROM orders o JOIN customers c ON c.id = o.customer UNION ALL SELECT -id, rank FROM customers) x",
        ["o"], "c"
      ),
      (
        "(SELECT 0 AS kind, id, total FROM orders UNION ALL SELECT 1, id, rank FROM customers) x", ["kind", "id"],
        "total"
      ),
    ].map { OracleQuery(table: $0, keys: $1, select: [$2], orderBy: [], tellsKey: true) } + [
      OracleQuery(
        table: "(SELECT id, n FROM orders WHERE n > 0 ORDER BY n DESC, id LIMIT 5 OFFSET 2) x", keys: ["id"],
        select: ["n"],
        orderBy: ["n DESC", "id"], tellsKey: true),
      OracleQuery(
        table: "(SELECT customer, count(*) AS c FROM orders GROUP BY customer ORDER BY c, customer LIMIT 3) x",
        keys: ["customer"], select: ["c"], orderBy: ["c", "customer"], tellsKey: true),
    ]
}
