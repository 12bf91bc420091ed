import Foundation
import ServerSupport
import Store
import TestSupport
import Testing

/// `freshet check`: the errors of a configuration, and the permissions that it gives.
@Suite struct CheckTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id TEXT, total REAL);
    CREATE TABLE secret(id INTEGER PRIMARY KEY);
    CREATE VIEW hidden AS SELECT id FROM secret;
    """

  private func check(_ yaml: String, hasTokens: Bool = true) throws -> (status: Int32, output: String, errors: String) {
    let folder = try ProgramFolder(Self.schema)
    let path = folder.path + "/freshet.yaml"
    try String(repeating: "s", count: 32).write(toFile: folder.path + "/secret", atomically: true, encoding: .utf8)
    let auth = hasTokens ? "\nauth: { jwt: { algorithm: HS256, secretFile: secret } }" : ""
    try (yaml + auth).write(toFile: path, atomically: true, encoding: .utf8)
    let result = try Program.run("check", path, "--database", folder.database)
    return (result.status, result.output, result.errors.replacingOccurrences(of: path, with: "x"))
  }

  @Test func `What each role may do is said in words`() throws {
    let result = try check(
      """
      roles:
        customer:
          tables: { orders: { rows: "customer_id = :claims_sub", columns: [total, ID] } }
          queries: [sums, any]
          statements: pay
        clerk: { tables: { secret: }, write: any }
      queries: { sums: { query: { from: orders, select: ["sum(total) AS total"] } } }
      statements: { pay: { sql: "UPDATE orders SET total = 0 WHERE id = :id", parameters: { id: {} } } }
      """)
    #expect(
      result.output == """
        clerk: who has a token of this role
          may read secret: all columns, all rows
          may ask nothing
          may write any statements of their own, over all tables
        customer: who has a token of this role
          may read orders: the columns id, total, where customer_id = :claims_sub
          may ask sums, any queries of their own over these tables
          may write pay
        anonymous: who has no token, or one of another role, may do nothing.

        """)
    #expect(result.status == 0)
    // The version of SQLite is named where that matters.
    #expect(result.errors.trimmingCharacters(in: .whitespacesAndNewlines) == WALResetBug.notice ?? "")
  }

  /// A configuration, and its errors.
  @Test(arguments: [
    ("roles: {a: {tables: {nosuch: }}}", "the role a: there is no table nosuch"),
    ("roles: {a: {tables: {orders: {columns: [nosuch]}}}}", "the role a: orders has no column nosuch"),
    (
      "roles: {a: {tables: {orders: {rows: 'nosuch = 1'}}}}",
      "the role a: the rows of orders: no such column: nosuch"
    ),
    (
      "roles: {a: {tables: {orders: {rows: 'total > :limit'}}}}",
      "the role a: the rows of orders: the parameter :limit is no claim: those are named :claims_…"
    ),
    (
      "roles: {a: {tables: {orders: {rows: \"created > datetime('now')\"}}}}",
      "the role a: the rows of orders: the result depends on the time ('now')"
    ),
    ("roles: {a: {tables: {hidden: }}}", "the role a: hidden: from: no such table: secret"),
    (
      "roles: {a: {tables: {orders: {columns: [id]}}, queries: q}}\nqueries: {q: {query: {from: orders, select: [total]}}}",
      "the role a, the query q: select[0]: no such column: total"
    ),
    ("queries: {q: {query: {from: nosuch}}}", "the query q: from: no such table: nosuch"),
    ("statements: {s: {sql: 'DELETE FROM nosuch'}}", "the statement s: no such table: nosuch"),
    ("statements: {s: {sql: 'DROP TABLE orders'}}", "the statement s: not authorized"),
    ("rolls: {}", "line 1: rolls is not a setting: did you mean roles?"),
    (
      "port: 8080\nallowedOrigins:\n  - https://a.example\n  - b.example",
      "line 4: allowedOrigins.1 is b.example, which is no origin as browsers send it: say https://b.example"
    ),
    (
      "roles:\n  a:\n    tables:\n      secret:\n      ordrs:\n",
      "x, line 5: the role a: there is no table ordrs: did you mean orders?"
    ),
    (
      "roles:\n  a:\n    tables:\n      orders:\n        columns:\n          - id\n          - totl",
      "x, line 7: the role a: orders has no column totl: did you mean total?"
    ),
    (
      "queries:\n  one: { query: { from: orders } }\nroles:\n  a:\n    queries: [ome]",
      "x, line 5: the role a names the query ome, which is not published: did you mean one?"
    ),
    (
      "roles:\n  a:\n    tables:\n      orders:\n        rows: nosuch = 1",
      "x, line 5: the role a: the rows of orders: no such column: nosuch"
    ),
    (
      "queries:\n  q:\n    query:\n      from: orders\n      oderBy: [id]",
      "x, line 5: queries.q.query.oderBy is no part of a query: did you mean orderBy?"
    ),
    ("\nstatements:\n  s:\n    sql: DELETE FROM nosuch", "x, line 4: the statement s: no such table: nosuch"),
    ("roles: { a: { tabels: { orders: } } }", "did you mean tables?"),
  ])
  func `What is wrong is said, with status 1`(yaml: String, problem: String) throws {
    let result = try check(yaml)
    #expect(result.status == 1 && result.errors.contains(problem), "\(result.errors)")
  }

  @Test(arguments: [
    ("roles: { clerk: { tables: { orders: } } }", "x, line 1: no client can have the role clerk: there is no auth"),
    ("trustedProxies: [10.0.0.0/99]", "10.0.0.0/99"), ("tls: { certificate: none.pem, key: none.pem }", "none.pem"),
    ("accessLog: none/access.log", "none/access.log"), ("auditLog: none/audit.log", "none/audit.log"),
    (
      "statements:\n  s: { sql: 'UPDATE orders SET total = :total', parameters: { totl: {} } }",
      "x, line 2: the statement s: the parameter :total is not declared under parameters"
    ),
  ]) func `What keeps a server from starting, or never works, is a mistake`(yaml: String, problem: String) throws {
    let result = try check(yaml, hasTokens: false)
    #expect(result.status == 1 && result.errors.contains(problem), "\(result.errors)")
  }

  @Test func `What a published query shows beyond the role is said`() throws {
    let result = try check(
      """
      roles:
        clerk: { tables: { orders: { rows: "customer_id = :claims_sub" } }, queries: [all, mine, inside] }
      queries:
        all: { unfiltered: true, query: { from: orders } }
        mine: { query: { from: orders } }
        inside: { query: { from: secret } }
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("(the query all reads all rows of orders, also those that"))
    #expect(result.output.contains("(the query inside reads secret, which this role may not read otherwise)"))
    #expect(!result.output.contains("query mine"))
  }

  @Test func `The example of a shop is right`() throws {
    let example = Fixtures.repository.appending(path: "examples/shop").path
    let folder = try ProgramFolder(try String(contentsOfFile: example + "/shop.sql", encoding: .utf8))
    let secret = folder.path + "/secret.txt"
    try String(repeating: "s", count: 32).write(toFile: secret, atomically: true, encoding: .utf8)
    try FileManager.default.copyItem(atPath: example + "/freshet.yaml", toPath: folder.path + "/freshet.yaml")
    let result = try Program.run("check", folder.path + "/freshet.yaml", "--database", folder.database)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func `Of a folder, what is wrong is said for each database, and what roles may do once for each rule`() throws {
    let folder = try TemporaryFolder()
    for (name, table) in [("a", "orders"), ("b", "orders"), ("shared", "product")] {
      try SQLiteShell(path: folder.path("\(name).db")).run("CREATE TABLE \(table)(id INTEGER PRIMARY KEY)")
    }
    let yaml = """
      roles: { anonymous: { tables: { orders: }, queries: any } }
      databases:
        shared: { roles: { anonymous: { tables: { produkt: }, queries: any } } }
      """
    let path = folder.path("freshet.yaml")
    try yaml.write(toFile: path, atomically: true, encoding: .utf8)
    let result = try Program.run("check", path, "--database", folder.path(""))
    #expect(result.status == 1)
    #expect(
      result.errors.contains("line 3: shared: the role anonymous: there is no table produkt: did you mean product?"))
    #expect(result.output.contains("a:\n") && result.output.contains("shared:\n") && !result.output.contains("b:\n"))
  }
}
