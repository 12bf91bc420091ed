import Foundation
import ServerSupport
import TestSupport
import Testing

/// Aggregates, windows and subqueries of random shapes over two tables, while another process commits, readers run and
/// ticks come in random order: at quiet points each list, and each value alongside it, equals SQLite's own answer.
///
/// `FRESHET_SEED=n swift test --filter AggregateAxesTests` repeats a failure, which is printed with as few statements
/// and queries as still show it; `FRESHET_SEEDS=n` runs n cases.
@Suite(.serialized) struct AggregateAxesTests {
  private static let numbers: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    let first = UInt64.random(in: 0..<1 << 40)
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(6, long: 330)))).map { first + $0 }
  }()

  @Test(arguments: numbers)
  func aggregatesAgreeWithSQLite(number: UInt64) throws {
    var generator = AggregateGenerator(seed: number)
    let run = generator.run(lists: 7, transactions: 60)
    let problem = try run.report("aggregates-\(number)")
    #expect(problem == nil, "FRESHET_SEED=\(number)")
  }
}

/// Queries pairwise over their axes.
private struct AggregateGenerator {
  private var commits: ShopCommits

  init(seed: UInt64) { commits = ShopCommits(seed: seed) }

  mutating func run(lists: Int, transactions: Int) -> ListRun {
    let queries = (0..<lists).map { _ in query() }
    return commits.run(queries, transactions: transactions)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { commits.pick(elements) }
  private mutating func number(_ range: Range<Int>) -> Int { commits.number(range) }
  private mutating func chance(_ percent: Int) -> Bool { commits.chance(percent) }

  // MARK: - Queries

  private struct Source {
    let from: String
    let groups: [String]
    let values: [String]
    let filters: [String]
    /// A condition that joins, for WHERE.
    var join: String?
  }

  private static let ofOrders = [
    "status", "customer", "n % 3", "substr(status, 1, 1)", "CAST(total AS INTEGER)", "loose",
  ]
  private static let ofBoth = ["c.region", "o.status", "c.id", "o.customer", "c.name", "c.rank", "o.loose"]
  private static let values = ["o.total", "o.n", "o.total * 2", "o.loose", "o.n + c.rank", "c.rank", "o.status"]
  /// Subqueries over tables that are joined as well. Compared values are often NULL.
  private static let filters = [
    "o.n > 2", "c.region <> 'r1'", "o.total >= (SELECT avg(i.total) FROM orders i WHERE i.n > :least)",
    "o.status IN ('s0', 's1')", "o.total > :least",
    "EXISTS (SELECT 1 FROM customers x WHERE x.rank = o.total)",
    "NOT EXISTS (SELECT 1 FROM orders i WHERE i.n = c.rank)",
    "c.rank NOT IN (SELECT i.total FROM orders i WHERE i.customer = c.id)",
    "(o.total IN (SELECT i.n FROM orders i WHERE i.customer IS o.customer)) IS NULL",
    "(SELECT count(*) FROM customers x WHERE x.region = c.region) > 1",
  ]

  private static let sources = [
    Source(
      from: "orders", groups: ofOrders, values: ["total", "n", "total * 2", "loose", "length(status)"],
      filters: [
        "n > 2", "total > :least", "status LIKE 's%'", "n IN (SELECT rank FROM customers)",
        "total > (SELECT avg(total) FROM orders)", "n < (SELECT max(rank) FROM customers)",
      ]),
    Source(
      from: "orders o JOIN customers c ON c.id = o.customer", groups: ofBoth, values: values, filters: filters),
    Source(
      from: "customers c JOIN orders o ON c.id = o.customer AND o.n > c.rank", groups: ofBoth, values: values,
      filters: filters),
    Source(
      from: "orders o LEFT JOIN customers c ON c.id = o.customer", groups: ofBoth, values: values, filters: filters),
    Source(
      from: "customers c LEFT JOIN orders o ON c.id = o.customer", groups: ofBoth, values: values, filters: filters),
    Source(
      from: "customers c, orders o", groups: ofBoth, values: values, filters: filters, join: "c.id = o.customer"),
    Source(
      from: "orders o, customers c JOIN customers d ON d.rank = c.rank", groups: ofBoth, values: values,
      filters: filters,
      join: "(c.id = o.customer AND o.n BETWEEN 1 AND 7)"),
    Source(
      from: "orders o JOIN orders c ON c.n = o.customer", groups: ["o.status", "c.status", "o.id"],
      values: ["o.total", "c.total", "c.n"], filters: ["o.n > 2", "c.total > :least"]),
    Source(
      from: "customers c JOIN orders USING (id) LEFT JOIN customers l ON l.id = orders.customer",
      groups: ["c.region", "l.region", "orders.status"], values: ["orders.total", "l.rank"],
      filters: ["orders.n > 2", "l.rank > 0"]),
    Source(
      from:
        "(SELECT o.status AS s, o.total AS t, o.n AS n, c.region r FROM orders o JOIN customers c ON c.id = o.customer WHERE o.n > 1) AS x",
      groups: ["s", "x.r", "n % 2"], values: ["t", "x.n", "t * 2", "length(s)"],
      filters: ["t > :least", "r <> 'r1'", "x.n < 5"]),
    Source(
      from: "(SELECT customer AS k, count(*) AS c, sum(total) AS t FROM orders GROUP BY customer) AS x",
      groups: ["c", "c % 3", "x.k"], values: ["t", "k", "c"],
      filters: ["c > 2", "t > :least", "EXISTS (SELECT 1 FROM customers y WHERE y.rank = x.c)"]),
    Source(
      from:
        "(SELECT c.id AS k, c.region AS r, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.n > 2 GROUP BY 1) AS x",
      groups: ["n", "r"], values: ["n", "k"], filters: ["n > 1", "r IS NOT 'r1'"]),
    Source(
      from:
        "(SELECT id, customer AS k, status AS s, total AS t, row_number() OVER (PARTITION BY customer ORDER BY n, id) AS p FROM orders) AS x",
      groups: ["s", "k", "p"], values: ["t", "p"], filters: ["p <= 2", "t > :least"]),
    Source(
      from: "kept", groups: ["a", "b", "a || b"], values: ["v", "b"], filters: ["v > 1", "b <> 'x'"]),
  ]

  private mutating func call(_ source: Source) -> String {
    let value = pick(source.values)
    let filter = chance(25) ? " FILTER (WHERE \(pick(source.values)) > 3)" : ""
    return switch number(0..<14) {
    case 0..<3: "count(*)\(filter)"
    case 3: "count(\(value))\(filter)"
    case 4, 5: "sum(\(value))\(filter)"
    case 6: "total(\(value))\(filter)"
    case 7: "avg(\(value))\(filter)"
    case 8: "min(\(value))\(filter)"
    case 9: "max(\(value))\(filter)"
    case 10: "count(DISTINCT \(value))\(filter)"
    case 11: "\(pick(["sum", "total", "avg"]))(DISTINCT \(value))"
    case 12: "typeof(sum(DISTINCT \(value)))"
    default: "round(100.0 * sum(\(value)) / count(*), 2)"
    }
  }

  /// Correlated subqueries in every member of a query.
  private static let nested: [OracleQuery] = [
    ("customers c", ["(SELECT count(*) FROM orders o WHERE o.customer = c.id) AS n"], nil, ["n DESC"]),
    ("customers", [], "EXISTS (SELECT 1 FROM orders o WHERE o.customer = customers.id AND o.total > 3)", []),
    ("customers c", [], "id NOT IN (SELECT o.customer FROM orders o WHERE o.n > 2)", ["name"]),
    ("customers c", ["c.rank IN (SELECT total FROM orders) AS n"], nil, []),
    ("customers c", ["c.rank NOT IN (SELECT o.total FROM orders o WHERE o.customer = c.id) AS n"], nil, []),
    ("customers c", [], "c.rank NOT IN (SELECT o.total FROM orders o WHERE o.customer = c.id)", ["name"]),
    (
      "orders o, customers c", ["c.name"],
      "c.id = o.customer AND EXISTS (SELECT 1 FROM customers x WHERE x.rank = o.n)", []
    ),
    ("orders o", [], "o.total = (SELECT max(i.total) FROM orders i WHERE i.customer = o.customer)", ["o.n"]),
    (
      "customers c", ["(SELECT sum(o.total) FROM orders o JOIN kept k ON k.b = o.n WHERE o.customer = c.id) AS n"], nil,
      []
    ),
    (
      "orders o JOIN customers c ON c.id = o.customer",
      ["(SELECT min(i.total) FROM orders i WHERE i.status = o.status AND i.n > c.rank) AS n"], nil, []
    ),
    (
      "customers c JOIN orders USING (id)",
      ["EXISTS (SELECT 1 FROM customers x WHERE x.rank = orders.total AND x.region = c.region) AS n"], nil, []
    ),
    ("orders o", [], "o.total > (SELECT avg(i.total) FROM orders i WHERE i.n > 2)", ["o.n"]),
    (
      "customers c", [], "c.rank * 10 < (SELECT sum(o.n) FROM orders o) AND c.id > (SELECT min(n) FROM orders)",
      ["name"]
    ),
    ("customers c", [], nil, ["(SELECT max(o.n) FROM orders o WHERE o.customer = c.id LIMIT 1)"]),
    (
      "customers c", ["(SELECT count(*) FROM orders o WHERE o.customer = (SELECT max(id) FROM customers)) AS n"], nil,
      []
    ),
  ].map { from, select, filter, order in
    let isOrders = from.hasPrefix("orders o")
    return OracleQuery(
      table: from, keys: [isOrders ? "o.id" : "id"], select: select.isEmpty ? [isOrders ? "o.total" : "rank"] : select,
      filter: filter, orderBy: order)
  }

  private static let topOrders =
    "(SELECT id, customer, total, row_number() OVER (PARTITION BY customer ORDER BY total DESC, id) AS p FROM orders WHERE n > 1) AS x"
  private static let sums =
    "(SELECT customer AS k, sum(total) AS t, count(*) AS c FROM orders GROUP BY customer HAVING count(*) > 1) AS x"

  /// Windows, and subqueries that rows come from.
  private static let inner: [OracleQuery] = [
    windowed("orders", ["id"], ["customer", "row_number() OVER (PARTITION BY customer ORDER BY total, id) AS p"]),
    windowed(
      "orders", ["id"], ["sum(n) OVER (PARTITION BY status, customer ORDER BY id) AS r", "total"], "status <> 's1'"),
    windowed(
      "orders", ["id"],
      [
        "max(total) OVER (PARTITION BY customer, n) AS m",
        "lag(n) OVER (PARTITION BY n % 3, customer ORDER BY id) AS l",
      ]
    ),
    windowed("orders", ["id"], ["count(*) OVER (PARTITION BY loose) AS c"], "n > 1"),
    windowed(
      "orders o JOIN customers c ON c.id = o.customer", ["o.id"],
      ["c.region", "rank() OVER (PARTITION BY o.customer ORDER BY o.n) AS p"]),
    windowed(
      "orders o", ["o.id"], ["dense_rank() OVER (PARTITION BY o.status ORDER BY o.n) AS p"],
      "EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer AND c.rank > 1)"),
    windowed(topOrders, ["x.id"], ["customer", "total", "p"], "p <= 2"),
    windowed(topOrders, ["x.id"], ["customer"], "p = 1 AND x.total IN (SELECT rank FROM customers)"),
    windowed(sums, ["k"], ["t", "c"], "t > 3"),
    windowed(sums, ["k"], ["t"], "EXISTS (SELECT 1 FROM customers c WHERE c.rank < x.c)"),
    windowed("(SELECT id, status AS s, total * 2 AS d FROM orders WHERE n > 2) AS x", ["x.id"], ["s", "d"], "d > 3"),
    windowed(
      "(SELECT a AS b, b AS a, v FROM kept) AS x", ["x.b", "x.a"], ["v"],
      "a <> '1' AND NOT EXISTS (SELECT 1 FROM kept y WHERE y.a = x.a)"),
  ]

  private static func windowed(
    _ from: String, _ keys: [String], _ select: [String], _ filter: String? = nil
  ) -> OracleQuery {
    OracleQuery(table: from, keys: keys, select: select, filter: filter, orderBy: [], tellsKey: true)
  }

  private mutating func query() -> OracleQuery {
    if chance(20) {
      var query = pick(Self.inner)
      let named = query.select.map { $0.components(separatedBy: " AS ").last! }
      if chance(50) { query.orderBy = [pick(named) + pick(["", " DESC"])] }
      if chance(20) { query.limit = 3 }
      return query
    }
    if chance(25) {
      var query = pick(Self.nested)
      if chance(30), query.table.hasPrefix("customers c") {
        query.section = ("EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.n > 4)", false)
      }
      return query
    }
    let source = pick(Self.sources)
    let select = (0...number(0..<3)).map { "\(call(source)) AS x\($0)" }
    var groups: [String] = []
    for _ in 0..<number(0..<3) where groups.count < 2 {
      let group = pick(source.groups)
      if !groups.contains(group) { groups.append(group) }
    }
    let keys = groups.isEmpty ? ["1 AS key"] : groups.enumerated().map { "\($1) AS g\($0)" }
    var query = OracleQuery(
      table: source.from, keys: keys, select: select, filter: filter(source),
      orderBy: chance(60) ? ["x0\(chance(50) ? " DESC" : "")"] : [], limit: chance(20) ? 3 : nil, groupBy: groups,
      having: !groups.isEmpty && chance(30)
        ? pick([
          "count(*) > 2", "x0 IS NOT NULL", "max(1, count(*)) < 9",
          "count(*) > (SELECT 0.125 * count(*) FROM orders WHERE n > 2)",
        ]) : nil,
      tellsKey: !groups.isEmpty)
    if !groups.isEmpty, chance(25) { query.section = ("count(*) > 3", chance(50)) }
    if chance(40) {
      let other = pick(Self.sources.filter { $0.from != "kept" })
      let filter = chance(50) ? " WHERE \(pick(other.filters))" : ""
      query.alongside["a"] = "SELECT \(call(other)) FROM \(other.from)\(filter)"
    }
    let texts = [query.filter ?? "", query.having ?? ""] + Array(query.alongside.values)
    if texts.contains(where: { $0.contains(":least") }) { query.parameters["least"] = number(0..<8) }
    return query
  }

  private mutating func filter(_ source: Source) -> String? {
    let conditions = [source.join, chance(50) ? pick(source.filters) : nil].compactMap(\.self)
    return conditions.isEmpty ? nil : conditions.shuffled(using: &commits.random).joined(separator: " AND ")
  }
}
