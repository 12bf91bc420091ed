import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The order of a list's rows in messages: protocol 3.2, `order` and `sectionOrder`.
@Suite struct OrderTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, depth);
    INSERT INTO t VALUES (1, 'b', 3), (2, 'A', 2), (3, 'c', 1), (4, 'a', 1), (5, 'd', 1), (6, 'e', 1);
    """
  private static let query = #"{"from":"t","orderBy":["name","abs(depth) DESC"],"sectionBy":"substr(name, 1, 1)"}"#
  private static let order =
    "[{collation:'NOCASE' column:'name' descending:false nulls:'first'} {collation:'BINARY' column:null descending:true nulls:'last'} {collation:'BINARY' column:'id' descending:false nulls:'first'}]"
  private static let sectionOrder =
    "{collation:'BINARY' column:null descending:false nulls:'first' of:{calls:[['substr' 1 1]] column:'name'} sorted:true}"

  private func expectOrder(_ message: JSONValue, _ context: String) {
    #expect(message["order"]?.short == Self.order, "\(context)")
    #expect(message["sectionOrder"]?.short == Self.sectionOrder, "\(context)")
  }

  @Test(arguments: ["arrays", "objects"])
  func `Every snapshot has it`(shape: String) throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", Self.query, more: "\"shape\":\"\(shape)\"")
    expectOrder(try #require(client.last["q"]), "socket")
    let body = "{\"query\":\(Self.query),\"shape\":\"\(shape)\"}"
    let headers = ["Content-Type: application/json"]
    let answer = try live.http("POST", "/v1/snapshot", headers: headers, body: body)
    expectOrder(try JSONParser.parse(Array(answer.text.utf8)), "HTTP: \(answer.text)")
    let parts = "from=t&orderBy=name,abs(depth)%20DESC&sectionBy=substr(name,1,1)&shape=\(shape)"
    let stream = try EventClient(port: live.server.port, "/v1/subscriptions?\(parts)", headers: [], receiveBuffer: nil)
    expectOrder(try #require(try stream.next()).json(), "stream")
    live.stop()
  }

  @Test func `The patch that answers a requery has that of the new query, and no other patch has one`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.last["q"]?["sectionOrder"] == nil)
    try live.writer.run("UPDATE t SET depth = 9 WHERE id = 1")
    try client.catchUp(["q"])
    #expect(client.last["q"]?["type"] == .string("patch") && client.last["q"]?["order"] == nil)
    try client.send(#"{"type":"requery","id":"q","query":\#(Self.query)}"#)
    try client.catchUp(["q"])
    let patch = try #require(client.last["q"])
    #expect(patch["type"] == .string("patch"))
    expectOrder(patch, "patch")
    live.stop()
  }

  @Test func `Another collation in the schema comes as a snapshot`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    try live.writer.run(
      """
      BEGIN; CREATE TABLE new(id INTEGER PRIMARY KEY, name TEXT COLLATE RTRIM, depth); INSERT INTO new SELECT * FROM t; DROP TABLE t;
      ALTER TABLE new RENAME TO t; COMMIT
      """)
    while client.last["q"]?["order"]?.short.contains("RTRIM") != true { try client.receive() }
    #expect(client.last["q"]?["type"] == .string("snapshot"))
    live.stop()
  }
}
