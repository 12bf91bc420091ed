import GRDB
import Server
import TestSupport
import Testing
import Wire

/// The HTTP routes against a real server: protocol 4.
@Suite struct HTTPTests {
  static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT, assets REAL);
    INSERT INTO bank VALUES (1, 'Ash', 'GA', 1.5), (2, 'Box', 'FL', 2.0), (3, 'Cob', 'GA', NULL), (4, 'Dab', NULL, 9);
    """

  private func json(_ response: RawResponse) throws -> JSONValue { try JSONParser.parse(response.body) }

  @Test func aSnapshotHasObjectsByDefault() throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/snapshot?from=bank&sectionBy=state&orderBy=name%20DESC&select=name&limit=2")
    #expect(response.status == 200 && response.headers["content-type"] == "application/json")
    let snapshot = try json(response)
    #expect(snapshot["total"] == .integer(4))
    let names = try snapshot.list("sections").map { $0["name"]! }
    #expect(names == [.null, .string("FL"), .string("GA")])
    let expected = "[{\"id\":4,\"name\":\"Dab\"},{\"id\":2,\"name\":\"Box\"}]"
    #expect(try snapshot.required("rows") == JSONParser.parse(expected))
    #expect(snapshot["window"] == (try JSONParser.parse("{\"offset\":0,\"limit\":2}")))
  }

  @Test(arguments: [
    ("from=bank&select=id&shape=arrays&offset=2", "[[3],[4]]"),
    ("from=bank&select=id&shape=arrays&top=2", "[[1],[2]]"),
    ("from=bank&select=id&shape=arrays&where=state+%3D+:s&param.s=GA", "[[1],[3]]"),
    ("from=bank&select=id&shape=arrays&where=assets+%3E+:min&param.min=1.7", "[[2],[4]]"),
    ("from=bank&select=id,coalesce(state,'x,y')%20AS%20s&shape=arrays&limit=1", "[[1,\"GA\"]]"),
    ("from=bank&select=substr(name,2,1)%20AS%20n,id&shape=arrays&limit=1", "[[1,\"s\"]]"),
    ("query=%7B%22from%22%3A%22bank%22%2C%22select%22%3A%5B%22id%22%5D%2C%22limit%22%3A1%7D&shape=arrays", "[[1]]"),
  ])
  func parametersOfTheURL(query: String, rows: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/snapshot?\(query)")
    #expect(response.status == 200, "\(response.text)")
    #expect(try json(response)["rows"] == JSONParser.parse(rows))
  }

  @Test func aPostAsksTheSame() throws {
    let live = try LiveServer(Self.schema)
    let body = """
      {"query":{"from":"bank","select":["id"],"where":"assets IS ?","params":[null]},"window":{"limit":5},"shape":"arrays"}
      """
    let response = try live.http("POST", "/v1/snapshot", body: body)
    #expect(try json(response)["rows"] == JSONParser.parse("[[3]]"))
  }

  @Test func theETagSaysWhetherAnythingChanged() throws {
    let live = try LiveServer(Self.schema)
    let first = try live.http("GET", "/v1/snapshot?from=bank")
    let tag = try #require(first.headers["etag"])
    let same = try live.http("GET", "/v1/snapshot?from=bank", headers: ["If-None-Match: \"other\", \(tag)"])
    #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag)
    try live.writer.run("UPDATE bank SET name = 'Ash' WHERE id = 1;")
    let untouched = try live.http("GET", "/v1/snapshot?from=bank", headers: ["If-None-Match: \(tag)"])
    #expect(untouched.status == 304, "nothing was changed")
    try live.writer.run("UPDATE bank SET name = 'Asp' WHERE id = 1;")
    let changed = try live.http("GET", "/v1/snapshot?from=bank", headers: ["If-None-Match: \(tag)"])
    #expect(changed.status == 200 && changed.text.contains("Asp") && changed.headers["etag"] != tag)
  }

  @Test func headHasHeadersAlone() throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("HEAD", "/v1/snapshot?from=bank")
    #expect(response.status == 200 && response.headers["etag"] != nil && response.body.isEmpty)
  }

  static let problems: [(String, String, Int, String)] = [
    ("GET", "/v1/snapshot", 400, "bad_message"), ("GET", "/v1/snapshot?from=missing", 400, "no_such_table"),
    ("GET", "/v1/snapshot?from=bank&where=x", 400, "no_such_column"),
    ("GET", "/v1/snapshot?from=bank&where=1)+OR+(1", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=bank&frm=bank", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=bank&limit=-1", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=bank&shape=rows", 400, "bad_message"),
    ("GET", "/v1/snapshot?query=%7B", 400, "bad_message"),
    ("GET", "/v1/snapshot?from=bank&where=random()", 403, "not_allowed"),
    ("GET", "/v1/snapshot?from=sqlite_master", 403, "not_allowed"),
    ("GET", "/v1/nothing", 404, "not_found"), ("GET", "/v1/transactions", 405, "method_not_allowed"),
    ("DELETE", "/v1/snapshot", 405, "method_not_allowed"), ("POST", "/healthz", 405, "method_not_allowed"),
  ]

  @Test(arguments: problems)
  func errorsAreProblems(method: String, target: String, status: Int, code: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http(method, target, body: method == "POST" ? "" : nil)
    #expect(response.status == status, "\(response.text)")
    #expect(response.headers["content-type"] == "application/problem+json")
    let problem = try json(response)
    #expect(problem["status"] == .integer(Int64(status)) && problem["code"] == .string(code))
    #expect(try !problem.required("detail").text().isEmpty)
    if status == 405 { #expect(response.headers["allow"] != nil) }
  }

  @Test func aBodyOverTheLimitIsTooLarge() throws {
    let live = try LiveServer(Self.schema)
    let body = "{\"query\":{\"from\":\"\(String(repeating: "x", count: 1 << 20))\"}}"
    #expect(try live.http("POST", "/v1/snapshot", body: body).status == 413)
  }

  @Test func healthAndReadiness() throws {
    let live = try LiveServer(Self.schema)
    #expect(try live.http("GET", "/healthz").status == 200)
    #expect(try live.http("GET", "/readyz").status == 200)
  }

  @Test func writingNeedsToBeAllowed() throws {
    let live = try LiveServer(Self.schema)
    let body = "{\"statements\":[{\"sql\":\"DELETE FROM bank\"}]}"
    let response = try live.http("POST", "/v1/transactions", body: body)
    #expect(response.status == 403)
    #expect(try json(response)["code"] == .string("not_allowed"))
    #expect(try live.count("bank") == 4)
  }

  @Test func aTransactionIsAllOrNothing() throws {
    let live = try LiveServer(Self.schema) { $0.allowsWrites = true }
    let good = """
      {"statements":[{"sql":"UPDATE bank SET assets = :a WHERE state = :s","params":{"a":7,"s":"GA"}},
                     {"sql":"INSERT INTO bank(name) VALUES (?);","params":["Elm"]}, {"sql":"SELECT * FROM bank"}]}
      """
    let response = try live.http("POST", "/v1/transactions", body: good)
    #expect(try json(response)["changes"] == .integer(3), "\(response.text)")
    let bad = "{\"statements\":[{\"sql\":\"DELETE FROM bank\"},{\"sql\":\"INSERT INTO bank(name) VALUES (NULL)\"}]}"
    let refused = try live.http("POST", "/v1/transactions", body: bad)
    #expect(refused.status == 409)
    #expect(try json(refused)["code"] == .string("constraint"))
    #expect(try live.count("bank") == 5)
  }

  @Test(arguments: [
    ("DELETE FROM bank; DELETE FROM bank", "bad_query"), ("", "bad_query"), ("-- nothing", "bad_query"),
    ("DELETE FROM missing", "no_such_table"), ("UPDATE bank SET x = 1", "no_such_column"),
    ("UPDATE bank SET name = :x", "bad_query"), ("DELET FROM bank", "bad_query"),
    ("BEGIN", "not_allowed"), ("COMMIT", "not_allowed"), ("SAVEPOINT s", "not_allowed"),
    ("PRAGMA user_version = 5", "not_allowed"), ("ATTACH 'x' AS y", "not_allowed"), ("VACUUM", "bad_query"),
    ("CREATE TABLE x(a)", "not_allowed"), ("DROP TABLE bank", "not_allowed"),
    ("DELETE FROM _freshet_log", "not_allowed"), ("SELECT * FROM _freshet_log", "not_allowed"),
    ("UPDATE sqlite_master SET sql = ''", "bad_query"), ("SELECT load_extension('x')", "not_allowed"),
  ])
  func whatATransactionMayNot(sql: String, code: String) throws {
    let live = try LiveServer(Self.schema) { $0.allowsWrites = true }
    let body = "{\"statements\":[{\"sql\":\"INSERT INTO bank(name) VALUES ('Fir')\"},{\"sql\":\"\(sql)\"}]}"
    let response = try live.http("POST", "/v1/transactions", body: body)
    #expect(try json(response)["code"] == .string(code), "\(response.text)")
    #expect(try live.count("bank") == 4)
    // The writer is as good as before.
    let good = "{\"statements\":[{\"sql\":\"INSERT INTO bank(name) VALUES ('Gum')\"}]}"
    #expect(try live.http("POST", "/v1/transactions", body: good).status == 200)
  }

  @Test func aSubscriptionReachesTheCommitOfATransaction() throws {
    let live = try LiveServer(Self.schema) { $0.allowsWrites = true }
    let client = try live.connect()
    try client.subscribe("a", "{\"from\":\"bank\",\"select\":[\"name\"]}")
    try client.send(
      "{\"type\":\"transact\",\"id\":\"t 1\",\"statements\":[{\"sql\":\"DELETE FROM bank WHERE id < 3\"}]}")
    let committed = try client.receive("committed")
    #expect(committed["id"] == .string("t 1") && committed["changes"] == .integer(2))
    let commit = try Int64(committed.required("commit").int())
    while client.models["a"]!.commit < commit { try client.receive() }
    #expect(client.models["a"]!.total == 2)
  }

  @Test(arguments: [
    (["Origin: http://localhost"], 200), (["Origin: http://evil.example"], 403), (["Origin: null"], 403),
    (["Origin: http://friend.example"], 200), (["Origin: https://localhost:1"], 403), ([], 200),
  ])
  func originsAreChecked(headers: [String], status: Int) throws {
    let live = try LiveServer(Self.schema) { $0.allowedOrigins = ["http://friend.example"] }
    #expect(try live.http("GET", "/v1/snapshot?from=bank", headers: headers).status == status)
    if status == 200 {
      _ = try RawWebSocket(port: live.server.port, headers: headers)
    } else {
      #expect(throws: RawSocket.Failure.self) { try RawWebSocket(port: live.server.port, headers: headers) }
    }
  }

  @Test func anotherHostNameIsRefusedOnLoopback() throws {
    let live = try LiveServer(Self.schema)
    let socket = try RawSocket(port: live.server.port)
    try socket.write("GET /v1/snapshot?from=bank HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n")
    #expect(try socket.readResponse().status == 403)
  }
}

extension LiveServer {
  /// Rows of a table, as another connection sees them.
  func count(_ table: String) throws -> Int {
    try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
  }
}
