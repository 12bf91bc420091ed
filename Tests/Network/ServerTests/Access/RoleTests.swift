import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The rows of partly readable tables that a role's clients see, through every route.
@Suite struct RoleTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INT, status TEXT, total REAL, margin REAL);
    CREATE INDEX orders_customer ON orders(customer_id);
    INSERT INTO orders VALUES (1, 7, 'new', 10, 1), (2, 8, 'new', 20, 2), (3, 7, 'old', 30, 3);
    CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO product VALUES (1, 'Tea'), (2, 'Cup');
    CREATE TABLE secret(id INTEGER PRIMARY KEY, word TEXT);
    INSERT INTO secret VALUES (1, 'x');
    CREATE VIEW open_orders AS SELECT id, total FROM orders WHERE status = 'new';
    CREATE VIEW qualified AS SELECT main.orders.id AS id, total FROM main.orders;
    CREATE VIEW words AS SELECT id, word FROM secret;
    CREATE TABLE loose(a, owner REFERENCES secret(word));
    INSERT INTO loose VALUES ('mine', 7), ('theirs', 8);
    CREATE VIRTUAL TABLE note USING fts5(body, owner UNINDEXED);
    INSERT INTO note VALUES ('my tea', 7), ('your tea', 8);
    CREATE VIRTUAL TABLE search_index USING fts5(word, content=secret);
    """

  private static let yaml = """
    roles:
      anonymous:
        tables:
          Orders: { rows: "customer_id = 7", columns: [id, status, total] }
          product:
          open_orders: {}
          qualified: {}
          words: {}
          loose: { rows: "owner = 7 OR owner IN (SELECT word FROM secret)" }
          note: { rows: "owner = 7" }
          search_index: {}
        queries: [any, totals, everything, hidden]
    queries:
      totals: { query: { from: orders, select: ["sum(total) AS total"] } }
      everything: { unfiltered: true, query: { from: orders, select: ["sum(margin) AS margin"] } }
      hidden: { query: { from: secret, select: [word] } }
      other: { query: { from: product } }
    """

  private func serve(_ yaml: String = Self.yaml) throws -> LiveServer {
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    return try LiveServer(Self.schema) {
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.roles = file.roles
    }
  }

  private func get(_ live: LiveServer, _ path: String) throws -> String {
    let response = try live.http("GET", path)
    let json = try JSONParser.parse(response.body)
    guard response.status == 200 else {
      return "\(response.status) \(try json.required("code").text()): \(try json.required("detail").text())"
    }
    let text = String(decoding: response.body, as: UTF8.self)
    let rows = text.firstRange(of: "\"rows\":").map { text[$0.upperBound...] } ?? ""
    return String(rows[..<(rows.firstRange(of: ",\"complete\"")?.lowerBound ?? rows.endIndex)])
  }

  /// SQLite evaluates a client's conditions before a filter with a subquery, and columns of an index before other
  /// columns.
  @Test(arguments: [
    ("json(text)+IS+NOT+NULL", "[[1,1,\"{}\"]]"), ("text->'$'+IS+NOT+NULL", "[[1,1,\"{}\"]]"),
    ("CASE+WHEN+text+LIKE+'h%25'+THEN+json('x')+END+IS+NULL", "[[1,1,\"{}\"]]"),
    ("text+>+''+AND+json_extract(text,'$')+IS+NOT+NULL", "[[1,1,\"{}\"]]"), ("text+>+'z'", "[[1,1,\"{}\"]]"),
  ])
  func `What fails for a hidden row tells nothing of it`(filter: String, rows: String) throws {
    let schema = """
      CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INT);
      INSERT INTO orders VALUES (1, 7), (2, 8);
      CREATE TABLE item(id INTEGER PRIMARY KEY, order_id INT, text TEXT);
      CREATE INDEX item_text ON item(text);
      INSERT INTO item VALUES (1, 1, '{}'), (2, 2, 'hidden');
      """
    for rule in ["order_id = 1", "EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id AND customer_id = 7)"] {
      let file = try ConfigurationFile(
        yaml: "roles: {anonymous: {tables: {item: {rows: \"\(rule)\"}}, queries: any}}", name: "x")
      let live = try LiveServer(schema) { $0.access.roles = file.roles }
      #expect(try get(live, "/v1/snapshot?shape=arrays&from=item&where=\(filter)") == rows)
    }
  }

  /// The request, and its rows or the problem.
  // Rules of access: filters, columns, tables, views, tables-of-views
  @Test(arguments: [
    ("from=orders", "[[1,\"new\",10.0],[3,\"old\",30.0]]"),
    ("from=orders+o&select=o.*", "[[1,\"new\",10.0],[3,\"old\",30.0]]"),
    ("from=product&select=name,(SELECT+count(*)+FROM+orders)+AS+n", "[[1,\"Tea\",2],[2,\"Cup\",2]]"),
    ("from=product&where=EXISTS(SELECT+1+FROM+orders+WHERE+total=20)", "[]"),
    ("from=product&where=20+IN+(SELECT+total+FROM+'orders')", "[]"),
    ("from=product+LEFT+JOIN+orders+ON+orders.id=product.id&select=name,total", "[[1,\"Tea\",10.0],[2,\"Cup\",null]]"),
    ("from=(SELECT+*+FROM+orders)+AS+o&key=id", "[[1,\"new\",10.0],[3,\"old\",30.0]]"),
    (
      "from=(WITH+orders+AS+(SELECT+*+FROM+orders)+SELECT+*+FROM+orders)+AS+o&key=o.id", "400 bad_query: from: circular"
    ),
    ("from=(WITH+t+AS+(SELECT+*+FROM+orders)+SELECT+*+FROM+t)+AS+o&key=o.id&select=o.id", "[[1],[3]]"),
    ("from=open_orders&key=id", "[[1,10.0]]"),
    ("from=qualified&key=id", "[[1,10.0],[3,30.0]]"),
    ("from=words&key=id", "400 no_such_table: from: no such table: secret"),
    ("from=secret", "400 no_such_table: from: no such table: secret"),
    ("from=loose", "[[1,\"mine\",7]]"),
    (
      "from=note&where=note+MATCH+'tea'&select=body,highlight(note,0,'<','>')+AS+h",
      "[[1,\"my tea\",\"my <tea>\"]]"
    ),
    ("from=orders&select=margin", "400 no_such_column: select[0]: no such column: margin"),
    ("from=orders&select=orders.customer_id", "400 no_such_column: select[0]: no such column: orders.customer_id"),
    ("from=orders&sectionBy=margin", "400 no_such_column: sectionBy: no such column: margin"),
    ("from=orders&where=customer_id=8", "400 no_such_column: where: no such column: customer_id"),
    ("from=main.orders", "403 not_allowed: from: write names without main."),
    ("from=product&where=id+IN+(SELECT+id+FROM+main+.+orders)", "403 not_allowed: where: write names without main."),
    ("from=product&where=id+IN+(SELECT+id+FROM+[main].orders)", "403 not_allowed: where: write names without main."),
    ("from=product&where=id+IN+(SELECT+id+FROM+temp.orders)", "403 not_allowed: where: write names without temp."),
    (
      "from=orders&where=total=:claims_x&param.claims_x=1",
      "400 bad_query: params.claims_x: parameters of this name are claims of the token"
    ),
    ("from=product&where=id=:claims_x", "[]"),
    ("from=sqlite_master", "400 no_such_table: from: no such table: sqlite_master"),
  ])
  func `A role sees its rows and columns, wherever a table is named`(query: String, expected: String) throws {
    let live = try serve()
    let answer = try get(live, "/v1/snapshot?shape=arrays&\(query)")
    #expect(answer.hasPrefix(expected), "\(query): \(answer)")
    live.stop()
  }

  // Rules of access: published-filtered, published-queries
  @Test func `Published queries are filtered, unless the operator says otherwise`() throws {
    let live = try serve(Self.yaml.replacing("[any, totals,", with: "[totals,"))
    #expect(try get(live, "/v1/queries/totals?shape=arrays") == "[[1,40.0]]")
    #expect(try get(live, "/v1/queries/everything?shape=arrays") == "[[1,6.0]]")
    #expect(try get(live, "/v1/queries/hidden?shape=arrays") == "[[1,\"x\"]]")
    #expect(try get(live, "/v1/queries/other") == "403 not_allowed: the role anonymous may not ask the query other")
    let list = String(decoding: try live.http("GET", "/v1/queries").body, as: UTF8.self)
    #expect(list.contains("totals") && !list.contains("other"))
    live.stop()
  }

  // Rules of access: listing, listing-names, listing-searched, explained-tables, explained-plan
  @Test func `What a role may not read is nowhere named`() throws {
    let live = try serve()
    let schema = String(decoding: try live.http("GET", "/v1/schema").body, as: UTF8.self)
    #expect(schema.contains("\"orders\"") && schema.contains("\"status\"") && schema.contains("open_orders"))
    let query = "from=orders+JOIN+product+ON+product.id=orders.id&where=status='new'&select=status"
    let explanation = String(decoding: try live.http("GET", "/v1/explain?\(query)").body, as: UTF8.self)
    #expect(explanation.contains("\"incremental\"") && explanation.contains("product"), "\(explanation)")
    #expect(explanation.contains("\"plan\":[]") && explanation.contains("\"advice\":[]"))
    // The filter of this table reads another table.
    let filtered = String(decoding: try live.http("GET", "/v1/explain?from=loose").body, as: UTF8.self)
    #expect(filtered.contains("\"incremental\"") && !filtered.contains("secret"), "\(filtered)")
    for word in ["customer_id", "margin", "secret", "words", "orders_customer", "= 7"] {
      #expect(!schema.contains(word), "\(word): \(schema)")
      #expect(!explanation.contains(word), "\(word): \(explanation)")
    }
    live.stop()
  }

  @Test func `Who is not in the list is anonymous, and may do nothing that is not said`() throws {
    let live = try serve("roles: { clerk: { tables: { orders: }, queries: any } }")
    #expect(try get(live, "/v1/snapshot?from=orders").hasPrefix("403 not_allowed: the role anonymous"))
    #expect(try get(live, "/v1/schema").hasPrefix("403 not_allowed"))
    #expect(try get(live, "/v1/explain?from=orders").hasPrefix("403 not_allowed"))
    let written = try live.http("POST", "/v1/transactions", body: "{\"statements\":[{\"sql\":\"DELETE FROM orders\"}]}")
    #expect(written.status == 403)
    live.stop()
  }

  @Test func `Any query includes published ones, over what the role may read`() throws {
    let live = try serve(Self.yaml.replacing("[any, totals, everything, hidden]", with: "[any, totals]"))
    #expect(try get(live, "/v1/queries/other?shape=arrays").hasPrefix("[[1,\"Tea\"]"))
    #expect(try get(live, "/v1/queries/totals?shape=arrays") == "[[1,40.0]]")
    #expect(try get(live, "/v1/queries/hidden").hasPrefix("400 no_such_table"))
    #expect(try get(live, "/v1/queries/everything").hasPrefix("403 not_allowed: the role anonymous may not ask"))
    live.stop()
  }

  @Test func `A token whose role is not there is told so`() throws {
    let file = try ConfigurationFile(yaml: "roles: { clerk: { tables: { orders: }, queries: any } }", name: "x")
    let tokens = try JWTConfiguration.shared()
    let live = try LiveServer(Self.schema) {
      $0.access.roles = file.roles
      $0.authentication = tokens
    }
    let token = try TokenMaker.shared().token(#"{"sub":"s","role":"clrk"}"#)
    let answer = try live.http("GET", "/v1/snapshot?from=orders", headers: ["Authorization: Bearer \(token)"])
    #expect(answer.status == 403 && answer.text.contains("there is no role clrk, and the role anonymous may ask"))
    live.stop()
  }

  @Test func `A row that changes hands leaves one list and enters another`() throws {
    let live = try serve()
    let client = try live.connect()
    try client.subscribe("a", "{\"from\":\"orders\",\"select\":[\"status\"]}", window: nil)
    try client.catchUp(["a"])
    let before = client.changes
    try live.writer.run("UPDATE orders SET total = 21 WHERE id = 2; UPDATE orders SET margin = 9;")
    try client.catchUp(["a"])
    #expect(client.changes == before, "others' rows, and columns that do not exist, say nothing")
    try live.writer.run("UPDATE orders SET customer_id = 7 WHERE id = 2;")
    try client.catchUp(["a"])
    #expect(client.models["a"]?.visibleRows.count == 3)
    try live.writer.run("UPDATE orders SET customer_id = 8 WHERE id IN (1, 2);")
    try client.catchUp(["a"])
    #expect(client.models["a"]?.visibleRows.count == 1)
    live.stop()
  }

  /// For a bare count, SQLite reads none of the columns that the role may read.
  // Rules of access: tables-only-counted
  @Test(arguments: [
    "(SELECT count(*) FROM product) > 2", "EXISTS (SELECT 1 FROM product p WHERE (SELECT count(*) FROM product) > 2)",
    "(SELECT count(*) FROM orders o LEFT JOIN product) > 8",
  ])
  func `A list follows tables that it only counts`(condition: String) throws {
    let live = try serve("roles: { anonymous: { tables: { orders: , product: { columns: [name] } }, queries: any } }")
    let client = try live.connect()
    try client.subscribe("a", "{\"from\":\"orders\",\"where\":\"\(condition)\"}", window: nil)
    try client.catchUp(["a"])
    #expect(client.models["a"]?.visibleRows.count == 0)
    try live.writer.run("INSERT INTO product VALUES (3, 'Pot');")
    try client.catchUp(["a"])
    #expect(client.models["a"]?.visibleRows.count == 3)
    live.stop()
  }

  // Rules of access: key-withheld
  @Test func `A key that a role may not read identifies nothing`() throws {
    let live = try serve("roles: { anonymous: { tables: { product: { columns: [name] } }, queries: any } }")
    let refused = try live.http("GET", "/v1/snapshot?from=product")
    #expect(refused.status == 400 && !refused.text.contains("\"id\""), "\(refused.text)")
    let named = try get(live, "/v1/snapshot?from=product&key=name")
    #expect(named == #"[{"name":"Cup"},{"name":"Tea"}]"#)
    live.stop()
  }
}
