import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Whatever a client of one tenant requests, even with secrets of another tenant, it gets nothing of the other's.
///
/// Each tenant's data are marked by a word of their own: in rows, tables, roles, published queries and names.
@Suite struct TenantProbeTests {
  private static let words = ["sesame", "quartz", "walrus"]

  private static func sql(_ word: String) -> String {
    """
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, n INT);
    CREATE TABLE \(word)_only(id INTEGER PRIMARY KEY);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
    INSERT INTO item SELECT i, '\(word) ' || i, i FROM n
    """
  }

  private static let yaml = """
    tenant: "{claims.org}"
    roles:
      member: { tables: { item: }, queries: any, write: any }
      anonymous:
    databases:
      quartz:
        roles: { member: { tables: { item: , quartz_only: }, queries: [any, quartz_query], write: any } }
        queries: { quartz_query: { query: { from: item, where: "n < 5" } } }
    """

  /// Secrets of all tenants that a client may have: tags, versions, positions, epochs and commits.
  private struct Loot {
    var tags: [String] = []
    var positions: [String] = []
    var epochs: [String] = []
  }

  private func serve(_ folder: TemporaryFolder) throws -> LiveFolder {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    let tokens = try JWTConfiguration.shared()
    return try LiveFolder(Dictionary(uniqueKeysWithValues: Self.words.map { ("\($0).sqlite", Self.sql($0)) })) {
      $0.authentication = tokens
      $0.access.roles = file.roles
      $0.databases = file.databases
      $0.logs.access = LogDestination(folder.path("access.log"))
      $0.logs.audit = LogDestination(folder.path("audit.log"))
      $0.limits.requestsPerAddress = 0
    }
  }

  private func token(_ org: String) throws -> String {
    try TokenMaker.shared().token("{\"sub\":\"user of \(org)\",\"role\":\"member\",\"org\":\"\(org)\"}")
  }

  private func look(_ live: LiveFolder) throws -> Loot {
    var loot = Loot()
    for word in Self.words {
      let token = try token(word)
      let answer = try live.get(word, "/v1/snapshot?from=item", token: token)
      #expect(answer.status == 200 && answer.text.contains("\(word) 1"))
      loot.tags += [answer.headers["etag"]].compactMap { $0 }
      loot.epochs += [answer.headers["freshet-epoch"]].compactMap { $0 }
      let client = try live.connect(word, token: token)
      try client.send(#"{"type":"changes","id":"c"}"#)
      let position = try client.receive("changes")["position"]
      if case .string(let text)? = position { loot.positions.append(text) }
    }
    #expect(loot.tags.count == 3 && Set(loot.epochs).count == 3)
    return loot
  }

  @Test func `Requests of all kinds, with what belongs to others`() throws {
    let folder = try TemporaryFolder()
    let live = try serve(folder)
    let loot = try look(live)
    let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for number in 0..<4_000 {
      let word = Self.words.randomElement(using: &random)!
      let others = Self.words.filter { $0 != word }
      let other = others.randomElement(using: &random)!
      let (method, target, body) = request(word, other, loot, &random)
      var headers = ["Authorization: Bearer \(try token(word))"]
      if Bool.random(using: &random) { headers.append("If-None-Match: \(loot.tags.randomElement(using: &random)!)") }
      if Bool.random(using: &random) {
        headers.append("Last-Event-ID: \(loot.positions.randomElement(using: &random)!)")
      }
      let answer = try RawSocket(port: live.server.port).request(method, target, headers: headers, body: body)
      // The client's own words may come back, because errors quote them.
      let said = target + (body ?? "")
      for other in others where !said.contains(other) {
        #expect(
          !answer.text.contains(other), "seed \(seed), \(number): \(method) \(target): \(answer.text.prefix(300))")
      }
      #expect(!answer.text.contains("\(other) 1"), "seed \(seed), \(number): \(method) \(target)")
      #expect(
        answer.status < 500 || answer.status == 503, "seed \(seed), \(number): \(method) \(target): \(answer.text)")
      let leadsElsewhere = target.hasPrefix("/db/") && !target.hasPrefix("/db/\(word)/")
      if leadsElsewhere {
        #expect([403, 404].contains(answer.status), "seed \(seed), \(number): \(method) \(target): \(answer.status)")
      }
    }
    try checkLogs(folder)
  }

  private func request(
    _ word: String, _ other: String, _ loot: Loot, _ random: inout SeededGenerator
  ) -> (method: String, target: String, body: String?) {
    let place = [
      "", "/db/\(word)", "/db/\(other)", "/db/%2e%2e/\(other)", "/db/\(word)%2f..%2f\(other)",
      "/db/\(word)/../\(other)",
    ].randomElement(using: &random)!
    let tag = loot.tags.randomElement(using: &random)!.filter { $0 != "\"" }
    let route = [
      "/v1/snapshot?from=item", "/v1/snapshot?from=item&wait=0", "/v1/snapshot?from=\(other)_only",
      "/v1/snapshot?sql=SELECT%20*%20FROM%20item",
      "/v1/snapshot?from=\(other).item", "/v1/snapshot?sql=SELECT%20file%20FROM%20pragma_database_list", "/v1/queries",
      "/v1/queries/quartz_query", "/v1/schema", "/v1/explain?from=item", "/v1/explain?from=\(other)_only",
      "/v1/statements", "/v1/server",
      "/v1/databases", "/v1/snapshot?from=item&lastEventId=\(tag)", "/v1/databases?name=\(other)", "/metrics",
      "/metrics/history",
      "/healthz",
    ].randomElement(using: &random)!
    if Int.random(in: 0..<4, using: &random) > 0 { return ("GET", place + route, nil) }
    let sql = [
      "ATTACH '\(other).sqlite' AS o", "SELECT * FROM \(other)_only",
      "UPDATE item SET n = n + 1 WHERE id = 1 RETURNING name",
      "SELECT * FROM pragma_database_list", "VACUUM INTO '\(other).db'",
    ].randomElement(using: &random)!
    // The transaction has the same name as another tenant's, whose outcome must not be revealed.
    let body = "{\"statements\":[{\"sql\":\"\(sql)\"}],\"once\":\"k \(sql.prefix(12)) \(other)\"}"
    return ("POST", place + "/v1/transactions", body)
  }

  /// Checks that every line belongs to one database, and has nothing of others except the requested path.
  private func checkLogs(_ folder: TemporaryFolder) throws {
    for name in ["access.log", "audit.log"] {
      let lines = try String(contentsOfFile: folder.path(name), encoding: .utf8).split(separator: "\n")
      #expect(lines.count > 5, "\(name)")
      for line in lines {
        let entry = try JSONParser.parse(Array(line.utf8))
        guard case .string(let database)? = entry["database"] else { continue }
        if case .string(let subject)? = entry["sub"] { #expect(subject == "user of \(database)", "\(name): \(line)") }
        for other in Self.words where other != database {
          let path = if case .string(let path)? = entry["path"] { path } else { "" }
          #expect(!line.replacing(path, with: "").contains(other), "\(name): \(line)")
        }
      }
      #expect(Self.words.allSatisfy { word in lines.contains { $0.contains("\"database\":\"\(word)\"") } }, "\(name)")
    }
  }

  @Test func `Subscriptions that come back with versions and positions of others`() throws {
    let folder = try TemporaryFolder()
    let live = try serve(folder)
    let loot = try look(live)
    for word in Self.words {
      let client = try live.connect(word, token: try token(word))
      // With a tag of its own it would get a patch.
      for (number, tag) in loot.tags.enumerated() where Self.words[number] != word {
        try client.send("{\"type\":\"subscribe\",\"id\":\"l\(number)\",\"query\":{\"from\":\"item\"},\"since\":\(tag)}")
        while client.models["l\(number)"]?.isComplete != true { try client.receive() }
        let rows = client.models["l\(number)"]?.visibleRows ?? []
        let names = rows.compactMap { if case .string(let name)? = $0?["name"] { name } else { nil } }
        #expect(names.count == 20 && names.allSatisfy { $0.hasPrefix(word) })
      }
      for (number, position) in loot.positions.enumerated() where Self.words[number] != word {
        try client.send("{\"type\":\"changes\",\"id\":\"c\(number)\",\"since\":\"\(position)\"}")
        let message = try client.receive()
        for other in Self.words where other != word { #expect(!message.jsonText.contains(other)) }
      }
    }
  }
}
