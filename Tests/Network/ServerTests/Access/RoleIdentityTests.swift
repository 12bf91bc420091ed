import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Clients with tokens of several roles, on one server.
@Suite struct RoleIdentityTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id TEXT, status TEXT);
    CREATE INDEX orders_customer ON orders(customer_id);
    INSERT INTO orders VALUES (1, 'ann', 'new'), (2, 'bob', 'new'), (3, 'ann', 'old');
    CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO product VALUES (1, 'Tea'), (2, 'Cup'), (3, 'Pot');
    """
  private static let yaml = """
    roles:
      customer:
        tables: { orders: { rows: "customer_id = :claims_sub" }, product: }
        queries: [any, mine]
        statements: [cancel]
        limits: { connections: 2, subscriptions: 3, queries: 50, requests: 3, rows: 2 }
      member:
        tables: { orders: { rows: "customer_id IN (SELECT value FROM json_each(:claims_customers))" } }
        queries: any
    queries:
      mine: { query: { from: orders, select: [status], where: "customer_id = :claims_sub" }, open: true }
      cups: { query: { from: product, where: "name = :name" }, parameters: { name: { default: Cup } }, open: true }
    statements:
      cancel:
        sql: "UPDATE orders SET status = 'cancelled' WHERE id = :id AND customer_id = :claims_sub"
        parameters: { id: { type: integer } }
        expect: { changes: 1 }
    """

  private func serve() throws -> LiveServer {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    let tokens = try JWTConfiguration.shared()
    return try LiveServer(Self.schema) {
      $0.authentication = tokens
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.statements = PublishedStatements(file.statements)
      $0.access.roles = file.roles
    }
  }

  private func token(_ claims: String) async throws -> String {
    try TokenMaker.shared().token("{\(claims)}")
  }

  private func customer(_ name: String) async throws -> String {
    try await token("\"sub\":\"\(name)\",\"role\":\"customer\"")
  }

  private func authenticate(_ client: LiveClient, _ token: String) throws -> JSONValue {
    try client.send("{\"type\":\"authenticate\",\"id\":\"t\",\"token\":\"\(token)\"}")
    while true {
      let message = try client.receive()
      if message["id"] == .string("t") { return message }
    }
  }

  @Test func `Each sees their own, and a row that changes hands goes from one list to the other`() async throws {
    let live = try serve()
    let (ann, bob) = (try live.connect(), try live.connect())
    #expect(try authenticate(ann, try await customer("ann"))["role"] == .string("customer"))
    _ = try authenticate(bob, try await customer("bob"))
    for client in [ann, bob] {
      try client.subscribe("o", "{\"from\":\"orders\"}", window: nil)
      try client.subscribe("p", "{\"from\":\"product\",\"where\":\"id < 3\"}", window: nil)
    }
    try ann.catchUp(["o", "p"])
    #expect(ann.models["o"]?.visibleRows.count == 2 && bob.models["o"]?.visibleRows.count == 1)
    let before = (ann.changes, bob.changes)
    try live.writer.run("UPDATE orders SET status = 'sent' WHERE id = 2")
    try bob.catchUp(["o"])
    try ann.catchUp(["o"])
    #expect(ann.changes == before.0, "nobody hears of another's rows")
    #expect(bob.changes["o"] == (before.1["o"] ?? 0) + 1)
    try live.writer.run("UPDATE orders SET customer_id = 'bob' WHERE id = 1")
    try ann.catchUp(["o"])
    try bob.catchUp(["o"])
    #expect(ann.models["o"]?.visibleRows.count == 1 && bob.models["o"]?.visibleRows.count == 2)
    live.stop()
  }

  @Test func `Claims can be lists, and who lacks one sees nothing`() async throws {
    let live = try serve()
    for (claims, count) in [
      ("\"customers\":[\"ann\",\"bob\"]", 3), ("\"customers\":[\"bob\"]", 1), ("\"customers\":[]", 0), ("\"x\":1", 0),
    ] {
      let bearer = try await token("\"role\":\"member\",\(claims)")
      let response = try live.http("GET", "/v1/snapshot?from=orders", headers: ["Authorization: Bearer \(bearer)"])
      #expect(response.text.contains("\"total\":\(count),"), "\(claims): \(response.text)")
    }
    live.stop()
  }

  @Test func `Statements know who runs them`() async throws {
    let live = try serve()
    let header = ["Authorization: Bearer \(try await customer("ann"))"]
    let cancel = { (id: Int) in
      try live.http(
        "POST", "/v1/transactions", headers: header, body: "{\"name\":\"cancel\",\"params\":{\"id\":\(id)}}"
      ).status
    }
    #expect(try cancel(1) == 200 && cancel(2) == 409)
    live.stop()
  }

  @Test func `Lists of products are one list for all customers, and those of orders are not`() async throws {
    let live = try serve()
    let clients = try ["ann", "bob", "eve"].map { (name: $0, client: try live.connect()) }
    for (name, client) in clients {
      _ = try authenticate(client, try await customer(name))
      try client.subscribe("p", "{\"from\":\"product\",\"where\":\"id < 3\"}", window: nil)
      try client.subscribe("o", "{\"from\":\"orders\"}", window: nil)
    }
    let metrics = try live.http("GET", "/metrics").text
    // One list of products and three of orders. No role may ask the kept query of cups, and the other kept query reads
    // claims.
    #expect(metrics.contains("freshet_controllers 4\n"), "\(metrics)")
    withExtendedLifetime(clients) {}
    live.stop()
  }

  @Test func `A role's limits hold for each identity by itself`() async throws {
    let live = try serve()
    let ann = try await customer("ann")
    let (first, second, third) = (try live.connect(), try live.connect(), try live.connect())
    #expect(try authenticate(first, ann)["type"] == .string("authenticated"))
    #expect(try authenticate(second, ann)["type"] == .string("authenticated"))
    #expect(try authenticate(third, ann)["code"] == .string("limit_exceeded"))
    #expect(try authenticate(third, try await customer("bob"))["type"] == .string("authenticated"))
    for (client, id) in [(first, "a"), (first, "b"), (second, "c")] {
      try client.subscribe(id, "{\"from\":\"orders\"}", window: nil)
    }
    try second.send("{\"type\":\"subscribe\",\"id\":\"d\",\"query\":{\"from\":\"orders\"}}")
    #expect(try second.receive("error")["code"] == .string("limit_exceeded"))
    try third.subscribe("a", "{\"from\":\"orders\"}", window: nil)
    // After an unsubscription, another subscription is possible.
    try first.send("{\"type\":\"unsubscribe\",\"id\":\"a\"}")
    _ = try first.receive("unsubscribed")
    try second.subscribe("d", "{\"from\":\"orders\"}", window: nil)
    // Limits of a result's rows, and of requests a second.
    let header = ["Authorization: Bearer \(ann)"]
    #expect(try live.http("GET", "/v1/snapshot?from=product", headers: header).status == 413)
    var statuses: [Int] = []
    for _ in 0..<16 {
      let response = try live.http("GET", "/v1/queries", headers: header)
      statuses.append(response.status)
      if response.status == 429 { #expect(response.headers["retry-after"] == "1") }
    }
    #expect(statuses.contains(429))
    live.stop()
  }

  @Test func `Open queries are there before anybody asks`() throws {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    let live = try LiveServer(Self.schema) {
      $0.access.queries = PublishedQueries(file.queries)
      $0.lists.linger = .zero
    }
    // Without roles and tokens no claims are read, so the query may be kept for all clients.
    let snapshots = try live.http("GET", "/v1/queries/cups").text
    #expect(snapshots.contains("\"total\":1,"))
    #expect(try live.http("GET", "/metrics").text.contains("freshet_controllers 1\n"))
    live.stop()
  }
}
