import Foundation
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Requests and messages of one WebSocket session: protocol 3 and 5.
@Suite struct SessionTests {
  static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z');
    """
  static func many(_ count: Int) -> String {
    """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO t SELECT i, 'row ' || i FROM n;
    """
  }

  // MARK: - Subscriptions

  @Test func `A snapshot, patches, an end`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("a", #"{"from":"t"}"#)
    #expect(client.line("a") == "''/: 1,'x' 2,'y' 3,'z'")
    try live.writer.run("UPDATE t SET a = 'w' WHERE id = 2")
    while client.line("a") != "''/: 1,'x' 2,'w' 3,'z'" { try client.receive() }
    #expect(client.last["a"]?["type"] == .string("patch"))
    try client.send(#"{"type":"unsubscribe","id":"a"}"#)
    #expect(try client.receive("unsubscribed")["id"] == .string("a"))
    let changes = client.changes["a"]
    try live.writer.run("DELETE FROM t")
    try client.subscribe("b", #"{"from":"t"}"#)
    #expect(client.line("b") == "''/:")
    #expect(client.changes["a"] == changes, "nothing comes after the end")
    live.stop()
  }

  @Test(arguments: ["window", "fetch", "resync", "unsubscribe"])
  func `A request for a subscription that is not there is an error`(type: String) throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.send("{\"type\":\"\(type)\",\"id\":\"a\",\"offset\":0,\"limit\":1}")
    let error = try client.receive("error")
    #expect(error["code"] == .string("unknown_subscription") && error["id"] == .string("a"))
    #expect(error["fatal"] == .bool(false))
    live.stop()
  }

  @Test func `An id that is taken is refused, and the subscription that has it goes on`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("a", #"{"from":"t"}"#)
    try client.send(#"{"type":"subscribe","id":"a","query":{"from":"t","where":"0"}}"#)
    let error = try client.receive("error")
    #expect(error["code"] == .string("duplicate_subscription") && error["fatal"] == .bool(false))
    try live.writer.run("DELETE FROM t WHERE id > 1")
    try client.catchUp(["a"])
    #expect(client.line("a") == "''/: 1,'x'")
    live.stop()
  }

  @Test func `An id is free for another subscription at once, even while the first one fails`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    let bad = #"{"type":"subscribe","id":"a","query":{"from":"nosuch"}}"#
    let good = #"{"type":"subscribe","id":"a","query":{"from":"t"}}"#
    let end = #"{"type":"unsubscribe","id":"a"}"#
    try client.socket.socket.write([bad, end, good].flatMap { RawWebSocket.encode(.text, Array($0.utf8)) })
    while client.models["a"] == nil { try client.receive() }
    try live.writer.run("DELETE FROM t WHERE id > 1")
    try client.catchUp(["a"])
    #expect(client.line("a") == "''/: 1,'x'")
    try client.send(end)
    _ = try client.receive("unsubscribed")
    live.stop()
  }

  @Test func `Ids and parameters that look alike stay apart`() throws {
    let live = try LiveServer(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'é'), (2, 'e\u{301}');")
    let first = try live.connect()
    let second = try live.connect()
    let query = { (text: String) in "{\"from\":\"t\",\"where\":\"a = :a\",\"params\":{\"a\":\"\(text)\"}}" }
    try first.subscribe("q", query("é"))
    try first.subscribe("r", query("e\u{301}"))
    #expect(first.line("q").hasPrefix("''/: 1,") && first.line("r").hasPrefix("''/: 2,"))
    try first.send("{\"type\":\"subscribe\",\"id\":\"é\",\"query\":{\"from\":\"t\"}}")
    try second.send("{\"type\":\"subscribe\",\"id\":\"e\u{301}\",\"query\":{\"from\":\"t\"}}")
    let ids = try [first, second].map { Array(try $0.receive()["id"]!.text().utf8) }
    #expect(ids == [Array("é".utf8), Array("e\u{301}".utf8)])
    try live.writer.run("DELETE FROM t")
    let again = try [first, second].map { client in
      while true {
        let message = try client.receive()
        if case .string(let id)? = message["id"], id == "é", message["type"] == .string("patch") {
          return Array(id.utf8)
        }
      }
    }
    #expect(again == ids)
    live.stop()
  }

  @Test func `A connection may have so many subscriptions`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.subscriptionLimit = 2 }
    let client = try live.connect()
    for id in ["a", "b", "c"] { try client.subscribe(id, #"{"from":"t"}"#) }
    #expect(client.ended == ["c": "limit_exceeded"])
    try client.send(#"{"type":"unsubscribe","id":"a"}"#)
    _ = try client.receive("unsubscribed")
    try client.subscribe("c", #"{"from":"t"}"#)
    #expect(client.models["c"] != nil)
    live.stop()
  }

  @Test func `Sessions with one query share its versions; a controller is let go when nobody is left`() throws {
    let live = try LiveServer(Self.schema) { $0.lists.linger = .milliseconds(0) }
    let first = try live.connect()
    let second = try live.connect()
    try first.subscribe("a", #"{"from":"t"}"#)
    try second.subscribe("b", #"{"from":" t "}"#)
    #expect(first.models["a"]?.version == second.models["b"]?.version)
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try first.catchUp(["a"])
    try second.catchUp(["b"])
    #expect(first.models["a"]?.version == second.models["b"]?.version)
    let followed = { try live.http("GET", "/metrics").text.contains("freshet_controllers 1\n") }
    try first.send(#"{"type":"unsubscribe","id":"a"}"#)
    _ = try first.receive("unsubscribed")
    try second.catchUp(["b"])
    #expect(try followed(), "b is still there")
    second.socket.close()
    // The server learns of the closed connection at some time.
    let deadline = ContinuousClock.now + .seconds(10)
    while try followed(), ContinuousClock.now < deadline {}
    #expect(try !followed())
    live.stop()
  }

  // MARK: - Ping

  @Test func `A ping is answered while a query keeps the follower busy`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
    let slow = "(\(numbers) SELECT max(i) FROM n) > id"
    try client.socket.socket.write(
      [#"{"type":"subscribe","id":"s","query":{"from":"t","where":"\#(slow)"}}"#, #"{"type":"ping","id":"q"}"#]
        .flatMap { RawWebSocket.encode(.text, Array($0.utf8)) })
    #expect(try client.receive().short == "{id:'q' type:'pong'}")
    while client.models["s"] == nil { try client.receive() }
    try live.writer.run("DELETE FROM t WHERE id > 1")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,'x'", "the subscription of the same id goes on")
    live.stop()
  }

  // MARK: - Bad messages

  @Test(
    arguments: [
      (#"{"type":"nosuch","id":"a"}"#, "unknown_type", "a"), (#"{"id":"a"}"#, "bad_message", "a"),
      (#"{"type":1,"id":"a"}"#, "bad_message", "a"), (#"{"type":"subscribe","id":"a"}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"","query":{"from":"t"}}"#, "bad_message", ""),
      (#"{"type":"subscribe","query":{"from":"t"}}"#, "bad_message", nil),
      (#"{"type":"subscribe","id":7,"query":{"from":"t"}}"#, "bad_message", nil),
      (#"{"type":"subscribe","id":"a","query":"t"}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":1}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","limit":-1}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","limit":1.5}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","limit":1e999}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","limit":99999999999999999999}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t"},"window":[0,1]}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t"},"window":{"offset":0}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t"},"shape":"rows"}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","params":{"x":[1]}}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","params":{"x":{"$int":"1x"}}}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","params":{"x":{"$blob":"%"}}}}"#, "bad_message", "a"),
      (#"{"type":"subscribe","id":"a","query":{"from":"t","sectionBy":{"by":"a","order":"UP"}}}"#, "bad_query", "a"),
      (#"{"type":"transact","id":"a","statements":[]}"#, "bad_message", "a"),
      (#"{"type":"transact","id":"a","statements":[{"sql":"DELETE FROM t"}]}"#, "not_allowed", "a"),
    ] as [(String, String, String?)])
  func `A bad message is answered and the connection lives`(text: String, code: String, id: String?) throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.send(text)
    let error = try client.receive("error")
    #expect(error["code"] == .string(code), "\(error)")
    #expect(error["id"] == id.map { .string($0) })
    #expect(error["message"] != nil && error["retryable"] != nil && error["fatal"] == .bool(false))
    try client.subscribe("b", #"{"from":"t","key":[],"limit":null}"#, more: #""nosuch":{"a":[]}"#)
    #expect(client.line("b") == "''/: 1,'x' 2,'y' 3,'z'")
    live.stop()
  }

  enum Attack: String, CaseIterable {
    case notJSON, array, empty, deepNesting, notUTF8, binary, tooLong, halfAFrame, vanishesWithinAMessage, loneSurrogate

    var code: Int? {
      switch self {
      case .notJSON, .array, .empty, .deepNesting, .loneSurrogate: 4400
      case .notUTF8: 1007
      case .binary: 1003
      case .tooLong: 1009
      case .halfAFrame, .vanishesWithinAMessage: nil
      }
    }

    func perform(_ socket: RawWebSocket) throws {
      switch self {
      case .notJSON: try socket.send("{type:1}")
      case .array: try socket.send("[]")
      case .empty: try socket.send("")
      case .deepNesting: try socket.send(String(repeating: "[", count: 500_000))
      case .notUTF8: try socket.send(.text, [0x7B, 0x22, 0xFF, 0x22, 0x7D])
      case .binary: try socket.send(.binary, Array("{}".utf8))
      case .tooLong:
        // The server may hang up before it has read everything.
        try? socket.send("{\"type\":\"" + String(repeating: "x", count: 1 << 20) + "\"}")
      case .halfAFrame:
        try socket.socket.write(Array(RawWebSocket.encode(.text, Array("{\"type\":\"x\"}".utf8)).prefix(7)))
      case .vanishesWithinAMessage: try socket.send(.text, Array("{\"type\":".utf8), final: false)
      case .loneSurrogate: try socket.send(#"{"type":"\ud800"}"#)
      }
    }
  }

  @Test(arguments: Attack.allCases)
  func `What is no message ends the connection, and nobody else notices`(attack: Attack) throws {
    let live = try LiveServer(Self.schema)
    let witness = try live.connect()
    try witness.subscribe("w", #"{"from":"t"}"#)
    let attacker = try live.connect()
    try attacker.subscribe("a", #"{"from":"t"}"#)
    try attack.perform(attacker.socket)
    if let code = attack.code { #expect(try attacker.socket.readCloseCode() == code) }
    attacker.socket.socket.reset()
    for value in 1...5 {
      try live.writer.run("UPDATE t SET a = \(value)")
      try witness.catchUp(["w"])
      #expect(witness.line("w") == "''/: 1,\(value) 2,\(value) 3,\(value)")
    }
    live.stop()
  }
}
