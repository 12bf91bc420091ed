import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Statements that the operator has published, and what transactions answer.
@Suite struct StatementTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INT, status TEXT NOT NULL, total REAL);
    INSERT INTO orders VALUES (1, 7, 'new', 10), (2, 8, 'new', 20);
    CREATE TABLE event(id INTEGER PRIMARY KEY, what TEXT);
    """

  private static let yaml = """
    statements:
      cancel:
        description: Cancels an order
        sql: "UPDATE orders SET status = 'cancelled' WHERE id = :id AND customer_id IS :claims_sub RETURNING id, status"
        parameters: { id: { type: integer } }
        expect: { changes: 1 }
      place:
        sql:
          - "INSERT INTO event(what) VALUES ('placed ' || :status)"
          - "INSERT INTO orders(customer_id, status, total) VALUES (7, :status, :total) RETURNING *"
        parameters: { status: { type: text, default: new }, total: { type: real } }
      total: { sql: "SELECT sum(total) AS total FROM orders" }
      everything: { sql: "SELECT hex(zeroblob(1000000)) AS a FROM orders, orders, orders" }
      refused: { sql: "DROP TABLE orders" }
    """

  private func serve(_ more: String = "", _ configure: (inout ServerConfiguration) -> Void = { _ in }) throws
    -> LiveServer
  {
    let file = try ConfigurationFile(yaml: Self.yaml + "\n" + more, name: "x")
    return try LiveServer(Self.schema) {
      $0.access.statements = PublishedStatements(file.statements)
      $0.access.roles = file.roles
      configure(&$0)
    }
  }

  private func post(_ live: LiveServer, _ body: String) throws -> String {
    let response = try live.http("POST", "/v1/transactions", body: body)
    let text = String(decoding: response.body, as: UTF8.self)
    if response.status == 200 { return text.replacing(/"commit":\d+,/, with: "") }
    let json = try JSONParser.parse(response.body)
    return "\(response.status) \(try json.required("code").text()): \(try json.required("detail").text())"
  }

  @Test func `Statements are run by name, with what they return`() throws {
    let live = try serve()
    #expect(
      try post(live, #"{"name":"place","params":{"total":5.5}}"#)
        == #"{"changes":2,"results":[{"changes":1,"lastInsertRowid":1},{"changes":1,"lastInsertRowid":3,"#
        + #""columns":["id","customer_id","status","total"],"rows":[[3,7,"new",5.5]]}]}"#)
    #expect(
      try post(live, #"{"name":"total"}"#)
        == #"{"changes":0,"results":[{"changes":0,"lastInsertRowid":null,"columns":["total"],"rows":[[35.5]]}]}"#)
    live.stop()
  }

  /// A body, and its error.
  @Test(arguments: [
    (#"{"name":"place"}"#, "400 bad_query: the parameter total is missing"),
    (#"{"name":"place","params":{"total":"x"}}"#, "400 bad_query: the parameter total must be a number"),
    (#"{"name":"place","params":{"total":1,"x":1}}"#, #"400 bad_query: the statement place has no parameter "x""#),
    (#"{"name":"place","params":[1]}"#, "400 bad_query: the parameters of what is published have names"),
    (#"{"name":"nosuch"}"#, #"400 bad_query: there is no published statement "nosuch""#),
    (#"{"name":"total","statements":[]}"#, "400 bad_message: a transaction has statements or a name, not both"),
    (#"{"name":"cancel","params":{"id":9}}"#, "409 constraint: statements[0] changed 0 rows, and not 1"),
    (#"{"name":"cancel","params":{"id":1,"claims_sub":7}}"#, #"400 bad_query: the statement cancel has no parameter"#),
    (#"{"name":"everything"}"#, "413 too_large: statements[0] gives more than 4 MiB of rows"),
    (#"{"name":"refused"}"#, "403 not_allowed: statements[0]: not authorized"),
    (#"{"statements":[{"sql":"DELETE FROM orders"}]}"#, "403 not_allowed: writing is not allowed on this server"),
    (#"{}"#, "400 bad_message: statements must be a list"), (#"[]"#, "400 bad_message"),
  ])
  func `What is wrong is said, and nothing is written`(body: String, expected: String) throws {
    let live = try serve()
    let answer = try post(live, body)
    #expect(answer.hasPrefix(expected), "\(answer)")
    let orders = try live.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM orders WHERE status = 'new'") }
    #expect(orders == 2)
    live.stop()
  }

  @Test func `Statements are listed, without their SQL`() throws {
    let live = try serve("roles: { anonymous: { statements: [cancel] } }")
    let list = String(decoding: try live.http("GET", "/v1/statements").body, as: UTF8.self)
    #expect(
      list == #"{"statements":[{"name":"cancel","description":"Cancels an order","parameters":[{"name":"id","#
        + #""type":"integer","required":true}]}]}"#)
    #expect(
      try post(live, #"{"name":"total"}"#) == "403 not_allowed: the role anonymous may not run the statement total")
    live.stop()
  }

  @Test func `A client's own transaction answers the rows of each statement`() throws {
    let live = try serve { $0.access.allowsWrites = true }
    #expect(
      try post(
        live,
        #"{"statements":[{"sql":"INSERT INTO event(what) VALUES (?), (?) RETURNING what","params":["a","b"]},"#
          + #"{"sql":"SELECT count(*) AS n FROM event WHERE what > :least","params":{"least":"a"}}]}"#)
        == #"{"changes":2,"results":[{"changes":2,"lastInsertRowid":2,"columns":["what"],"rows":[["a"],["b"]]},"#
        + #"{"changes":0,"lastInsertRowid":null,"columns":["n"],"rows":[[1]]}]}"#)
    #expect(
      try post(live, #"{"statements":[{"sql":"SELECT :claims_sub AS s","params":{"claims_sub":7}}]}"#)
        == "400 bad_query: statements[0]: params.claims_sub: parameters of this name are claims of the token")
    #expect(
      try post(live, #"{"statements":[{"sql":"SELECT :claims_sub AS s"}]}"#).contains(#""rows":[[null]]"#))
    live.stop()
  }
}
