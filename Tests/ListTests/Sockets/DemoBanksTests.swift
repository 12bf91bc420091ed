import Demo
import Foundation
import GRDB
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// The list of failed banks of the demo's page: two tables joined, both of them written to by the demo's writer.
@Suite struct DemoBanksTests {
  private static func query(_ section: String, isDescending: Bool) -> OracleQuery {
    OracleQuery(
      table: "bank JOIN closing ON closing.bank_id = bank.id", keys: ["id"],
      select: ["name", "city", "cert", "closed", "acquirer", "assets"], filter: nil, section: (section, isDescending),
      orderBy: ["closed DESC"], limit: nil, window: nil)
  }

  @Test(arguments: [("state", false), ("substr(closed, 1, 4)", true)])
  func `Failed banks are followed change by change`(section: String, isDescending: Bool) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try DemoDatabase.create(at: path, rows: 10)
    let live = try LiveServer(".restore '\(path)'")
    let query = Self.query(section, isDescending: isDescending)
    let encoded = try #require(query.json.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let explanation = try JSONParser.parse(try live.http("GET", "/v1/explain?query=\(encoded)").body)
    #expect(explanation["maintenance"] == .string("incremental"), "\(explanation.short)")
    #expect(try explanation.list("tables").map { $0["following"] } == [.string("key"), .string("join")])

    let client = try live.connect()
    try client.subscribe("all", query.json)
    try client.subscribe("page", query.json, window: (0, 20))
    #expect(client.models["all"]?.total == DemoDatabase.banks)
    let connection = try Connection(live.path, .writing)
    var writer = try DemoWriter(connection, seed: 5)
    for _ in 0..<20 {
      for _ in 0..<20 { _ = try connection.transaction { try writer.write(connection) } }
      try client.catchUp(["all", "page"])
      let answer = try live.queue.read { try query.answer($0) }
      #expect(client.models["all"]?.difference(from: answer) == nil)
      #expect(client.models["page"]?.difference(from: answer) == nil)
    }
    #expect(client.changes["all"]! > 5 && client.last["all"]?["type"] == .string("patch"))
    live.stop()
  }
}
