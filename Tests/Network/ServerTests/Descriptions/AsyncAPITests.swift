import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// `/asyncapi.json` describes the messages on the socket.
@Suite struct AsyncAPITests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO t SELECT i, 'some text in section ' || (i % 7), NULL FROM n;
    """

  private func document(_ live: LiveServer) throws -> JSONValue {
    try JSONParser.parse(try live.http("GET", "/asyncapi.json").body)
  }

  /// The names of the messages of an operation.
  private func names(_ document: JSONValue, _ operation: String) throws -> [String] {
    try document.required("operations").required(operation).list("messages").map { message in
      String(try message.required("$ref").text().split(separator: "/").last!)
    }
  }

  @Test func `The messages described are those that the server understands`() throws {
    let live = try LiveServer(Self.schema)
    let document = try document(live)
    let schema = JSONSchema(root: document)
    let types = try names(document, "ask")
    #expect(
      Set(types) == [
        "subscribe", "window", "fetch", "locate", "requery", "resync", "unsubscribe", "transact", "ping",
        "authenticate", "askChanges",
      ])
    for type in types {
      let message = try document.required("components").required("messages").required(type)
      for example in try message.list("examples").map({ try $0.required("payload") }) {
        let faults = try schema.faults(of: example, try message.required("payload"))
        #expect(faults.isEmpty, "\(type): \(faults)")
        let bytes = Array(example.json.utf8)
        let (_, parsed) = try bytes.withUnsafeBytes { try ClientMessage.parse($0) }
        #expect("\(parsed)".hasPrefix(try message.required("name").text()), "\(parsed)")
      }
    }
    live.stop()
  }

  /// Sends every kind of message, and returns all messages that came.
  private func conversation(_ live: LiveServer, shape: String) throws -> [JSONValue] {
    let socket = try RawWebSocket(port: live.server.port)
    var messages: [JSONValue] = []
    func receive(until isLast: (JSONValue) throws -> Bool) throws {
      repeat { messages.append(try JSONParser.parse(try socket.readFrame().payload)) } while try !isLast(messages.last!)
    }
    func say(_ text: String, until type: String) throws {
      try socket.send(text)
      try receive { $0["type"] == .string(type) && ($0["complete"] ?? .bool(true)) == .bool(true) }
    }
    let query =
      #"{"from":"t","sectionBy":"a","totals":{"n":"count(*)","b":"max(b)","s":"sum(b)"},"alongside":{"n":"SELECT count(*) FROM t"}}"#
    try receive { $0["type"] == .string("hello") }
    try socket.send(#"{"type":"subscribe","id":"a","query":\#(query),"shape":"\#(shape)"}"#)
    try receive { $0["complete"] == .bool(true) }
    try socket.send(
      #"{"type":"subscribe","id":"w","query":\#(query),"shape":"\#(shape)","window":{"offset":0,"limit":9}}"#)
    try receive { $0["complete"] == .bool(true) }
    let writes = [
      // The sum is an overflow for a while.
      "UPDATE t SET b = 9223372036854775807 WHERE id IN (1, 2)", "UPDATE t SET b = NULL WHERE id IN (1, 2)",
      "DELETE FROM t WHERE id IN (7, 14)", "UPDATE t SET b = x'01', a = a WHERE id = 21",
      "INSERT INTO t VALUES (9000, 'some text in section 0', 9223372036854775807), (9001, 'another', 1.5)",
      "UPDATE t SET a = 'some text in section 1' WHERE id = 28", "UPDATE t SET id = 29000 WHERE id = 35",
      "DELETE FROM t WHERE a LIKE '%section 6'", "UPDATE t SET a = NULL WHERE id < 50",
    ]
    for sql in writes {
      try say(#"{"type":"transact","id":"x","statements":[{"sql":"\#(sql)"}]}"#, until: "committed")
      for id in ["a", "w"] { try say(#"{"type":"fetch","id":"\#(id)","offset":3,"limit":2}"#, until: "rows") }
    }
    try say(#"{"type":"window","id":"w","offset":5,"limit":9}"#, until: "rows")
    try say(#"{"type":"locate","id":"w","key":9000}"#, until: "located")
    try say(#"{"type":"locate","id":"w","key":1234567}"#, until: "located")
    let other = #"{"from":"t","where":"id < 100","sectionBy":"a","totals":{"n":"count(*)","b":"max(b)","s":"sum(b)"}}"#
    try say(#"{"type":"requery","id":"w","query":\#(other)}"#, until: "patch")
    try say(#"{"type":"resync","id":"w"}"#, until: "snapshot")
    try say(#"{"type":"unsubscribe","id":"w"}"#, until: "unsubscribed")
    try say(#"{"type":"unsubscribe","id":"w"}"#, until: "error")
    try say(#"{"type":"subscribe","id":"e","query":{"from":"nosuch"}}"#, until: "error")
    try say(#"{"type":"changes","id":"c","tables":["t"]}"#, until: "changes")
    let change = "UPDATE t SET a = 'of interest' WHERE id = 70"
    try socket.send(#"{"type":"transact","id":"x","statements":[{"sql":"\#(change)"}]}"#)
    try receive { $0["changes"] != nil && $0["type"] == .string("changes") }
    try say(#"{"type":"changes","id":"d","since":"long ago"}"#, until: "gap")
    try say(#"{"type":"nosuch"}"#, until: "error")
    try say(#"{"type":"ping","id":"é17"}"#, until: "pong")
    try say(#"{"type":"authenticate","id":"t","token":""}"#, until: "authenticated")
    return messages
  }

  @Test(arguments: ["arrays", "objects"])
  func `What the server says is as described`(shape: String) throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let document = try document(live)
    let schema = JSONSchema(root: document)
    let types = try names(document, "tell")
    var seen: Set<String> = []
    var members: Set<String> = []
    for message in try conversation(live, shape: shape) {
      let type = try message.required("type").text()
      seen.insert(type)
      if type == "patch" { members.formUnion((message.members ?? [:]).keys) }
      let described = try document.required("components").required("messages").required(type).required("payload")
      let faults = try schema.faults(of: message, described)
      #expect(faults.isEmpty, "\(message.json.prefix(300)): \(faults)")
    }
    #expect(seen == Set(types))
    let patch = try schema.resolve("#/components/schemas/PatchMessage").required("properties").members ?? [:]
    #expect(members == Set(patch.keys), "every member of a patch was seen")
    live.stop()
  }

  @Test func `What a stream says is as described`() throws {
    let live = try LiveServer(Self.schema)
    let document = try document(live)
    let schema = JSONSchema(root: document)
    let client = try EventClient(port: live.server.port, "/v1/subscriptions?from=t&limit=3000&orderBy=abs(b)")
    try client.load()
    try live.writer.run("DELETE FROM t WHERE id = 5")
    try client.next()
    // An integer overflow, after which the list cannot continue.
    try live.writer.run("UPDATE t SET b = -9223372036854775808 WHERE id = 7")
    var events = client.changes
    while let event = try client.next() { events.append(event) }
    #expect(Set(events.map(\.event)) == Set(try names(document, "stream")))
    for event in events {
      let described = try document.required("components").required("messages").required(event.event)
      let faults = try schema.faults(of: try event.json(), try described.required("payload"))
      #expect(faults.isEmpty, "\(event.event): \(faults)")
    }
    live.stop()
  }

  @Test func `What the feed says is as described`() throws {
    let live = try LiveServer(Self.schema)
    let document = try document(live)
    let schema = JSONSchema(root: document)
    let client = try EventClient(port: live.server.port, "/v1/changes?since=1")
    var events = [try #require(try client.next())]
    try live.writer.run("UPDATE t SET b = 1 WHERE id = 7; DELETE FROM t WHERE id = 8; ALTER TABLE t DROP COLUMN b")
    while !events.contains(where: { $0.data.contains("schema") }) { events.append(try #require(try client.next())) }
    #expect(Set(events.map(\.event)).union(["error"]) == Set(try names(document, "feed")))
    for event in events {
      let described = try document.required("components").required("messages").required(event.event)
      let faults = try schema.faults(of: try event.json(), try described.required("payload"))
      #expect(faults.isEmpty, "\(event.event): \(faults)")
    }
    live.stop()
  }
}
