import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Tokens lead to databases: a tenant cannot open another tenant's file.
@Suite struct TenantTests {
  private static func sql(_ name: String) -> String {
    """
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, hidden INT);
    INSERT INTO item(name, hidden) VALUES ('\(name) 1', 0), ('\(name) 2', 1)
    """
  }
  private static let query = #"{"from":"item","orderBy":["id"]}"#
  private static let yaml = """
    tenant: "tenants/{claims.org}"
    roles:
      member: { tables: { item: { rows: "hidden = 0" } }, queries: any }
      auditor: { tables: { item: }, queries: any, databases: "*" }
      anonymous: { tables: { item: { columns: [id] } }, queries: any, databases: [public] }
    databases:
      public:
        roles:
          anonymous: { tables: { item: }, queries: any, databases: [public] }
    """

  private func serve(_ yaml: String = yaml) throws -> LiveFolder {
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    let tokens = try JWTConfiguration.shared()
    return try LiveFolder([
      "tenants/acme.sqlite": Self.sql("acme"), "tenants/globex.sqlite": Self.sql("globex"),
      "public.db": Self.sql("public"),
    ]) {
      $0.authentication = tokens
      $0.access.roles = file.roles
      $0.databases = file.databases
    }
  }

  private func token(_ org: String?, role: String = "member", subject: String = "s") async throws -> String {
    try TokenMaker.shared().token(
      "{\"sub\":\"\(subject)\",\"role\":\"\(role)\"\(org.map { ",\"org\":\"\($0)\"" } ?? "")}")
  }

  private func code(_ answer: RawResponse) throws -> String {
    if answer.status == 200 { return "ok" }
    guard case .string(let code)? = try JSONParser.parse(answer.body)["code"] else { return "" }
    return "\(answer.status) \(code)"
  }

  @Test func `A token leads to its database and to no other`() async throws {
    let live = try serve()
    let (acme, auditor, nobody) = (
      try await token("acme"), try await token(nil, role: "auditor"), try await token(nil)
    )
    let expected: [(database: String, token: String?, code: String)] = [
      ("tenants/acme", acme, "ok"), ("tenants/globex", acme, "403 not_allowed"), ("public", acme, "403 not_allowed"),
      ("none", acme, "403 not_allowed"), ("tenants/acme", auditor, "ok"), ("tenants/globex", auditor, "ok"),
      ("none", auditor, "404 no_such_database"), ("tenants/acme", nil, "404 no_such_database"), ("public", nil, "ok"),
      ("tenants/acme", nobody, "403 not_allowed"), ("tenants/none", try await token("none"), "404 no_such_database"),
      ("tenants/acme", try await token("../tenants/acme"), "403 not_allowed"),
      ("tenants/acme", try await token("acme", role: "stranger"), "403 not_allowed"),
    ]
    for (database, token, code) in expected {
      let answer = try live.get(database, "/v1/snapshot?from=item", token: token)
      #expect(try self.code(answer) == code, "\(database) \(answer.text)")
    }
    let rows = try live.get("tenants/acme", "/v1/snapshot?from=item", token: acme).text
    #expect(rows.contains("acme 1") && !rows.contains("acme 2"), "the role's filter holds")
    #expect(
      try live.get("public", "/v1/snapshot?from=item").text.contains("public 2"), "the rule for this database holds")
    // Without a name in the path, the token determines the database.
    #expect(try live.get("/v1/snapshot?from=item", token: acme).text.contains("acme 1"))
    #expect(try code(try live.get("/v1/snapshot?from=item")) == "404 no_such_database")
  }

  @Test func `The list of databases has those that the client may use`() async throws {
    let live = try serve()
    func names(_ token: String?) throws -> [String] {
      guard case .array(let all) = try JSONParser.parse(try live.get("/v1/databases", token: token).body) else {
        return []
      }
      return all.compactMap { if case .string(let name)? = $0["name"] { name } else { nil } }
    }
    let (acme, auditor) = (try await token("acme"), try await token(nil, role: "auditor"))
    #expect(try names(acme) == ["tenants/acme"])
    #expect(try names(auditor) == ["tenants/acme", "tenants/globex"], "the rule for public has no such role")
    let none = try await token("none")
    #expect(try names(nil) == ["public"])
    #expect(try names(none) == [])
  }

  @Test func `A socket is led by its token, also by one that comes later, and not to another database`() async throws {
    let live = try serve()
    let (acme, globex) = (try await token("acme"), try await token("globex"))
    let early = try live.connect("tenants/acme", token: acme)
    try early.subscribe("l", Self.query)
    #expect(early.models["l"]?.visibleRows.count == 1)
    #expect(throws: (any Error).self) { try live.connect("tenants/globex", token: acme) }
    for path in ["/v1/live", "/db/tenants%2Fglobex/v1/live"] {
      let socket = try RawWebSocket(port: live.server.port, path: path)
      try socket.send(#"{"type":"subscribe","id":"l","query":{"from":"item"}}"#)
      #expect(try socket.readFrame().text.contains("no_such_database"))
      try socket.send(#"{"type":"authenticate","id":"t","token":"\#(globex)"}"#)
      try socket.send(#"{"type":"subscribe","id":"l","query":{"from":"item"}}"#)
      #expect(try socket.readFrame().text.contains(#""type":"hello""#))
      #expect(try socket.readFrame().text.contains(#""type":"authenticated""#))
      #expect(try socket.readFrame().text.contains("globex 1"))
      // Another tenant's token gets nothing here, and does not change the session's database.
      try socket.send(#"{"type":"authenticate","id":"u","token":"\#(acme)"}"#)
      let refusal = try socket.readFrame().text
      #expect(refusal.contains("error") && !refusal.contains("acme 1"))
      try socket.send(#"{"type":"fetch","id":"l","offset":0,"limit":5}"#)
      #expect(try socket.readFrame().text.contains("globex 1"))
    }
    let socket = try RawWebSocket(port: live.server.port, path: "/db/tenants%2Fglobex/v1/live")
    try socket.send(#"{"type":"authenticate","id":"t","token":"\#(acme)"}"#)
    #expect(try socket.readFrame().text.contains("not_allowed"))
  }

  @Test func `A tag and a version of one database say nothing of another`() async throws {
    let live = try serve()
    let (acme, globex) = (try await token("acme"), try await token("globex"))
    let first = try live.get("tenants/acme", "/v1/snapshot?from=item", token: acme)
    let tag = try #require(first.headers["etag"])
    let answer = try live.get(
      LiveFolder.target("tenants/globex", "/v1/snapshot?from=item"), token: globex, headers: ["If-None-Match: \(tag)"])
    #expect(answer.status == 200 && answer.text.contains("globex 1"))
    let client = try live.connect("tenants/globex", token: globex)
    try client.send(
      #"{"type":"subscribe","id":"l","query":{"from":"item"},"since":\#(tag)}"#)
    while client.models["l"]?.isComplete != true { try client.receive() }
    #expect(client.models["l"]?.visibleRows.count == 1)
  }

  @Test func `Without tokens, a template is a mistake`() throws {
    let file = try ConfigurationFile(yaml: #"tenant: "{claims.org}""#, name: "x")
    #expect(throws: ServerError.self) { try LiveFolder([:]) { $0.databases = file.databases } }
  }

  @Test func `Mistakes in rules are told with their place`() throws {
    for (yaml, sentence) in [
      ("databases: { a: { role: {} } }", "roles"), ("tenant: acme", "claim"),
      ("databases: { a: { roles: { m: { queries: [x] } } } }", "not published"),
      ("databases: { a: { limits: { serviceThreads: 2 } } }", "limits"),
    ] {
      #expect { try ConfigurationFile(yaml: yaml, name: "x") } throws: { "\($0)".contains(sentence) }
    }
  }
}
