import ServerSupport
import TestSupport
import Testing

/// Mistakes that a rewritten query must not make: each list is short, and wrong after one of its commits if one rule of
/// rewriting is dropped.
@Suite struct RewritingTests {
  private static func page(_ select: String, key: String, _ column: String) -> OracleQuery {
    var query = OracleQuery(
      table: "(\(select)) AS x", keys: [key], select: [column], orderBy: ["b", "a"], tellsKey: true)
    query.parameters = ["least": 0]
    return query
  }

  private static let pages = [
    FoundListsTests.run(
      "a page whose hidden rows share a key",
      "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 0, 1), (1, 0, 2), (2, 5, 3), (3, 6, 4), (NULL, 8, 5);",
      [1, 2, 3].map {
        page("SELECT a, b, c FROM t WHERE c > :least ORDER BY b, a LIMIT \($0) OFFSET 2", key: "a", "c")
      },
      [
        "UPDATE t SET b = 7 WHERE c = 3;", "INSERT INTO t VALUES (9, -1, 0);", "UPDATE t SET c = c + 10;",
        "INSERT INTO t VALUES (4, 5.5, 7);",
      ]),
    FoundListsTests.run(
      "a page whose hidden rows come to share a key",
      "CREATE TABLE t(a TEXT PRIMARY KEY, b, c); INSERT INTO t VALUES (NULL, 0, 1), ('x', 4, 2), ('y', 5, 3), ('z', 6, 4);",
      [
        page("SELECT a, b, c FROM t WHERE c > :least ORDER BY b, a LIMIT 2 OFFSET 2", key: "a", "c"),
        page(
          "SELECT * FROM (SELECT * FROM t WHERE c > :least ORDER BY b, a LIMIT 3 OFFSET 1) ORDER BY b, a LIMIT 2",
          key: "a", "c"),
      ],
      ["INSERT INTO t VALUES (NULL, -1, 7);", "UPDATE t SET b = b - 5 WHERE a = 'z';", "UPDATE t SET c = 20;"]),
    FoundListsTests.run(
      "a page of a view that comes to be one that is run again",
      "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); CREATE VIEW v AS SELECT * FROM t; "
        + "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 2, 3), (4, 1, 4), (5, 0, 5);",
      [page("SELECT a, b, c FROM v WHERE c > :least ORDER BY b, a LIMIT 2 OFFSET 2", key: "a", "c")],
      [
        "UPDATE t SET b = 3 WHERE a = 1;",
        "BEGIN; DROP VIEW v; CREATE VIEW v AS SELECT a, b, sum(c) OVER (ORDER BY a) AS c FROM t; COMMIT;",
        "UPDATE t SET b = 0 WHERE a = 2;", "BEGIN; DROP VIEW v; CREATE VIEW v AS SELECT * FROM t; COMMIT;",
        "UPDATE t SET b = 9 WHERE a = 5;",
      ]),
  ]

  private static let orders = """
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer, n, total);
    INSERT INTO customers VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (6, 'f');
    INSERT INTO orders VALUES (1, 1, 1, 5), (2, 1, 2, 6), (3, 2, 1, 7), (4, 2, 3, 8), (5, NULL, 1, 9), (6, NULL, 2, 10);
    """

  private static func joined(_ from: String, key: String, _ column: String) -> OracleQuery {
    OracleQuery(table: from, keys: [key], select: [column], orderBy: [], tellsKey: true)
  }

  private static let joins = FoundListsTests.run(
    "joined subqueries with groups of NULL, and such that read a table twice", orders,
    [
      joined(
        "customers c JOIN (SELECT customer, max(id) AS last FROM orders GROUP BY customer) l ON l.last = c.id",
        key: "c.id", "name"),
      joined(
        "customers c JOIN (SELECT customer, sum(total) AS s FROM orders WHERE (SELECT count(*) FROM orders p WHERE p.n = orders.n) > 1 GROUP BY customer) x ON x.customer = c.id",
        key: "c.id", "s"),
    ],
    [
      "UPDATE orders SET n = 3 WHERE id = 1;", "UPDATE customers SET name = 'g' WHERE id > 3;",
      "INSERT INTO orders VALUES (7, NULL, 3, 12);", "DELETE FROM orders WHERE id = 4;",
      "UPDATE orders SET n = 2 WHERE id > 2;",
    ])

  private static let outer = FoundListsTests.run(
    "a table that a subquery's condition reads, and one around it", orders,
    [
      OracleQuery(
        table:
          "(SELECT id, n, row_number() OVER (PARTITION BY customer ORDER BY id) AS r FROM orders WHERE EXISTS (SELECT 1 FROM customers c WHERE c.id = orders.customer)) AS x",
        keys: ["x.id"], select: ["r"], filter: "EXISTS (SELECT 1 FROM customers d WHERE d.id = x.n)", orderBy: [],
        tellsKey: true)
    ],
    [
      "DELETE FROM customers WHERE id = 3;", "INSERT INTO customers VALUES (3, 'c');",
      "UPDATE customers SET id = 9 WHERE id = 2;",
    ])

  private static let outerJoin = FoundListsTests.run(
    "a row that passes no condition of an outer join's ON is there all the same", orders,
    [
      OracleQuery(
        table: "customers c LEFT JOIN orders o ON o.customer = c.id AND c.name > 'b'", keys: ["c.id", "o.id AS other"],
        select: ["sum(length(c.name)) OVER (ORDER BY c.id, o.id) AS s"], orderBy: [], tellsKey: true)
    ],
    [
      "UPDATE orders SET n = 3;", "UPDATE customers SET name = 'aaa' WHERE id = 1;",
      "DELETE FROM customers WHERE id = 1;",
    ])

  private static let pairs = FoundListsTests.run(
    "rows that a subquery joins go together", orders,
    [
      FoundListsTests.query(
        "customers", ["name"],
        where: "EXISTS (SELECT 1 FROM orders o JOIN orders p ON p.n = o.n + 1 WHERE o.customer = customers.id)"),
      FoundListsTests.query(
        "customers",
        ["(SELECT count(*) FROM orders o JOIN orders p ON p.total = o.total + 1 WHERE o.customer = customers.id) AS n"]),
    ],
    [
      "DELETE FROM orders WHERE id < 3;", "UPDATE orders SET n = n + 5, total = total * 2;",
      "INSERT INTO orders VALUES (1, 3, 40, 50), (2, 3, 41, 51);", "UPDATE orders SET n = -n, total = -total;",
      "DELETE FROM orders;",
    ])

  /// If SQLite gathers the rows first, it compares values with the types of the first SELECT's columns; otherwise with
  /// those of each SELECT.
  private static let types = FoundListsTests.run(
    "SELECTs of several types",
    """
    CREATE TABLE a(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE b(id INTEGER PRIMARY KEY, w TEXT);
    INSERT INTO a VALUES (1, 4), (2, 6), (3, 10); INSERT INTO b VALUES (1, '010'), (2, '4'), (3, 'x');
    CREATE TABLE c(id INTEGER PRIMARY KEY, n, m); INSERT INTO c VALUES (1, 10, 1), (2, 6, 1);
    """,
    [
      OracleQuery(
        table: "c JOIN (SELECT 0 AS side, id, v AS k FROM a UNION ALL SELECT 1, id, w FROM b) AS x ON x.k = c.n",
        keys: ["c.id", "x.side", "x.id AS other"], select: ["m"], orderBy: [], tellsKey: true)
    ],
    [
      "UPDATE c SET m = 2;", "UPDATE c SET m = 3 WHERE id = 1;", "UPDATE b SET w = '11' WHERE id = 1;",
      "UPDATE a SET v = v + 1;", "UPDATE b SET w = '50' WHERE id = 2;",
    ])

  private static let names = FoundListsTests.run(
    "a name that the query gives is also a column of the subquery's table",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 9), (2, 5, 0), (3, 7, 1);",
    [
      OracleQuery(
        table: "(SELECT id, a FROM t) AS x", keys: ["id"], select: ["a AS b"], filter: "b > 4", orderBy: [],
        tellsKey: true)
    ],
    ["UPDATE t SET b = 10 - b;", "UPDATE t SET a = 8 WHERE id = 1;", "INSERT INTO t VALUES (4, 6, 2);"])

  static let runs = pages + [joins, outer, outerJoin, pairs, types, names]

  @Test(arguments: runs.indices)
  func listsAgreeWithSQLite(index: Int) throws {
    let (name, run) = Self.runs[index]
    #expect(try run.failure() == nil, "\(name)\n\(run.story)")
  }
}
