import Foundation
import LiveQuery
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Totals on a socket, over REST, in streams, of published queries and under roles: protocol 2 and 3.2.
@Suite struct LiveTotalsTests {
  private static let schema = """
    CREATE TABLE well(id INTEGER PRIMARY KEY, county TEXT, name TEXT, depth REAL, owner INT);
    INSERT INTO well VALUES (1, 'Adams', 'a', 10, 7), (2, 'Adams', 'b', 20, 8), (3, 'Weld', 'c', 30.5, 7),
      (4, 'Weld', 'd', NULL, 7), (5, 'Baca', 'e', 5, 8);
    """
  private static let totals = #""totals":{"n":"count(*)","feet":"sum(depth)"}"#
  private static let query = #"{"from":"well","select":["name"],"sectionBy":"county","orderBy":["name"],\#(totals)}"#

  private func totals(_ client: LiveClient, _ id: String = "a") -> String {
    guard let model = client.models[id] else { return "nothing" }
    let sections = model.sections.map { "\($0.name.short) \(JSONValue.object($0.totals).short)" }
    return ([JSONValue.object(model.totals).short] + sections).joined(separator: ", ")
  }

  /// One bad row affects neither the other totals nor the list.
  @Test func `What cannot be computed is null, and errors says why`() throws {
    let live = try LiveServer(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, g, n INT, j); INSERT INTO t VALUES (1, 'a', 9223372036854775807, '{}'), (2, 'b', 1, '1');
      """)
    let client = try live.connect()
    let query =
      #"{"from":"t","select":["n"],"sectionBy":"g","totals":{"c":"count(*)","n":"sum(n)"},"alongside":{"s":"SELECT sum(n) FROM t"}}"#
    try client.subscribe("a", query)
    #expect(totals(client) == "{c:2 n:null}, 'a' {c:1 n:{$int:'9223372036854775807'}}, 'b' {c:1 n:1}")
    let errors = "{alongside.s:'integer overflow' totals.n:'integer overflow'}"
    #expect(client.last["a"]?["errors"]?.short == errors)
    try live.writer.run("UPDATE t SET n = 5 WHERE id = 1")
    try client.catchUp(["a"])
    #expect(
      totals(client) == "{c:2 n:6}, 'a' {c:1 n:5}, 'b' {c:1 n:1}" && client.models["a"]?.alongside["s"]?.short == "6")
    #expect(client.last["a"]?["errors"] == nil)
    try live.writer.run("INSERT INTO t VALUES (3, 'b', 9223372036854775807, '')")
    try client.catchUp(["a"])
    #expect(totals(client) == "{c:3 n:null}, 'a' {c:1 n:null}, 'b' {c:2 n:null}" && client.ended["a"] == nil)
    #expect(client.last["a"]?["errors"]?.short == errors)
    try live.writer.run("DELETE FROM t WHERE id = 3")
    try client.catchUp(["a"])
    #expect(totals(client) == "{c:2 n:6}, 'a' {c:1 n:5}, 'b' {c:1 n:1}")
    live.stop()
  }

  @Test func `A change of totals alone is a patch, and says nothing else`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("a", Self.query, window: (0, 1))
    #expect(
      totals(client)
        == "{feet:65.5 n:5}, 'Adams' {feet:30.0 n:2}, 'Baca' {feet:5.0 n:1}, 'Weld' {feet:30.5 n:2}")
    // The query neither selects nor sorts by the depth, and the well is outside the window.
    try live.writer.run("UPDATE well SET depth = 40 WHERE id = 4")
    try client.catchUp(["a"])
    let patch = try #require(client.last["a"]?.members)
    #expect(Set(patch.keys) == ["type", "id", "from", "to", "commit", "total", "window", "totals", "sectionTotals"])
    #expect(patch["totals"]?.short == "{feet:105.5}" && patch["sectionTotals"]?.short == "[[2 {feet:70.5}]]")
    // Neither an unchanged total nor a column that is not read causes a message.
    let before = client.changes["a"]
    try live.writer.run(
      "BEGIN; UPDATE well SET depth = 41 WHERE id = 3; UPDATE well SET depth = 29.5 WHERE id = 4; COMMIT;")
    try live.writer.run("UPDATE well SET owner = 1")
    try client.catchUp(["a"])
    #expect(client.changes["a"] == before)
    // One section is deleted, another is inserted with its totals, and the third one's total has a new index.
    try live.writer.run("UPDATE well SET county = 'Custer' WHERE county = 'Baca'; DELETE FROM well WHERE id = 3")
    try client.catchUp(["a"])
    #expect(
      totals(client)
        == "{feet:64.5 n:4}, 'Adams' {feet:30.0 n:2}, 'Custer' {feet:5.0 n:1}, 'Weld' {feet:29.5 n:1}")
    try live.writer.run("DELETE FROM well")
    try client.catchUp(["a"])
    #expect(totals(client) == "{feet:null n:0}")
    live.stop()
  }

  @Test func `A client that comes back and one that asks for another query get totals by patch`() throws {
    let live = try LiveServer(Self.schema)
    let first = try live.connect()
    try first.subscribe("a", Self.query, window: (0, 1))
    let held = try #require(first.models["a"])
    try live.writer.run("UPDATE well SET depth = 1 WHERE id = 5")
    let second = try live.connect()
    try second.resume("a", Self.query, held)
    #expect(second.last["a"]?["type"] == .string("patch"))
    #expect(totals(second).hasPrefix("{feet:61.5 n:5}") && totals(second).contains("'Baca' {feet:1.0 n:1}"))
    func requery(_ query: String) throws -> JSONValue? {
      try second.send(#"{"type":"requery","id":"a","query":\#(query)}"#)
      try second.catchUp(["a"])
      return second.last["a"]?["type"]
    }
    #expect(
      try requery(Self.query.replacing(#""orderBy""#, with: #""where":"depth > 4","orderBy""#)) == .string("patch"))
    #expect(totals(second) == "{feet:60.5 n:3}, 'Adams' {feet:30.0 n:2}, 'Weld' {feet:30.5 n:1}")
    // A query with other totals is a different list.
    #expect(try requery(Self.query.replacing("sum(depth)", with: "max(depth)")) == .string("snapshot"))
    #expect(totals(second).hasPrefix("{feet:30.5 n:5}"))
    live.stop()
  }

  @Test func `A list without sections has the totals of its only one`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("a", #"{"from":"well",\#(Self.totals)}"#, window: (0, 0))
    #expect(totals(client) == "{feet:65.5 n:5}, '' {feet:65.5 n:5}")
    try live.writer.run("DELETE FROM well WHERE id = 1")
    try client.catchUp(["a"])
    #expect(totals(client) == "{feet:55.5 n:4}, '' {feet:55.5 n:4}")
    try client.subscribe("refused", #"{"from":"well","limit":2,\#(Self.totals)}"#)
    #expect(client.ended["refused"] == "bad_query")
    live.stop()
  }

  @Test func `Snapshots and streams have totals`() throws {
    let live = try LiveServer(Self.schema)
    let totals = "%7B%22n%22:%22count(*)%22,%22deep%22:%22max(depth)%22%7D"
    let path = "/v1/snapshot?from=well&sectionBy=county&limit=1&totals=\(totals)"
    let response = try live.http("GET", path)
    let json = try JSONParser.parse(response.body)
    #expect(json["totals"]?.short == "{deep:30.5 n:5}")
    #expect(
      try json.list("sections").map { $0["totals"]?.short } == ["{deep:20.0 n:2}", "{deep:5.0 n:1}", "{deep:30.5 n:2}"])
    let stream = try EventClient(
      port: live.server.port, "/v1/subscriptions?from=well&select=name&limit=1&totals=\(totals)")
    try stream.load()
    let tag = try #require(response.headers["etag"])
    #expect(try live.http("GET", path, headers: ["If-None-Match: \(tag)"]).status == 304)
    try live.writer.run("UPDATE well SET depth = 99 WHERE id = 5")
    #expect(try live.http("GET", path, headers: ["If-None-Match: \(tag)"]).status == 200)
    let event = try #require(try stream.next())
    #expect(try event.event == "patch" && event.json()["totals"]?.short == "{deep:99.0}")
    for (wrong, message) in [
      ("count(*)", "totals"), ("%7B%22n%22:1%7D", "query.totals.n must be a string"),
      ("%7B%22n%22:%22depth%22%7D", "totals.n must be an aggregate"),
    ] {
      let refused = try live.http("GET", "/v1/snapshot?from=well&totals=\(wrong)")
      #expect(refused.status == 400 && refused.text.contains(message), "\(refused.text)")
    }
    live.stop()
  }

  @Test func `Published queries have totals, and roles those of the rows that they may read`() throws {
    let file = try ConfigurationFile(
      yaml: """
        roles:
          anonymous:
            tables:
              well: { rows: "owner = 7", columns: [id, county, depth] }
            queries: [any, drilled]
        queries:
          drilled: { query: { from: well, select: [county], where: "depth > :least", totals: { feet: "sum(depth)" } }, parameters: { least: { type: real } } }
        """, name: "x")
    let live = try LiveServer(Self.schema) {
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.roles = file.roles
    }
    let client = try live.connect()
    try client.subscribe("p", #"{"name":"drilled","params":{"least":15}}"#)
    #expect(totals(client, "p") == "{feet:30.5}, '' {feet:30.5}")
    try client.subscribe("a", #"{"from":"well","sectionBy":"county",\#(Self.totals)}"#, window: (0, 0))
    #expect(totals(client) == "{feet:40.5 n:3}, 'Adams' {feet:10.0 n:1}, 'Weld' {feet:30.5 n:2}")
    // A row that may no longer be read no longer counts.
    try live.writer.run("UPDATE well SET owner = 8 WHERE id = 3")
    try client.catchUp(["a", "p"])
    #expect(totals(client) == "{feet:10.0 n:2}, 'Adams' {feet:10.0 n:1}, 'Weld' {feet:null n:1}")
    #expect(totals(client, "p") == "{feet:null}, '' {feet:null}")
    for withheld in ["max(name)", "sum((SELECT owner FROM well))", "count(*) FILTER (WHERE owner = 8)"] {
      try client.subscribe("refused", #"{"from":"well","totals":{"x":"\#(withheld)"}}"#)
      #expect(client.ended["refused"] == "no_such_column", "\(withheld)")
    }
    live.stop()
  }
}
