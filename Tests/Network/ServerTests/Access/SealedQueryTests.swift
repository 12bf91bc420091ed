import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Tokens that determine which queries their bearer may follow, and nothing else, whatever the roles are.
@Suite struct SealedQueryTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, total INT);
    INSERT INTO orders VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 30);
    """
  private static let yaml = """
    roles: { clerk: { tables: { orders: { rows: "total < 25" } }, queries: [any, large], write: any } }
    queries: { large: { query: { from: orders, where: "total >= :least" }, parameters: { least: { type: integer } } } }
    """

  private func serve() throws -> LiveServer {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    let tokens = try JWTConfiguration.shared()
    return try LiveServer(Self.schema) {
      $0.authentication = tokens
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.roles = file.roles
    }
  }

  private func token(_ claim: String, role: String? = nil) throws -> String {
    try TokenMaker.shared().token("{\"freshet\":\(claim)\(role.map { ",\"role\":\"\($0)\"" } ?? "")}")
  }

  private static let ofAnn = #"{"from":"orders","where":"customer = :who","params":{"who":"ann"},"orderBy":["id"]}"#

  private func rows(_ answer: RawResponse) throws -> [Int64] {
    guard answer.status == 200, case .array(let rows)? = try JSONParser.parse(answer.body)["rows"] else { return [] }
    return rows.compactMap { if case .integer(let id)? = $0["id"] { id } else { nil } }
  }

  @Test(arguments: [nil, "clerk", "stranger"])
  func `One query is followed without saying any`(role: String?) throws {
    let live = try serve()
    let token = try token("{\"query\":\(Self.ofAnn)}", role: role)
    let headers = ["Authorization: Bearer \(token)"]
    #expect(try rows(try live.http("GET", "/v1/snapshot", headers: headers)) == [1, 3], "no role narrows it")
    #expect(try rows(try live.http("GET", "/v1/snapshot?access_token=\(token)&limit=1")) == [1])
    let client = try live.connect(headers: headers)
    try client.send(#"{"type":"subscribe","id":"l"}"#)
    while client.models["l"]?.isComplete != true { try client.receive() }
    try live.writer.run("INSERT INTO orders VALUES (4, 'ann', 40), (5, 'bob', 50)")
    try client.catchUp(["l"])
    #expect(client.models["l"]?.visibleRows.count == 3)
  }

  @Test func `Several have names, also published ones, with the parameters that the token says`() throws {
    let live = try serve()
    let token = try token(
      "{\"queries\":{\"mine\":\(Self.ofAnn),\"large\":{\"name\":\"large\",\"params\":{\"least\":20}}}}")
    let headers = ["Authorization: Bearer \(token)"]
    #expect(try rows(try live.http("GET", "/v1/queries/mine", headers: headers)) == [1, 3])
    #expect(try rows(try live.http("GET", "/v1/snapshot?name=large", headers: headers)) == [2, 3])
    let client = try live.connect(headers: headers)
    try client.subscribe("l", #"{"name":"large"}"#)
    #expect(client.models["l"]?.visibleRows.count == 2)
    for refused in [
      #"{"name":"large","params":{"least":0}}"#, #"{"name":"other"}"#, #"{"from":"orders"}"#, Self.ofAnn,
    ] {
      try client.subscribe("m", refused)
      #expect(client.ended["m"] == "not_allowed", "\(refused)")
    }
  }

  @Test func `Nothing else is the bearer's`() throws {
    let live = try serve()
    let headers = ["Authorization: Bearer \(try token("{\"query\":\(Self.ofAnn)}", role: "clerk"))"]
    for target in [
      "/v1/snapshot?from=orders", "/v1/explain?from=orders", "/v1/schema", "/v1/server",
      "/v1/snapshot?name=large&param.least=1",
      "/v1/queries/large?param.least=1", "/v1/snapshot?param.who=bob", "/v1/explain",
    ] {
      #expect(try live.http("GET", target, headers: headers).status == 403, "\(target)")
    }
    let body = #"{"statements":[{"sql":"DELETE FROM orders"}]}"#
    #expect(try live.http("POST", "/v1/transactions", headers: headers, body: body).status == 403)
    let client = try live.connect(headers: headers)
    try client.send(#"{"type":"changes","id":"c"}"#)
    #expect(try client.receive("error")["code"] == .string("not_allowed"))
    #expect(try live.http("GET", "/v1/queries", headers: headers).text.contains(#""queries":[]"#))
  }

  @Test(arguments: [
    "1", "{}", #"{"query":1}"#, #"{"query":{"from":"orders"},"queries":{}}"#, #"{"queries":{"":{"from":"orders"}}}"#,
    #"{"other":1}"#, #"{"queries":{"a":{"nosuch":1}}}"#, "null",
  ])
  func `A claim of another form makes the token a bad one`(claim: String) throws {
    let live = try serve()
    let headers = ["Authorization: Bearer \(try token(claim, role: "clerk"))"]
    #expect(try live.http("GET", "/v1/snapshot?from=orders", headers: headers).status == 401)
  }

  @Test func `Without such a token no query is none`() throws {
    let live = try LiveServer(Self.schema)
    #expect(try live.http("GET", "/v1/snapshot").status == 400)
    let client = try live.connect()
    try client.send(#"{"type":"subscribe","id":"l"}"#)
    #expect(try client.receive("error")["code"] == .string("bad_message"))
  }
}
