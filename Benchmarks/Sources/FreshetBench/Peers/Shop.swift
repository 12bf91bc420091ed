import Foundation

/// Orders in five states, of 1,000 customers in twenty regions.
struct Shop {
  private let folder: Folder
  let path: String
  let rows: Int

  init(rows: Int) throws {
    self.rows = rows
    folder = try Folder()
    path = folder.path("shop.sqlite")
    RawDatabase(path).execute(
      """
      CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT NOT NULL);
      CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT NOT NULL, status TEXT NOT NULL, total REAL NOT NULL);
      WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r LIMIT 1000)
      INSERT INTO customers SELECT i, 'Customer ' || i, 'region ' || i % 20 FROM r;
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT \(rows))
      INSERT INTO orders SELECT i, i * 7919 % 1000, 'state ' || i % 5, i * 7907 % 99991 / 100.0 FROM r;
      CREATE INDEX orders_customer ON orders(customer);
      CREATE INDEX orders_total ON orders(total);
      """)
  }

  /// A list of a back office.
  struct Query {
    let name: String
    /// As it is asked.
    let json: String
    /// The statements that SQLite has to run to answer it anew.
    let statements: [String]
    /// Whether the client holds all rows.
    var isShort = true
    /// In milliseconds: from a one-row commit to its patch, and processor time.
    let goals: (latency: Double, processor: Double)
  }

  static let queries = [
    Query(
      name: "GROUP BY status",
      json: #"{"from":"orders","select":["status","count(*) AS n","sum(total) AS total"],"groupBy":["status"]}"#,
      statements: ["SELECT status, count(*), sum(total) FROM orders GROUP BY status"], goals: (1, 0.15)),
    Query(
      name: "GROUP BY region over a join",
      json: """
        {"from":"orders o JOIN customers c ON c.id = o.customer","select":["c.region","count(*) AS n","sum(o.total) AS total"],\
        "groupBy":["c.region"]}
        """,
      statements: [
        "SELECT c.region, count(*), sum(o.total) FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.region"
      ], goals: (1.5, 0.3)),
    Query(
      name: "customers by the number of their orders",
      json: """
        {"from":"customers c","select":["c.id","c.name","(SELECT count(*) FROM orders o WHERE o.customer = c.id) AS n"],\
        "orderBy":["n DESC"]}
        """,
      statements: ["SELECT c.id, (SELECT count(*) FROM orders o WHERE o.customer = c.id) AS n FROM customers c"],
      goals: (1.5, 0.3)),
    Query(
      name: "top ten, count and sum alongside",
      json: """
        {"from":"orders","select":["id","total"],"orderBy":["total DESC"],"limit":10,\
        "alongside":{"n":"SELECT count(*) FROM orders","total":"SELECT sum(total) FROM orders"}}
        """,
      statements: ["SELECT count(*) FROM orders", "SELECT sum(total) FROM orders"], isShort: false, goals: (1, 0.15)),
    Query(
      name: "sections by status with totals",
      json: """
        {"from":"orders","select":["id","total"],"orderBy":["id"],"sectionBy":"status",\
        "totals":{"n":"count(*)","total":"sum(total)"}}
        """,
      statements: ["SELECT status, count(*), sum(total) FROM orders GROUP BY status"], isShort: false, goals: (1, 0.2)),
  ]

  func remove() { folder.remove() }
}
