import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// One server of several databases: each is reached by its name, and is open while it is used.
@Suite struct FolderTests {
  private static func sql(_ name: String) -> String {
    "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item(name) VALUES ('\(name) 1'), ('\(name) 2')"
  }
  private static let query = #"{"from":"item","orderBy":["id"]}"#

  private func serve(
    _ names: String..., configure: (inout ServerConfiguration) -> Void = { _ in }
  ) throws -> LiveFolder {
    try LiveFolder(Dictionary(uniqueKeysWithValues: names.map { ("\($0).sqlite", Self.sql($0)) }), configure: configure)
  }

  private func names(_ client: LiveClient) -> [String] {
    (client.models["l"]?.visibleRows ?? []).compactMap {
      if case .string(let name)? = $0?["name"] { name } else { nil }
    }
  }

  private func listing(_ live: LiveFolder) throws -> [JSONValue] {
    guard case .array(let all) = try JSONParser.parse(try live.get("/v1/databases").body) else { return [] }
    return all
  }

  private func isOpen(_ name: String, _ live: LiveFolder) throws -> Bool {
    try listing(live).contains { $0["name"] == .string(name) && $0["open"] == .bool(true) }
  }

  @Test func `Each database has its lists, and what is written to one is heard by its clients alone`() throws {
    let live = try serve("a", "in/b")
    let (a, b) = (try live.connect("a"), try live.connect("in/b"))
    for client in [a, b] { try client.subscribe("l", Self.query) }
    #expect(names(a) == ["a 1", "a 2"] && names(b) == ["in/b 1", "in/b 2"])
    let before = a.changes
    try live.write("in/b.sqlite", "INSERT INTO item(name) VALUES ('new')")
    try b.catchUp(["l"])
    try a.catchUp(["l"])
    #expect(names(b) == ["in/b 1", "in/b 2", "new"] && a.changes == before)
    #expect(try live.get("in/b", "/v1/snapshot?from=item&where=id%20=%203").text.contains("new"))
    // The name is accepted with and without percent-encoding.
    #expect(try live.get("/db/in/b/v1/snapshot?from=item").text.contains("new"))
    let all = try listing(live)
    #expect(all.map { $0["name"] } == [.string("a"), .string("in/b")] && all[0]["journal"] == .string("wal"))
  }

  @Test func `What is no database is not found, and harms no other`() throws {
    let live = try serve("a")
    try Data("no database".utf8).write(to: URL(fileURLWithPath: live.path("broken.db")))
    let client = try live.connect("a")
    try client.subscribe("l", Self.query)
    for name in ["none", "..", "../data/a", ".", "", "A", "a.sqlite", "a%00"] {
      let answer = try live.get(name, "/v1/snapshot?from=item")
      #expect(answer.status == 404, "\(name): \(answer.status)")
      #expect(throws: (any Error).self) { try live.connect(name) }
    }
    #expect(try live.get("broken", "/v1/schema").status == 503)
    #expect(try listing(live).count == 1, "what is no database is not shown")
    let routes = ["/v1/schema", "/db/a/healthz", "/db/a/", "/db/a/v1/databases", "/db/a/v1/none"]
    // The first route exists on a server of one file. Here there are two files.
    for route in routes { #expect(try live.get(route).status == 404, "\(route)") }
    #expect(try live.get("/readyz").status == 200)
    try client.catchUp(["l"])
    #expect(names(client) == ["a 1", "a 2"])
  }

  @Test func `A folder with one database is asked as a server of one file`() throws {
    let live = try serve("a")
    #expect(try live.get("/v1/snapshot?from=item").text.contains("a 1"))
    let client = try LiveClient(port: live.server.port)
    try client.subscribe("l", Self.query)
    #expect(names(client) == ["a 1", "a 2"])
    try live.make("b.sqlite", Self.sql("b"))
    #expect(try live.get("/v1/snapshot?from=item").status == 404)
  }

  @Test func `Files come, go and are replaced`() throws {
    let live = try serve("a")
    try live.make("new.db", Self.sql("new"))
    let client = try live.connect("new")
    try client.subscribe("l", Self.query)
    #expect(names(client) == ["new 1", "new 2"])
    try live.make("other.db", Self.sql("other"))
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: live.path("new.db") + suffix) }
    #expect(rename(live.path("other.db"), live.path("new.db")) == 0)
    #expect(
      try comesTrue {
        try client.catchUp(["l"])
        return names(client) == ["other 1", "other 2"]
      })
    try FileManager.default.removeItem(atPath: live.path("new.db"))
    #expect(try live.get("new", "/v1/snapshot?from=item").status == 404)
    #expect(try live.get("a", "/v1/snapshot?from=item").status == 200)
  }

  @Test func `One that nobody uses is closed, and goes on where it was when it is opened again`() throws {
    let live = try serve("a", "b") {
      $0.limits.databaseIdle = .milliseconds(100)
      $0.state.folder = NSTemporaryDirectory() + "states-\(UUID().uuidString)"
    }
    var client: LiveClient? = try live.connect("a")
    try client!.subscribe("l", Self.query)
    try live.write("a.sqlite", "INSERT INTO item(name) VALUES ('x')")
    try client!.catchUp(["l"])
    let (model, epoch) = (try #require(client!.models["l"]), client!.epoch)
    #expect(try live.get("b", "/v1/snapshot?from=item").status == 200)
    #expect(try comesTrue { try !isOpen("b", live) })
    #expect(try isOpen("a", live), "it is used")
    client!.socket.close()
    client = nil
    #expect(try comesTrue { try !isOpen("a", live) })
    // The server has closed the file, so SQLite can lock it exclusively.
    try live.write("a.sqlite", "PRAGMA locking_mode = EXCLUSIVE; UPDATE item SET name = name")
    let again = try live.connect("a")
    #expect(again.epoch == epoch)
    try live.write("a.sqlite", "INSERT INTO item(name) VALUES ('y')")
    try again.resume("l", Self.query, model)
    try again.catchUp(["l"])
    #expect(names(again) == ["a 1", "a 2", "x", "y"])
  }

  @Test func `Of more than may be open, the one that nobody uses is closed; where all are used, another has to wait`()
    throws
  {
    let live = try serve("a", "b", "c") { $0.limits.openDatabases = 2 }
    let a = try live.connect("a")
    #expect(try live.get("b", "/v1/schema").status == 200)
    #expect(try live.get("c", "/v1/schema").status == 200)
    let isOpen = try ["a", "b", "c"].map { try self.isOpen($0, live) }
    #expect(isOpen == [true, false, true])
    let c = try live.connect("c")
    let answer = try live.get("b", "/v1/schema")
    #expect(answer.status == 503 && answer.text.contains("overloaded"))
    c.socket.close()
    #expect(try comesTrue { try live.get("b", "/v1/schema").status == 200 })
    try a.subscribe("l", Self.query)
    #expect(names(a) == ["a 1", "a 2"])
  }

  @Test func `Another epoch of one database is told to its sessions`() throws {
    let live = try serve("a", "b")
    let (a, b) = (try live.connect("a"), try live.connect("b"))
    try a.subscribe("l", Self.query)
    try b.subscribe("l", Self.query)
    let epoch = b.epoch
    let before = a.epoch
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: live.path("a.sqlite") + suffix) }
    try live.make("new.db", Self.sql("new"))
    #expect(rename(live.path("new.db"), live.path("a.sqlite")) == 0)
    #expect(
      try comesTrue {
        try a.catchUp(["l"])
        return names(a) == ["new 1", "new 2"]
      })
    try b.catchUp(["l"])
    #expect(b.epoch == epoch && b.others.count { $0["type"] == .string("hello") } == 1)
    #expect(a.epoch != b.epoch || before == epoch)
  }

  @Test func `A list goes on when its slow reader has drained, however many databases are open`() throws {
    let count = 40
    let wide = """
      CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO item SELECT i, hex(zeroblob(400)) FROM n;
      """
    let live = try LiveFolder(
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("d\($0).sqlite", $0 % 13 == 12 ? wide : Self.sql("d")) }))
    let all = try (0..<count).map { try live.connect("d\($0)") }
    defer { withExtendedLifetime(all) {} }
    for number in stride(from: 12, to: count, by: 13) {
      let slow = try LiveClient(
        port: live.server.port, receiveBuffer: 4_096, path: LiveFolder.target("d\(number)", "/v1/live"))
      try slow.send("{\"type\":\"subscribe\",\"id\":\"l\",\"query\":\(Self.query)}")
      usleep(200_000)
      // While earlier messages are on their way, nothing is sent for these commits.
      for round in 0..<5 {
        try live.write("d\(number).sqlite", "UPDATE item SET name = 'round \(round)' WHERE id < 10")
      }
      #expect(
        try comesTrue {
          try slow.receive()
          return slow.models["l"]?.isComplete == true && names(slow).first == "round 4"
        }, "database \(number)")
    }
  }

  @Test func `Clients of all databases come and go at once`() async throws {
    let live = try serve("a", "b", "c", "d") {
      $0.limits.databaseIdle = .milliseconds(1)
      $0.limits.openDatabases = 3
    }
    nonisolated(unsafe) let folder = live
    let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: seed &+ UInt64(worker))
          for _ in 0..<60 {
            let name = ["a", "b", "c", "d"].randomElement(using: &random)!
            let answer = try folder.get(name, "/v1/snapshot?from=item")
            let isRight = answer.status == 200 && answer.text.contains("\(name) 1") || answer.status == 503
            #expect(isRight, "seed \(seed): \(answer.status) \(answer.text)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static let admins = """
    newDatabases: { schema: schema.sql }
    roles:
      admin: { tables: { item: }, queries: any, manage: "tenants/*" }
      member: { tables: { item: }, queries: any }
    """

  private func serveAdmins(
    _ script: String, _ folder: TemporaryFolder, audit: LogDestination? = nil
  ) throws -> LiveFolder {
    try script.write(toFile: folder.path("schema.sql"), atomically: true, encoding: .utf8)
    let file = try ConfigurationFile(yaml: Self.admins, name: "x", folder: folder.path(""))
    let tokens = try JWTConfiguration.shared()
    return try LiveFolder(["a.sqlite": Self.sql("a")]) {
      $0.authentication = tokens
      $0.access.roles = file.roles
      $0.newDatabases = file.newDatabases
      $0.logs.audit = audit
    }
  }

  private func headers(_ role: String) throws -> [String] {
    ["Authorization: Bearer \(try TokenMaker.shared().token("{\"sub\":\"s\",\"role\":\"\(role)\"}"))"]
  }

  private func manage(_ live: LiveFolder, _ method: String, _ name: String, role: String = "admin") throws -> Int {
    let target = method == "POST" ? "/v1/databases" : "/v1/databases?name=\(name)"
    let body = method == "POST" ? "{\"name\":\"\(name)\"}" : nil
    return try RawSocket(port: live.server.port).request(method, target, headers: try headers(role), body: body).status
  }

  @Test func `A role that may makes databases and removes them, and nothing is destroyed`() throws {
    let folder = try TemporaryFolder()
    let live = try serveAdmins(Self.sql("new"), folder)
    #expect(try manage(live, "POST", "tenants/x", role: "member") == 403)
    #expect(try manage(live, "POST", "other/x") == 403)
    for bad in ["tenants/../x", "tenants/", "tenants/.x"] { #expect(try manage(live, "POST", bad) == 400, "\(bad)") }
    #expect(try manage(live, "POST", "tenants/x") == 201)
    #expect(try manage(live, "POST", "tenants/x") == 409)
    let token = try TokenMaker.shared().token(#"{"sub":"s","role":"admin"}"#)
    let client = try live.connect("tenants/x", token: token)
    try client.subscribe("l", Self.query)
    #expect(names(client) == ["new 1", "new 2"])
    let stream = try RawSocket(port: live.server.port)
    try stream.write(
      "GET /db/tenants%2Fx/v1/subscriptions?from=item HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
    )
    _ = try stream.readLine()
    let lines = try RawSocket(port: live.server.port)
    let accept = try headers("admin") + ["Accept: application/x-ndjson"]
    #expect(try lines.request("GET", "/db/tenants%2Fx/v1/changes", headers: accept).status == 200)
    #expect(try manage(live, "DELETE", "tenants/x", role: "member") == 403)
    #expect(try manage(live, "DELETE", "tenants/x") == 204)
    #expect(try manage(live, "DELETE", "tenants/x") == 404)
    #expect(throws: (any Error).self) { while true { try client.receive() } }
    #expect(try String(decoding: stream.readToEnd(), as: UTF8.self).contains("event: error"))
    let said = try String(decoding: lines.readToEnd(), as: UTF8.self)
    #expect(said.contains(#""code":"no_such_database""#) && !said.contains("event:"))
    #expect(try live.get("tenants/x", "/v1/snapshot?from=item", token: token).status == 404)
    let removed = try #require(try FileManager.default.contentsOfDirectory(atPath: live.path("tenants/.removed")).first)
    #expect(
      try SQLiteShell(path: live.path("tenants/.removed/\(removed)/x.sqlite")).run("SELECT count(*) FROM item") == "2")
    // The name can be used again.
    #expect(try manage(live, "POST", "tenants/x") == 201)
    #expect(try live.get("tenants/x", "/v1/snapshot?from=item", token: token).text.contains("new 1"))
  }

  @Test func `The audit log has who made, removed, and was refused`() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("audit.log")
    let live = try serveAdmins(Self.sql("new"), folder, audit: .file(file))
    #expect(try manage(live, "POST", "tenants/x", role: "member") == 403)
    #expect(try manage(live, "POST", "tenants/x") == 201)
    #expect(try manage(live, "POST", "tenants/x") == 409)
    #expect(try manage(live, "DELETE", "tenants/x") == 204)
    live.server.stop()
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
      let entry = try JSONParser.parse(Array(line.utf8))
      return ["event", "database", "role", "action", "outcome"].compactMap { name in
        if case .string(let text)? = entry[name] { text } else { nil }
      }.joined(separator: " ")
    }
    #expect(
      lines == [
        "refused tenants/x member make not_allowed", "begin tenants/x admin make", "end tenants/x admin make done",
        "begin tenants/x admin make", "end tenants/x admin make constraint", "begin tenants/x admin remove",
        "end tenants/x admin remove done",
      ])
  }

  @Test func `A server ends while databases are being closed, and may be stopped twice`() throws {
    for _ in 0..<10 {
      let live = try LiveFolder(
        Dictionary(uniqueKeysWithValues: (0..<6).map { ("d\($0).sqlite", Self.sql("d")) })
      ) {
        $0.access.allowsWrites = true
        $0.limits.databaseIdle = .milliseconds(3)
      }
      for number in 0..<6 { #expect(try live.get("d\(number)", "/v1/snapshot?from=item").status == 200) }
      live.server.stop()
      live.server.stop()
    }
  }

  @Test func `A database whose script fails is not there`() throws {
    let folder = try TemporaryFolder()
    let live = try serveAdmins("CREATE TABLE item(id INTEGER PRIMARY KEY); SELECT nosuch", folder)
    #expect(try manage(live, "POST", "tenants/x") == 500)
    #expect(try FileManager.default.contentsOfDirectory(atPath: live.path("tenants")).isEmpty)
  }

  @Test func `No name leads out of the folder`() throws {
    let live = try serve("a", "in/b")
    try SQLiteShell(path: live.folder.path("secret.sqlite")).run(Self.sql("secret"))
    let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let parts = [
      "..", ".", "a", "in", "b", "secret", "/", "%2f", "%2F", "%2e", "%2E", "%252e", "%00", "%c0%ae", "\\", "%5c",
      "%u002e",
      "\u{ff0e}", "%ef%bc%8e", ";", "%20", "//", "data", "~", "%e2%80%ae", "A", ".sqlite", "-wal",
    ]
    for _ in 0..<4_000 {
      let name = (0..<Int.random(in: 1...8, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
      let escaped = name.unicodeScalars.map {
        $0.isASCII ? String($0) : String($0).addingPercentEncoding(withAllowedCharacters: [])!
      }
      .joined()
      let answer = try live.get("/db/\(escaped)/v1/snapshot?from=item")
      #expect(!answer.text.contains("secret 1"), "seed \(seed): \(escaped)")
      // 403: libwebsockets refuses invalid percent-encoding.
      #expect([200, 400, 403, 404].contains(answer.status), "seed \(seed): \(escaped): \(answer.status)")
      if answer.status == 200 {
        let isOwn = answer.text.contains("a 1") || answer.text.contains("in/b 1")
        #expect(isOwn, "seed \(seed): \(escaped)")
      }
    }
  }
}
