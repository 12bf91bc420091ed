import Dispatch
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Server-sent events: protocol 4, `/v1/subscriptions`.
@Suite struct EventStreamTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z');
    """
  private static let many = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO t SELECT i, 'some text that takes room ' || i FROM n;
    """

  private func open(
    _ live: LiveServer, _ parameters: String, headers: [String] = [], receiveBuffer: Int32? = nil
  ) throws -> EventClient {
    try EventClient(
      port: live.server.port, "/v1/subscriptions?\(parameters)", headers: headers, receiveBuffer: receiveBuffer)
  }

  @Test(arguments: ["from=t", "from=t&shape=arrays", "query=%7B%22from%22:%22t%22%7D"])
  func `A stream has the snapshot, then a patch for every change`(parameters: String) throws {
    let live = try LiveServer(Self.schema)
    let client = try open(live, parameters)
    #expect(client.head.status == 200 && client.head.headers["content-type"] == "text/event-stream")
    #expect(client.head.headers["cache-control"] == "no-store")
    let first = try #require(try client.next())
    #expect(first.event == "snapshot" && first.id == client.model.version)
    let json = try first.json()
    #expect(json["type"] == .string("snapshot") && json["window"]?.short == "{limit:100 offset:0}")
    #expect(try json.list("rows")[0].short == (parameters.hasSuffix("arrays") ? "[1 'x']" : "{a:'x' id:1}"))
    #expect(client.line == "1,'x' 2,'y' 3,'z'")
    try live.writer.run("UPDATE t SET a = 'new' WHERE id = 2; INSERT INTO t VALUES (9, 'w')")
    while client.line != "1,'x' 2,'new' 3,'z' 9,'w'" {
      let event = try #require(try client.next())
      #expect(try event.event == "patch" && event.id == event.json().required("to").text())
    }
    live.stop()
  }

  @Test func `A window holds what it holds on a socket`() throws {
    let live = try LiveServer(Self.schema)
    let client = try open(live, "from=t&offset=1&limit=1")
    try client.load()
    #expect(client.line == "2,'y'" && client.model.total == 3)
    try live.writer.run("DELETE FROM t WHERE id = 2")
    try client.next()
    #expect(client.line == "3,'z'" && client.model.total == 2)
    live.stop()
  }

  @Test func `Only a version that the client has whole has an id`() throws {
    let live = try LiveServer(Self.many)
    let client = try open(live, "from=t&limit=5000")
    try client.load()
    #expect(client.changes.count > 2 && client.changes[0].event == "snapshot")
    for (index, event) in client.changes.enumerated() {
      #expect(event.id == (index == client.changes.count - 1 ? client.model.version : ""))
      if index > 0 { #expect(event.event == "rows") }
    }
    #expect(client.model.visibleRows.count == 5_000)
    live.stop()
  }

  @Test func `A client that reads slowly gets fewer and larger patches, and catches up`() throws {
    let live = try LiveServer(Self.many)
    let slow = try open(live, "from=t&limit=5000", receiveBuffer: 4_096)
    let quick = try open(live, "from=t&where=id%3D1")
    try quick.load()
    for round in 1...120 {
      try live.writer.run("UPDATE t SET a = a || \(round) WHERE id <= 1000")
      let changes = quick.changes.count
      while quick.changes.count == changes { try quick.next() }
    }
    try live.writer.run("INSERT INTO t VALUES (9999, 'end')")
    while slow.model.total != 5_001 { try slow.next() }
    #expect(slow.changes.count { $0.event == "patch" } < 60)
    live.stop()
  }

  @Test func `minInterval is the least time between two patches`() throws {
    let live = try LiveServer(Self.schema)
    let quick = try open(live, "from=t")
    let slow = try open(live, "from=t&minInterval=300")
    try quick.load()
    try slow.load()
    for value in 1...20 {
      try live.writer.run("UPDATE t SET a = \(value) WHERE id = 1")
      while !quick.line.hasPrefix("1,\(value) ") { try quick.next() }
    }
    while !slow.line.hasPrefix("1,20 ") { try slow.next() }
    #expect(slow.changes.count < 10)
    live.stop()
  }

  // MARK: - Coming back

  @Test func `A client that comes back gets what it missed`() throws {
    let live = try LiveServer(Self.schema)
    var client = try open(live, "from=t")
    try client.load()
    let held = client.lastEventID
    client.socket.close()
    try live.writer.run("UPDATE t SET a = 'while away' WHERE id = 1")
    for way in [["Last-Event-ID: \(held)"], []] {
      client = try open(live, "from=t" + (way.isEmpty ? "&lastEventId=\(held)" : ""), headers: way)
      let first = try client.socket.readChunk()
      let text = String(decoding: first, as: UTF8.self)
      #expect(text.hasPrefix("event: patch") && text.contains("\"from\":\"\(held)\"") && text.contains("while away"))
    }
    for unknown in ["Last-Event-ID: x.1", "Last-Event-ID: "] {
      client = try open(live, "from=t", headers: [unknown])
      #expect(try client.next()?.event == "snapshot")
    }
    live.stop()
  }

  @Test func `A browser repeats the URL, but its window has moved`() throws {
    let live = try LiveServer(Self.schema)
    var client = try open(live, "from=t&offset=1&limit=1")
    try client.load()
    try live.writer.run("INSERT INTO t VALUES (0, 'first')")
    while client.model.total != 4 { try client.next() }
    #expect(client.model.window?.offset == 2)
    let header = ["Last-Event-ID: \(client.lastEventID)"]
    client = try open(live, "from=t&offset=1&limit=1", headers: header)
    #expect(try client.next()?.event == "snapshot" && client.line == "1,'x'")
    live.stop()
  }

  @Test func `Nothing to say is no reason to keep the head of the answer back`() throws {
    let live = try LiveServer(Self.schema)
    let client = try open(live, "from=t")
    try client.load()
    let back = try open(live, "from=t", headers: ["Last-Event-ID: \(client.lastEventID)"])
    #expect(back.head.status == 200)
    live.stop()
  }

  @Test func `Silence is filled with comments`() throws {
    let live = try LiveServer(Self.schema) { $0.lists.heartbeat = .milliseconds(100) }
    let client = try open(live, "from=t")
    try client.load()
    #expect(try client.socket.readChunk() == Array(":\n\n".utf8))
    #expect(try client.socket.readChunk() == Array(":\n\n".utf8))
    try live.writer.run("DELETE FROM t")
    try client.next()
    #expect(client.line == "")
    live.stop()
  }

  // MARK: - Errors

  @Test(arguments: [
    ("GET", "", 400, "bad_message"), ("GET", "from=nosuch", 400, "no_such_table"),
    ("GET", "from=t&where=nosuch", 400, "no_such_column"), ("GET", "from=t&limit=x", 400, "bad_query"),
    ("GET", "from=t&wait=1", 400, "bad_query"), ("GET", "from=t&minInterval=-1", 400, "bad_query"),
    ("GET", "name=nosuch", 400, "bad_query"), ("GET", "name=x&from=t", 400, "bad_query"),
    ("GET", "from=sqlite_master", 403, "not_allowed"), ("POST", "from=t", 405, "method_not_allowed"),
  ])
  func `What cannot be followed is answered with a problem`(
    method: String, parameters: String, status: Int, code: String
  ) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http(method, "/v1/subscriptions?\(parameters)", body: method == "POST" ? "{}" : nil)
    #expect(response.status == status && response.text.contains("\"code\":\"\(code)\""), "\(response.text)")
    #expect(response.headers["content-type"] == "application/problem+json")
    live.stop()
  }

  @Test func `What ends the subscription ends the stream, after saying why`() throws {
    let live = try LiveServer(Self.schema)
    let client = try open(live, "from=t&orderBy=abs(a)")
    try client.load()
    // An integer overflow, after which the list cannot continue.
    try live.writer.run("UPDATE t SET a = -9223372036854775808")
    var last: ServerEvent?
    while let event = try client.next() { last = event }
    let error = try #require(last)
    #expect(error.event == "error" && error.id == nil)
    #expect(try error.json()["fatal"] == .bool(true))
    // The connection ends after this event.
    #expect(try client.socket.readToEnd().isEmpty)
    live.stop()
  }

  @Test func `HEAD gets the head of a stream, and of a refusal`() throws {
    let live = try LiveServer(Self.schema)
    let good = try live.http("HEAD", "/v1/subscriptions?from=t")
    #expect(good.status == 200 && good.headers["content-type"] == "text/event-stream")
    #expect(try live.http("HEAD", "/v1/subscriptions?nosuch=1").status == 400)
    live.stop()
  }

  // MARK: - Life

  @Test func `A server that stops ends its streams`() throws {
    let live = try LiveServer(Self.schema)
    let clients = try (0..<3).map { _ in try open(live, "from=t") }
    for client in clients { try client.load() }
    let done = live.stopInBackground()
    for client in clients {
      #expect(try client.next() == nil)
      client.socket.close()
    }
    #expect(done.wait(timeout: .now() + 20) == .success)
  }

  @Test func `Streams and sockets side by side are told the same, and those who left nothing`() throws {
    let live = try LiveServer(Self.schema)
    let socket = try live.connect()
    try socket.subscribe("q", #"{"from":"t"}"#)
    var streams = try (0..<50).map { _ in try open(live, "from=t") }
    for stream in streams { try stream.load() }
    for stream in streams.prefix(25) { stream.socket.close() }
    streams.removeFirst(25)
    for value in 1...20 {
      try live.writer.run("UPDATE t SET a = \(value)")
      for stream in streams { while stream.line != "1,\(value) 2,\(value) 3,\(value)" { try stream.next() } }
    }
    try socket.catchUp(["q"])
    #expect(socket.models["q"]?.version == streams[0].lastEventID)
    #expect(Set(streams.map(\.lastEventID)).count == 1)
    live.stop()
  }
}
