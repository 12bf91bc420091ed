import Foundation
import Gateway
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Results while the limit of memory on its way to clients is reached.
@Suite struct BudgetTests {
  /// Ten copies of `t` are more than the budget; one is more than the kernel buffers for a client that does not read.
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
    INSERT INTO t SELECT i, hex(zeroblob(5000)) FROM n;
    CREATE TABLE small(id INTEGER PRIMARY KEY, a);
    INSERT INTO small VALUES (1, 'x');
    """

  @Test func `Who asks for more is refused, and nobody else notices`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.sockets.outgoingLimit = 32 << 20 }
    let follower = try live.connect()
    try follower.subscribe("s", #"{"from":"small"}"#)
    let stream = try RawSocket(port: live.server.port)
    try stream.write("GET /v1/subscriptions?from=small HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try stream.readResponse().status == 200)
    _ = try stream.readChunk()
    // 12 MB each.
    let target = "/v1/snapshot?from=t&limit=1200&shape=arrays"
    var hoarders: [RawSocket] = []
    var refusal: RawResponse?
    for _ in 0..<10 where refusal == nil {
      let socket = try RawSocket(port: live.server.port, receiveBuffer: 4_096)
      try socket.write("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let head = try socket.readResponse(bodyless: true)
      if head.status == 200 { hoarders.append(socket) } else { refusal = head }
    }
    #expect(hoarders.count == 2)
    #expect(refusal?.status == 503 && refusal?.headers["retry-after"] == "1")
    #expect(try live.http("GET", "/metrics").text.contains("freshet_refused_total{reason=\"memory\"} 1"))
    try live.writer.run("UPDATE small SET a = 'y'")
    try follower.catchUp(["s"])
    #expect(follower.line("s") == "''/: 1,'y'")
    #expect(String(decoding: try stream.readChunk(), as: UTF8.self).contains("event: patch"))
    withExtendedLifetime(hoarders) {}
    live.stop()
  }

  @Test func `With no room left requests on sockets and streams are refused, and served once there is`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.sockets.outgoingLimit = 12_050_000 }
    let client = try live.connect()
    try client.subscribe("s", #"{"from":"small"}"#)
    let hoarder = try RawSocket(port: live.server.port, receiveBuffer: 4_096)
    try hoarder.write("GET /v1/snapshot?from=t&limit=1200&shape=arrays HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try hoarder.readResponse(bodyless: true).status == 200)
    try client.send(#"{"type":"fetch","id":"s","offset":0,"limit":1}"#)
    let error = try client.receive("error")
    #expect(error["code"] == .string("overloaded") && error["fatal"] == .bool(false))
    #expect(error["retryable"] == .bool(true))
    try client.send(#"{"type":"subscribe","id":"q","query":{"from":"small"}}"#)
    let fatal = try client.receive("error")
    #expect(fatal["code"] == .string("overloaded") && fatal["fatal"] == .bool(true))
    #expect(try live.http("GET", "/v1/subscriptions?from=small").status == 503)
    #expect(try live.http("GET", "/v1/snapshot?from=small").status == 503)
    #expect(try live.http("GET", "/healthz").status == 200)
    try live.writer.run("UPDATE small SET a = 'y'")
    while client.line("s") != "''/: 1,'y'" { try client.receive() }
    hoarder.reset()
    while try live.http("GET", "/v1/snapshot?from=small").status == 503 {}
    try client.subscribe("q", #"{"from":"small"}"#)
    #expect(client.line("q") == "''/: 1,'y'")
    live.stop()
  }

  @Test func `Rows that no longer fit end the connection or the stream that asked for them`() throws {
    let row = "CREATE TABLE wide(id INTEGER PRIMARY KEY, a); INSERT INTO wide VALUES (1, hex(zeroblob(50000)));"
    // A request has room until the length of its answer is known.
    let live = try LiveServer(Self.schema + row) { $0.limits.sockets.outgoingLimit = 80_000 }
    let follower = try live.connect()
    try follower.subscribe("s", #"{"from":"small"}"#)
    let client = try live.connect()
    try client.send(#"{"type":"subscribe","id":"q","query":{"from":"wide"}}"#)
    #expect(try client.socket.readCloseCode() == 1013)
    let refusal = try live.http("GET", "/v1/subscriptions?from=wide")
    #expect(refusal.status == 503 && refusal.text.contains(#""code":"overloaded""#))
    #expect(try live.http("GET", "/v1/snapshot?from=wide").status == 503)
    // Wait until nothing is left of these subscriptions.
    client.socket.close()
    while try !live.http("GET", "/metrics").text.contains("\nfreshet_subscriptions 1\n") {}
    try live.writer.run("UPDATE small SET a = 'y'")
    try follower.catchUp(["s"])
    #expect(follower.line("s") == "''/: 1,'y'")
    live.stop()
  }
}
