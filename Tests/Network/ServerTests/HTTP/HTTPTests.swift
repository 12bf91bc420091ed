import Foundation
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The HTTP routes: protocol 4.
@Suite struct HTTPTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT CHECK (age > 0));
    INSERT INTO t VALUES (1, 'Bob', 30), (2, 'Ann', 20), (3, 'a,b', 40);
    """

  private func percentEncoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  // MARK: - Snapshots

  /// Parameters, and the rows of the answer.
  @Test(arguments: [
    ("from=t", "{age:30 id:1 name:'Bob'} {age:20 id:2 name:'Ann'} {age:40 id:3 name:'a,b'}"),
    ("from=t&shape=arrays", "[1 'Bob' 30] [2 'Ann' 20] [3 'a,b' 40]"),
    ("from=t&select=id&orderBy=age+DESC,id&shape=arrays", "[3] [1] [2]"),
    ("from=t&select=substr(name,1,1)+AS+c,age&shape=arrays", "[1 'B' 30] [2 'A' 20] [3 'a' 40]"),
    ("from=t&select='a,b'+AS+x&shape=arrays&top=1", "[1 'a,b']"),
    ("from=t&select=%22name%22,%5Bage%5D&shape=arrays&top=1", "[1 'Bob' 30]"),
    ("from=t&select=id&shape=arrays&offset=1&limit=1", "[2]"), ("from=t&select=id&shape=arrays&offset=9", ""),
    ("from=t&select=id&shape=arrays&limit=0", ""), ("from=t&select=id&shape=arrays&top=2", "[1] [2]"),
    ("from=t&select=id&shape=arrays&where=name%3D:n&param.n=a,b", "[3]"),
    ("from=t&select=id&shape=arrays&where=age%3E:n&param.n=25", "[1] [3]"),
    ("from=t&select=id&shape=arrays&where=name%20LIKE%20'%25n%25'", "[2]"),
    ("from=t&select=id&shape=arrays&key=name", "['Ann' 2] ['Bob' 1] ['a,b' 3]"),
    ("query=%7B%22from%22%3A%22t%22%2C%22select%22%3A%5B%22id%22%5D%2C%22limit%22%3A1%7D", "{id:1}"),
  ])
  func answersSnapshots(parameters: String, rows: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/snapshot?\(parameters)")
    #expect(response.status == 200, "\(response.text)")
    #expect(response.headers["content-type"] == "application/json")
    let json = try JSONParser.parse(response.body)
    #expect(json["type"] == .string("snapshot") && json["complete"] == .bool(true))
    #expect(try json.list("rows").map(\.short).joined(separator: " ") == rows)
    let head = try live.http("HEAD", "/v1/snapshot?\(parameters)")
    #expect(head.status == 200 && head.body.isEmpty)
    #expect(head.headers["content-length"] == response.headers["content-length"])
    live.stop()
  }

  @Test func `A snapshot says what it is of`() throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/snapshot?from=t&sectionBy=age%3E25&offset=1&limit=1")
    let json = try JSONParser.parse(response.body)
    #expect(json["columns"]?.short == "['id' 'name' 'age']" && json["key"]?.short == "['id']")
    #expect(json["total"] == .integer(3) && json["offset"] == .integer(1))
    #expect(json["window"]?.short == "{limit:1 offset:1}")
    #expect(json["sections"]?.short == "[{count:1 indexTitle:'0' name:0} {count:2 indexTitle:'1' name:1}]")
    let many = try live.http("GET", "/v1/snapshot?from=t")
    #expect(try JSONParser.parse(many.body)["window"]?.short == "{limit:100 offset:0}")
    live.stop()
  }

  @Test func `A snapshot is asked for with POST as well`() throws {
    let live = try LiveServer(Self.schema)
    let body = #"{"query":{"from":"t","select":["age"]},"window":{"offset":1,"limit":1},"shape":"arrays"}"#
    let response = try live.http("POST", "/v1/snapshot", body: body)
    #expect(response.status == 200)
    #expect(try JSONParser.parse(response.body)["rows"]?.short == "[[2 20]]")
    live.stop()
  }

  @Test func `A version that the client has is not sent again until it changes`() throws {
    let live = try LiveServer(Self.schema)
    let target = "/v1/snapshot?from=t"
    let tag = try #require(live.http("GET", target).headers["etag"])
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    for header in [tag, "W/\(tag)", "\"x\", \(tag)", "\"x\",\(tag)", "*"] {
      let response = try live.http("GET", target, headers: ["If-None-Match: \(header)"])
      #expect(response.status == 304 && response.body.isEmpty, "\(header)")
      #expect(response.headers["etag"] == tag)
    }
    #expect(try live.http("GET", target, headers: ["If-None-Match: \"x\""]).status == 200)
    try live.writer.run("UPDATE t SET age = age")
    #expect(try live.http("GET", target, headers: ["If-None-Match: \(tag)"]).status == 304, "nothing was changed")
    try live.writer.run("UPDATE t SET age = 1")
    let response = try live.http("GET", target, headers: ["If-None-Match: \(tag)"])
    #expect(response.status == 200 && response.headers["etag"] != tag)
    live.stop()
  }

  @Test func `Many questions on one connection and at once are answered`() throws {
    let live = try LiveServer(Self.schema)
    let socket = try RawSocket(port: live.server.port)
    for _ in 0..<50 { #expect(try socket.request("GET", "/v1/snapshot?from=t").status == 200) }
    let sockets = try (0..<50).map { _ in try RawSocket(port: live.server.port) }
    for socket in sockets { try socket.write("GET /v1/snapshot?from=t HTTP/1.1\r\nHost: localhost\r\n\r\n") }
    for socket in sockets { #expect(try socket.readResponse().status == 200) }
    live.stop()
  }

  /// Tables of a change log, as version 0.1 made them.
  private static let leftOver =
    ";CREATE TABLE _freshet_log(seq); CREATE TABLE _freshet_meta(token); CREATE TABLE _freshet_table(name);"

  // MARK: - Problems

  @Test(arguments: [
    ("GET", "/v1/snapshot", 400, "bad_message"), ("GET", "/v1/snapshot?from=nosuch", 400, "no_such_table"),
    ("GET", "/v1/snapshot?from=t&where=nosuch", 400, "no_such_column"),
    ("GET", "/v1/snapshot?from=t&where=1)+OR+(1", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=t&nosuch=1", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=t&limit=-1", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=t&limit=x", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=t&shape=x", 400, "bad_message"),
    ("GET", "/v1/snapshot?query=%7B", 400, "bad_message"),
    ("GET", "/v1/snapshot?query=%7B%22from%22%3A%22t%22%7D&from=t", 400, "bad_query"),
    ("GET", "/v1/snapshot?from=sqlite_master", 403, "not_allowed"),
    ("GET", "/v1/snapshot?from=t&where=load_extension('x')", 403, "not_allowed"),
    ("GET", "/v1/nosuch", 404, "not_found"), ("DELETE", "/v1/snapshot", 405, "method_not_allowed"),
    ("GET", "/v1/transactions", 405, "method_not_allowed"), ("POST", "/healthz", 405, "method_not_allowed"),
    ("POST", "/v1/snapshot", 400, "bad_message"), ("POST", "/v1/transactions", 403, "not_allowed"),
  ])
  func answersProblems(method: String, target: String, status: Int, code: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http(method, target, body: method == "POST" ? "{}" : nil)
    try expectProblem(response, status, code)
    if status == 405 { #expect(response.headers["allow"]?.isEmpty == false) }
    live.stop()
  }

  private func expectProblem(_ response: RawResponse, _ status: Int, _ code: String) throws {
    #expect(response.status == status, "\(response.text)")
    #expect(response.headers["content-type"] == "application/problem+json")
    let json = try JSONParser.parse(response.body)
    #expect(json["code"] == .string(code) && json["status"] == .integer(Int64(status)), "\(response.text)")
    #expect(try !json.required("title").text().isEmpty && !json.required("detail").text().isEmpty)
  }

  @Test func `A body longer than it may be is refused`() throws {
    let live = try LiveServer(Self.schema)
    let socket = try RawSocket(port: live.server.port)
    try socket.write("POST /v1/snapshot HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n")
    try expectProblem(try socket.readResponse(), 413, "too_large")
    live.stop()
  }

  // MARK: - Transactions

  private func writing() throws -> LiveServer { try LiveServer(Self.schema) { $0.access.allowsWrites = true } }

  private func contents(_ live: LiveServer) throws -> String {
    let json = try JSONParser.parse(try live.http("GET", "/v1/snapshot?from=t&shape=arrays").body)
    return try json.list("rows").map(\.short).joined(separator: " ")
  }

  @Test func `A transaction with parameters of both kinds changes rows`() throws {
    let live = try writing()
    let body = """
      {"statements":[{"sql":"UPDATE t SET age = age + :n WHERE id < :id","params":{"n":1,"id":3}},
      {"sql":"INSERT INTO t VALUES (?, ?, ?2 + 1)","params":[9,5]}, {"sql":"DELETE FROM t WHERE id = 3;"}]}
      """
    let response = try live.http("POST", "/v1/transactions", body: body)
    #expect(response.status == 200, "\(response.text)")
    #expect(try JSONParser.parse(response.body)["changes"] == .integer(4))
    #expect(try contents(live) == "[1 'Bob' 31] [2 'Ann' 21] [9 '5' 6]")
    live.stop()
  }

  /// The second statement after a valid one; neither may have an effect.
  @Test(arguments: [
    ("INSERT INTO t VALUES (1, 'x', 1)", 409, "constraint"), ("UPDATE t SET age = -1", 409, "constraint"),
    ("INSERT OR ROLLBACK INTO t VALUES (1, 'x', 1)", 409, "constraint"),
    ("UPDATE OR FAIL t SET name = 'same'", 409, "constraint"),
    ("DELETE FROM t; DELETE FROM t", 400, "bad_query"), ("", 400, "bad_query"), ("-- nothing", 400, "bad_query"),
    ("DELETE FROM nosuch", 400, "no_such_table"), ("UPDATE t SET nosuch = 1", 400, "no_such_column"),
    ("DELETE t", 400, "bad_query"), ("DELETE FROM t WHERE id = ?", 400, "bad_query"),
    ("PRAGMA journal_mode = DELETE", 403, "not_allowed"), ("PRAGMA user_version", 403, "not_allowed"),
    ("ATTACH 'other.db' AS o", 403, "not_allowed"), ("DETACH main", 403, "not_allowed"),
    ("CREATE TABLE x(a)", 403, "not_allowed"), ("DROP TABLE t", 403, "not_allowed"),
    ("ALTER TABLE t RENAME TO x", 403, "not_allowed"), ("CREATE TEMP TABLE x(a)", 403, "not_allowed"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", 400, "bad_query"),
    ("BEGIN", 403, "not_allowed"), ("COMMIT", 403, "not_allowed"), ("ROLLBACK", 403, "not_allowed"),
    ("SAVEPOINT s", 403, "not_allowed"), ("REINDEX", 403, "not_allowed"), ("VACUUM", 400, "bad_query"),
    ("ANALYZE", 403, "not_allowed"),
    ("DELETE FROM _freshet_log", 403, "not_allowed"), ("SELECT * FROM _FRESHET_meta", 403, "not_allowed"),
    ("UPDATE \"_freshet_table\" SET name = 'x'", 403, "not_allowed"),
    ("DELETE FROM sqlite_master", 403, "not_allowed"), ("SELECT load_extension('x')", 403, "not_allowed"),
    ("SELECT writefile('x', 'y')", 400, "bad_query"), ("SELECT fts3_tokenizer('simple')", 403, "not_allowed"),
  ])
  func refusesStatements(sql: String, status: Int, code: String) throws {
    let live = try writing()
    try live.writer.run(Self.leftOver)
    let before = try contents(live)
    let body = "{\"statements\":[{\"sql\":\"DELETE FROM t WHERE id = 2\"},{\"sql\":\(JSONValue.quoted(sql))}]}"
    let response = try live.http("POST", "/v1/transactions", body: body)
    try expectProblem(response, status, code)
    #expect(response.text.contains("statements[1]") || sql.isEmpty, "\(response.text)")
    #expect(try contents(live) == before, "all or nothing")
    #expect(try live.http("POST", "/v1/transactions", body: #"{"statements":[{"sql":"DELETE FROM t"}]}"#).status == 200)
    #expect(try contents(live) == "")
    live.stop()
  }

  @Test func `A statement that does not end is given up`() throws {
    let live = try LiveServer(Self.schema) {
      $0.access.allowsWrites = true
      $0.limits.queryTimeout = .milliseconds(50)
    }
    let sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i + 9, i, i FROM n WHERE i < 0"
    let response = try live.http("POST", "/v1/transactions", body: "{\"statements\":[{\"sql\":\"\(sql)\"}]}")
    try expectProblem(response, 504, "timeout")
    #expect(try contents(live).hasPrefix("[1 'Bob' 30]"))
    live.stop()
  }

  @Test func `What a socket commits reaches its subscriptions under the commit it is told`() throws {
    let live = try writing()
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","select":["name"]}"#)
    try client.send(
      #"{"type":"transact","id":"w1","statements":[{"sql":"UPDATE t SET name = :n WHERE id = 1","params":{"n":"new"}}]}"#
    )
    let committed = try client.receive("committed")
    #expect(committed["id"] == .string("w1") && committed["changes"] == .integer(1))
    let commit = try Int64(committed.required("commit").int())
    while client.models["q"]!.commit < commit { try client.receive() }
    #expect(client.line("q") == "''/: 1,'new' 2,'Ann' 3,'a,b'")
    try client.send(#"{"type":"transact","id":"w2","statements":[{"sql":"INSERT INTO t VALUES (1, 'x', 1)"}]}"#)
    let error = try client.receive("error")
    #expect(error["code"] == .string("constraint") && error["id"] == .string("w2") && error["fatal"] == .bool(false))
    live.stop()
  }

  // MARK: - Origins, health, files

  /// Host, Origin, and whether they may pass.
  @Test(
    arguments: [
      ("localhost", nil, true), ("127.0.0.1:8080", nil, true), ("[::1]:80", nil, true), ("LOCALHOST", nil, true),
      ("evil.example", nil, false), ("127.evil.example", nil, false), ("127.0.0.1.evil.example", nil, false),
      ("localhost.evil.example", nil, false), ("localhost", "http://localhost", true),
      ("localhost:8080", "http://localhost:8080", true), ("localhost:8080", "http://localhost:9090", false),
      ("localhost", "https://evil.example", false), ("localhost", "null", false), ("localhost", "localhost", false),
      ("localhost", "https://good.example", true), ("localhost", "https://good.example.evil.example", false),
      ("evil.example", "http://evil.example", false), ("evil.example", "https://good.example", false),
    ] as [(String, String?, Bool)])
  func `Pages of foreign origins are kept out`(host: String, origin: String?, passes: Bool) throws {
    let live = try LiveServer(Self.schema) { $0.pages.allowedOrigins = ["https://good.example"] }
    let headers = ["Host: \(host)"] + (origin.map { ["Origin: \($0)"] } ?? [])
    func status(_ path: String, _ more: [String]) throws -> RawResponse {
      let socket = try RawSocket(port: live.server.port)
      try socket.write((["GET \(path) HTTP/1.1"] + headers + more).joined(separator: "\r\n") + "\r\n\r\n")
      return try socket.readResponse()
    }
    let http = try status("/v1/snapshot?from=t", [])
    #expect(http.status == (passes ? 200 : 403))
    if !passes { try expectProblem(http, 403, "not_allowed") }
    let upgrade = RawWebSocket.handshakeHeaders + ["Sec-WebSocket-Protocol: freshet.v1"]
    #expect(try status("/v1/live", upgrade).status == (passes ? 101 : 403))
    live.stop()
  }

  @Test(arguments: [("app.example", 200), ("127.0.0.1", 200), ("localhost:8080", 200), ("evil.example", 403)])
  func `A server with a name answers to that and to loopback's`(host: String, status: Int) throws {
    let live = try LiveServer(Self.schema) {
      $0.listening.host = "0.0.0.0"
      $0.pages.allowedHosts = ["app.example"]
    }
    for path in ["/healthz", "/v1/queries"] {
      let socket = try RawSocket(port: live.server.port)
      try socket.write("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try socket.readResponse().status == status)
    }
    live.stop()
  }

  @Test func `Health and readiness are told`() throws {
    let live = try LiveServer(Self.schema)
    for path in ["/healthz", "/readyz"] {
      let response = try live.http("GET", path)
      #expect(response.status == 200 && response.headers["content-type"] == "application/json")
    }
    live.stop()
  }

  @Test func `Static files come with a content security policy`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("<p>".utf8).write(to: folder.appending(path: "index.html"))
    let live = try LiveServer(Self.schema) { $0.pages.directory = folder.path }
    let response = try live.http("GET", "/")
    #expect(response.status == 200 && response.text == "<p>")
    #expect(response.headers["content-type"]?.hasPrefix("text/html") == true)
    let policy = try #require(response.headers["content-security-policy"])
    let directives = policy.split(separator: ";").map { $0.trimmingPrefix(" ") }
    #expect(directives.contains("default-src 'self'") && directives.contains { $0.hasPrefix("connect-src ") })
    // Pages must not need 'unsafe-inline' or 'unsafe-eval'; *, data: and blob: would allow foreign scripts as well.
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    #expect(!directives.contains { $0.hasPrefix("script-src") || $0.hasPrefix("style-src") })
    #expect(response.headers["x-content-type-options"] == "nosniff")
    #expect(try live.http("GET", "/../\(folder.lastPathComponent)/index.html").status != 200)
    #expect(try live.http("GET", "/nosuch").status == 404)
    live.stop()
  }
}

extension JSONValue {
  fileprivate static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
