import Foundation
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// The checks between the sockets and the routes: which clients are admitted, how often, and at which address.
@Suite final class DoorTests: Sendable {
  private static let good = "https://good.example"
  private static let insert = #"{"statements":[{"sql":"INSERT INTO t(a) VALUES (1)"}]}"#

  private func serve(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws -> LiveServer {
    try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY, a);") {
      $0.access.allowsWrites = true
      $0.pages.allowedOrigins = [Self.good]
      configure(&$0)
    }
  }

  // MARK: - What browsers say

  @Test(arguments: [
    ("application/json", 200), ("application/json; charset=utf-8", 200), ("Application/JSON;charset=\"UTF-8\"", 200),
    ("application/json ;a=b", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("", 415),
    ("multipart/form-data; boundary=x", 415), ("application/problem+json", 415), ("text/plain; application/json", 415),
    ("application/jsonx", 415), ("application/json, text/plain", 415),
  ])
  func `A body must say that it is JSON`(type: String, status: Int) throws {
    let live = try serve()
    for (route, body) in [("/v1/transactions", Self.insert), ("/v1/snapshot", #"{"query":{"from":"t"}}"#)] {
      let response = try live.http("POST", route, headers: ["Content-Type: \(type)"], body: body)
      #expect(response.status == status, "\(route)")
      if status == 415 {
        #expect(response.text.contains(#""code":"bad_message""#) && response.text.contains("Content-Type"))
      }
    }
    live.stop()
  }

  @Test func `A body without a type is refused, and nothing is written`() throws {
    let live = try serve()
    let socket = try RawSocket(port: live.server.port)
    let length = "Content-Length: \(Self.insert.utf8.count)"
    try socket.write("POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n\r\n\(Self.insert)")
    #expect(try socket.readResponse().status == 415)
    #expect(try live.http("GET", "/v1/snapshot?from=t").text.contains(#""total":0"#))
    live.stop()
  }

  @Test(arguments: [
    ("cross-site", nil, 403), ("same-site", nil, 403), ("cross-site", "http://localhost", 403),
    ("same-site", "http://localhost", 403), ("cross-site", good, 200), ("same-site", good, 200),
    ("cross-site", "https://evil.example", 403), ("same-origin", "http://localhost", 200), ("same-origin", nil, 200),
    ("none", nil, 200), ("nonsense", nil, 403),
  ])
  func `A page of another site may not post, unless its origin is allowed`(
    site: String, origin: String?, status: Int
  ) throws {
    let live = try serve()
    let headers = ["Sec-Fetch-Site: \(site)"] + (origin.map { ["Origin: \($0)"] } ?? [])
    for (route, body) in [("/v1/transactions", Self.insert), ("/v1/snapshot", #"{"query":{"from":"t"}}"#)] {
      let response = try live.http("POST", route, headers: headers, body: body)
      #expect(response.status == status, "\(route)")
      if status == 403 { #expect(response.text.contains(#""code":"not_allowed""#)) }
    }
    live.stop()
  }

  @Test func `A link from another site opens the page`() throws {
    let folder = try TemporaryFolder()
    try "<html>".write(toFile: folder.path("index.html"), atomically: true, encoding: .utf8)
    let live = try serve { $0.pages.directory = (folder.path("index.html") as NSString).deletingLastPathComponent }
    let navigation = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
    #expect(try live.http("GET", "/", headers: navigation).text == "<html>")
    #expect(try live.http("GET", "/v1/snapshot?from=t", headers: navigation).status == 200)
    live.stop()
  }

  // MARK: - How much

  private let time = Atomic<Int64>(1_000_000_000)

  private func limited(_ configure: @escaping (inout ServerConfiguration) -> Void) throws -> LiveServer {
    try serve {
      $0.clocks.sockets = { self.time.load(ordering: .relaxed) }
      configure(&$0)
    }
  }

  private func wait(milliseconds: Int64) { time.add(milliseconds * 1_000, ordering: .relaxed) }

  @Test func `Requests beyond an address's rate are answered 429 with when to come back`() throws {
    let live = try limited { $0.limits.requestsPerAddress = 2 }
    let socket = try RawSocket(port: live.server.port)
    for _ in 0..<10 { #expect(try socket.request("GET", "/healthz").status == 200) }
    for target in ["/healthz", "/", "/v1/snapshot?from=t"] {
      let socket = try RawSocket(port: live.server.port)
      let response = try socket.request("GET", target)
      #expect(response.status == 429 && response.headers["retry-after"] == "1")
      #expect(response.headers["content-type"] == "application/problem+json")
      #expect(response.text.contains(#""code":"limit_exceeded""#))
      #expect(try socket.readToEnd() == [])
    }
    #expect(throws: RawSocket.Failure.self, "a handshake is a request") { try RawWebSocket(port: live.server.port) }
    let other = try RawSocket(port: live.server.port, source: "127.0.0.2")
    #expect(try other.request("GET", "/healthz").status == 200, "others have their own")
    #expect(try other.request("GET", "/metrics").text.contains(#"freshet_refused_total{reason="rate"} 4"#))
    wait(milliseconds: 500)
    #expect(try live.http("GET", "/healthz").status == 200)
    #expect(try live.http("GET", "/healthz").status == 429)
    live.stop()
  }

  @Test func `Messages beyond an address's rate are refused, and who keeps sending them is closed with 4429`() throws {
    let live = try limited {
      $0.limits.messagesPerAddress = 2
      $0.limits.set(.messagesPerSecond, to: 0)
    }
    let client = try live.connect()
    for number in 0..<10 {
      try client.send(#"{"type":"ping","id":"\#(number)"}"#)
      #expect(try client.receive("pong")["id"] == .string("\(number)"))
    }
    let second = try live.connect()
    try second.send(#"{"type":"subscribe","id":"s","query":{"from":"t"}}"#)
    let error = try second.receive("error")
    #expect(error["code"] == .string("limit_exceeded") && error["id"] == .string("s"))
    #expect(error["fatal"] == .bool(true))
    wait(milliseconds: 500)
    try second.send(#"{"type":"ping","id":"again"}"#)
    _ = try second.receive("pong")
    for _ in 0..<101 { try client.send(#"{"type":"ping","id":"x"}"#) }
    #expect(try client.socket.readCloseCode() == 4429)
    wait(milliseconds: 500)
    try second.send(#"{"type":"ping","id":"still here"}"#)
    _ = try second.receive("pong")
    live.stop()
  }

  @Test func `An address has so many subscriptions, whatever they are of, and gets them back`() throws {
    let live = try serve { $0.limits.subscriptionsPerAddress = 3 }
    let (first, second) = (try live.connect(), try live.connect())
    for id in ["a", "b"] { try first.subscribe(id, #"{"from":"t"}"#) }
    try second.subscribe("c", #"{"from":"t"}"#)
    try second.send(#"{"type":"subscribe","id":"d","query":{"from":"t"}}"#)
    let error = try second.receive("error")
    #expect(error["code"] == .string("limit_exceeded") && error["id"] == .string("d"))
    let stream = try live.http("GET", "/v1/subscriptions?from=t")
    #expect(stream.status == 429 && stream.text.contains(#""code":"limit_exceeded""#))
    try first.send(#"{"type":"unsubscribe","id":"a"}"#)
    _ = try first.receive("unsubscribed")
    try second.subscribe("d", #"{"from":"t"}"#)
    first.socket.close()
    // The server notices the closed connection on its own thread.
    let isServed = try (0..<1_000).contains { _ in
      let socket = try RawSocket(port: live.server.port)
      try socket.write("GET /v1/subscriptions?from=t HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return try socket.readResponse(bodyless: true).status == 200
    }
    #expect(isServed)
    live.stop()
  }

  @Test func `This machine's own clients are not limited unless asked for`() throws {
    let live = try limited { _ in }
    let socket = try RawSocket(port: live.server.port)
    for _ in 0..<6_000 { #expect(try socket.request("GET", "/nothing").status == 404) }
    live.stop()
  }

  // MARK: - Where

  @Test func `The policy of static files is a setting`() throws {
    let header = "content-security-policy"
    let live = try serve()
    #expect(try live.http("GET", "/").headers[header]?.hasPrefix("default-src 'self'; connect-src") == true)
    live.stop()
    let other = try serve { $0.pages.contentSecurityPolicy = "default-src *" }
    #expect(try other.http("GET", "/").headers[header] == "default-src *")
    other.stop()
    let none = try serve { $0.pages.contentSecurityPolicy = "" }
    let response = try none.http("GET", "/")
    #expect(response.headers[header] == nil && response.headers["x-content-type-options"] == "nosniff")
    none.stop()
  }

  @Test func `Metrics have an address of their own, where nothing is limited, and are then nowhere else`() throws {
    let live = try serve {
      $0.listening.metricsAddress = SocketAddress(host: "127.0.0.1", port: 0)
      $0.limits.requestsPerAddress = 1
      $0.limits.set(.connectionsPerAddress, to: 1)
    }
    let port = try #require(live.server.metricsPort)
    for _ in 0..<20 {
      for path in ["/metrics", "/healthz", "/readyz"] {
        #expect(try RawSocket(port: port).request("GET", path).status == 200)
      }
    }
    #expect(try RawSocket(port: port).request("GET", "/metrics").text.contains("freshet_sessions 0"))
    for path in ["/", "/v1/snapshot?from=t", "/v1/live", "/metrics/x", "/openapi.json"] {
      #expect(try RawSocket(port: port).request("GET", path).status == 404, "\(path)")
    }
    let evil = ["Host: evil.example"]
    let socket = try RawSocket(port: port)
    try socket.write("GET /metrics HTTP/1.1\r\n\(evil[0])\r\n\r\n")
    #expect(try socket.readResponse().status == 403)
    let main = try RawSocket(port: live.server.port)
    for path in ["/metrics", "/healthz", "/readyz"] { #expect(try main.request("GET", path).status == 404) }
    live.stop()
    #expect(throws: RawSocket.Failure.self) { try RawSocket(port: port) }
  }
}
