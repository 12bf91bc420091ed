import Foundation
import LiveQuery
import Logging
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Tokens on sockets, streams and requests: protocol 3.1, 4 and 5.
@Suite struct AuthenticationTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """
  private let date = ManualDate()
  private let clock = ManualClock()

  private func serve(_ configuration: JWTConfiguration? = nil) throws -> LiveServer {
    let tokens = try configuration ?? .shared()
    return try LiveServer(Self.schema) {
      $0.authentication = tokens
      $0.clocks.wall = date.clock
      $0.clocks.monotonic = clock.clock
    }
  }

  /// A token that expires in some seconds.
  private func token(_ claims: String = #""sub":"u","role":"clerk""#, seconds: Int64 = 600) async throws -> String {
    try TokenMaker.shared().token("{\(claims),\"exp\":\(date.now + seconds)}")
  }

  private func authenticate(_ token: String, _ id: String = "t") -> String {
    #"{"type":"authenticate","id":"\#(id)","token":"\#(token)"}"#
  }

  // MARK: - Requests

  @Test func `A request without a token is anonymous, one with a wrong token is 401 everywhere`() async throws {
    let live = try serve()
    let good = try await token()
    for target in ["/v1/snapshot?from=t", "/v1/queries", "/v1/explain?from=t", "/v1/schema"] {
      let separator = target.contains("?") ? "&" : "?"
      #expect(try live.http("GET", target).status == 200)
      for (token, status) in [(good, 200), (good + "A", 401), ("", 401)] {
        let byHeader = try live.http("GET", target, headers: ["Authorization: Bearer \(token)"])
        let byParameter = try live.http("GET", "\(target)\(separator)access_token=\(token)")
        for response in [byHeader, byParameter] {
          #expect(response.status == status, "\(target): \(response.text)")
          if status == 200 { continue }
          #expect(response.headers["content-type"] == "application/problem+json")
          #expect(response.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
          #expect(response.text.contains(#""code":"unauthenticated""#))
        }
      }
    }
    for target in ["/healthz", "/readyz", "/metrics"] {
      let response = try live.http("GET", target, headers: ["Authorization: Bearer \(good)A"])
      #expect(response.status == 200, "whether the server is well is nobody's secret")
    }
    live.stop()
  }

  @Test func `A body is answered with 401 as well, and so is a stream`() async throws {
    let live = try serve()
    let bad = try await token(seconds: -31)
    let response = try live.http(
      "POST", "/v1/snapshot", headers: ["Authorization: bearer \(bad)"], body: #"{"query":{"from":"t"}}"#)
    #expect(response.status == 401 && response.text.contains("the token has expired"))
    #expect(try live.http("GET", "/v1/subscriptions?from=t&access_token=\(bad)").status == 401)
    live.stop()
  }

  @Test func `Two tokens are refused, credentials of other schemes are not looked at`() async throws {
    let live = try serve()
    let good = try await token()
    let target = "/v1/snapshot?from=t"
    #expect(
      try live.http("GET", "\(target)&access_token=\(good)", headers: ["Authorization: Bearer \(good)"]).status == 401)
    #expect(try live.http("GET", "\(target)&access_token=\(good)&access_token=\(good)").status == 401)
    #expect(try live.http("GET", target, headers: ["Authorization: Basic eDp5"]).status == 200)
    live.stop()
  }

  @Test func `Without authentication tokens are ignored`() throws {
    let live = try LiveServer(Self.schema)
    #expect(try live.http("GET", "/v1/snapshot?from=t&access_token=x").status == 200)
    #expect(try live.http("GET", "/v1/snapshot?from=t", headers: ["Authorization: Bearer x"]).status == 200)
    let client = try live.connect(path: "/v1/live?access_token=x")
    try client.send(authenticate("x"))
    let answer = try client.receive("authenticated")
    #expect(answer["id"] == .string("t") && answer["role"] == .string("anonymous") && answer["expires"] == .null)
    live.stop()
  }

  @Test func `No explanation has the token in it`() async throws {
    let live = try serve()
    let good = try await token()
    let response = try live.http("GET", "/v1/explain?from=t&access_token=\(good)")
    #expect(response.status == 200 && !response.text.contains(good))
    live.stop()
  }

  // MARK: - Handshakes

  @Test func `A handshake with a wrong token is refused before the upgrade`() async throws {
    let live = try serve()
    let bad = try await token() + "A"
    let headers = RawWebSocket.handshakeHeaders + ["Sec-WebSocket-Protocol: freshet.v1"]
    for (path, more) in [("/v1/live?access_token=\(bad)", []), ("/v1/live", ["Authorization: Bearer \(bad)"])] {
      let response = try live.http("GET", path, headers: headers + more)
      #expect(response.status == 401 && response.text.contains(#""code":"unauthenticated""#))
      #expect(response.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
    }
    live.stop()
  }

  @Test func `A session is who its handshake's token says`() async throws {
    let live = try serve()
    let good = try await token()
    for (path, headers) in [("/v1/live?access_token=\(good)", []), ("/v1/live", ["Authorization: Bearer \(good)"])] {
      let client = try live.connect(path: path, headers: headers)
      try client.subscribe("a", #"{"from":"t"}"#)
      // A second time changes nothing for the subscription.
      try client.send(authenticate(good))
      let answer = try client.receive("authenticated")
      #expect(answer["role"] == .string("clerk") && answer["expires"] == .integer(date.now + 600))
      try live.writer.run("UPDATE t SET a = 'z' WHERE id = 2")
      try client.catchUp(["a"])
      #expect(client.ended.isEmpty && client.models["a"] != nil)
    }
    live.stop()
  }

  // MARK: - authenticate

  @Test func `A wrong token is an error that is not fatal, and who was there stays`() async throws {
    let live = try serve()
    let client = try live.connect()
    try client.send(authenticate(try await token()))
    _ = try client.receive("authenticated")
    try client.subscribe("a", #"{"from":"t"}"#)
    try client.send(authenticate("x", "bad"))
    let error = try client.receive("error")
    #expect(error["id"] == .string("bad") && error["code"] == .string("unauthenticated"))
    #expect(error["fatal"] == .bool(false) && error["retryable"] == .bool(false))
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.catchUp(["a"])
    #expect(client.line("a") == "''/: 2,'y'")
    try client.send(#"{"type":"authenticate","id":"t"}"#)
    #expect(try client.receive("error")["code"] == .string("bad_message"))
    live.stop()
  }

  @Test func `A renewal keeps subscriptions`() async throws {
    let live = try serve()
    let client = try live.connect()
    try client.send(authenticate(try await token(#""sub":"u","role":"clerk","shop":1,"jti":"1","iat":1"#)))
    _ = try client.receive("authenticated")
    try client.subscribe("a", #"{"from":"t"}"#)
    let renewed = try await token(#""sub":"u","role":"clerk","shop":1,"jti":"2","iat":2,"nbf":2"#, seconds: 900)
    try client.send(authenticate(renewed))
    #expect(try client.receive("authenticated")["expires"] == .integer(date.now + 900))
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.catchUp(["a"])
    #expect(client.line("a") == "''/: 2,'y'" && client.ended.isEmpty)
    live.stop()
  }

  @Test(
    arguments: [
      #""sub":"v","role":"clerk","shop":1"#, #""sub":"u","role":"boss","shop":1"#,
      #""sub":"u","role":"clerk","shop":2"#,
    ])
  func `Another subject, role or claim ends the subscriptions there were`(claims: String) async throws {
    let live = try serve()
    let client = try live.connect()
    try client.send(authenticate(try await token(#""sub":"u","role":"clerk","shop":1"#)))
    try client.subscribe("a", #"{"from":"t"}"#)
    try client.subscribe("b", #"{"from":"t","where":"id > 1"}"#)
    try client.send(authenticate(try await token(claims)))
    while client.ended.count < 2 { try client.receive() }
    #expect(client.ended == ["a": "unauthenticated", "b": "unauthenticated"])
    try client.subscribe("a", #"{"from":"t"}"#)
    #expect(client.line("a") == "''/: 1,'x' 2,'y'", "the id is free")
    live.stop()
  }

  /// All messages are in one write: those after `authenticate` must not count for the old identity.
  @Test func `What comes behind authenticate is the new identity's, what came before is not`() async throws {
    let live = try serve()
    let client = try live.connect()
    let subscribe = { (id: String) in #"{"type":"subscribe","id":"\#(id)","query":{"from":"t"}}"# }
    let messages = [subscribe("before"), authenticate(try await token()), subscribe("behind")]
    try client.socket.socket.write(messages.flatMap { RawWebSocket.encode(.text, Array($0.utf8)) })
    while client.ended.isEmpty || client.models["behind"] == nil { try client.receive() }
    #expect(client.ended == ["before": "unauthenticated"])
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.catchUp(["behind"])
    #expect(client.line("behind") == "''/: 2,'y'" && client.ended.count == 1)
    live.stop()
  }

  // MARK: - Keys that are fetched

  private func published(_ fetcher: FakeFetcher) -> JWTConfiguration {
    var configuration = JWTConfiguration(algorithms: [.rs256], keys: .published("https://keys.example/jwks.json"))
    configuration.fetcher = fetcher
    return configuration
  }

  /// Publishes another key from now on. Its fetch waits for the test.
  private func rotate(_ fetcher: FakeFetcher) {
    fetcher.publish(TokenMaker.set(ids: ["b"]))
    fetcher.delay()
    clock.advance(by: .seconds(60))
  }

  /// Returns when the sent message has caused a second fetch.
  private func waitForFetch(_ fetcher: FakeFetcher, _ live: LiveServer) throws {
    for _ in 0..<1_000 where fetcher.count < 2 { _ = try live.http("GET", "/healthz") }
    try #require(fetcher.count == 2)
  }

  @Test func `Messages wait while a key is fetched, and other clients do not`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let live = try serve(published(fetcher))
    let client = try live.connect()
    rotate(fetcher)
    let token = try TokenMaker.rsa(keyID: "b").token(#"{"role":"clerk"}"#)
    let messages = [
      authenticate(token), #"{"type":"subscribe","id":"a","query":{"from":"t"}}"#, #"{"type":"ping","id":"p"}"#,
    ]
    try client.socket.socket.write(messages.flatMap { RawWebSocket.encode(.text, Array($0.utf8)) })
    let other = try live.connect()
    try other.subscribe("o", #"{"from":"t"}"#)
    #expect(other.line("o") == "''/: 1,'x' 2,'y'")
    try waitForFetch(fetcher, live)
    fetcher.answer()
    var order = [try client.receive()["type"], try client.receive()["type"], try client.receive()["type"]]
    #expect(order.removeFirst() == .string("authenticated"))
    #expect(Set(order) == [.string("snapshot"), .string("pong")])
    #expect(client.ended.isEmpty, "it was subscribed by the new identity")
    live.stop()
  }

  @Test func `A handshake whose key is fetched is accepted, and closed with 4401 when the token is wrong`() async throws
  {
    for isGood in [true, false] {
      let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
      let live = try serve(published(fetcher))
      rotate(fetcher)
      let token = try TokenMaker.rsa(keyID: isGood ? "b" : "c").token(#"{"role":"clerk"}"#)
      let client = try live.connect(path: "/v1/live?access_token=\(token)")
      try client.send(#"{"type":"subscribe","id":"a","query":{"from":"t"}}"#)
      fetcher.answer()
      if isGood {
        while client.models["a"] == nil { try client.receive() }
        try client.send(authenticate(token))
        _ = try client.receive("authenticated")
        try client.catchUp(["a"])
        #expect(client.ended.isEmpty, "it was the token's from the start")
      } else {
        #expect(try client.receive()["code"] == .string("unauthenticated"))
        #expect(try client.socket.readCloseCode() == 4401)
      }
      live.stop()
    }
  }

  @Test func `Requests and streams wait for the fetch`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let live = try serve(published(fetcher))
    rotate(fetcher)
    let token = try TokenMaker.rsa(keyID: "b").token("{}")
    let sockets = try (0..<3).map { _ in try RawSocket(port: live.server.port) }
    for (socket, target) in zip(sockets, ["/v1/snapshot?from=t", "/v1/subscriptions?from=t", "/healthz"]) {
      try socket.write("GET \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
    }
    sockets[2].close()
    try waitForFetch(fetcher, live)
    fetcher.answer()
    #expect(try sockets[0].readResponse().text.contains("\"total\":2"))
    let head = try sockets[1].readResponse()
    #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
    #expect(String(decoding: try sockets[1].readChunk(), as: UTF8.self).hasPrefix("event: snapshot"))
    live.stop()
  }

  @Test func `A fetch without an answer is given up by the clock`() async throws {
    let fetcher = FakeFetcher(TokenMaker.set(ids: ["a"]))
    let live = try serve(published(fetcher))
    let client = try live.connect()
    rotate(fetcher)
    try client.send(authenticate(try TokenMaker.rsa(keyID: "b").token("{}")))
    try client.send(#"{"type":"ping","id":"p"}"#)
    try waitForFetch(fetcher, live)
    clock.advance(by: .seconds(5))
    #expect(try client.receive()["code"] == .string("unauthenticated"))
    #expect(try client.receive()["type"] == .string("pong"))
    live.stop()
  }

  // MARK: - Expiry

  @Test func `A client is told when its token expires, and closed with 4401 after a minute`() async throws {
    let live = try serve()
    let client = try live.connect(path: "/v1/live?access_token=\(try await token(seconds: 100))")
    try client.subscribe("a", #"{"from":"t"}"#)
    date.advance(seconds: 99)
    try client.send(#"{"type":"ping","id":"p"}"#)
    #expect(try client.receive()["type"] == .string("pong"))
    date.advance(seconds: 1)
    let error = try client.receive()
    #expect(error["code"] == .string("unauthenticated") && error["id"] == nil && error["fatal"] == .bool(false))
    date.advance(seconds: 59)
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.catchUp(["a"])
    #expect(client.line("a") == "''/: 2,'y'", "its lists go on for a minute")
    date.advance(seconds: 1)
    #expect(try client.socket.readCloseCode() == 4401)
    live.stop()
  }

  @Test func `A token that is renewed in time closes nothing`() async throws {
    let live = try serve()
    let client = try live.connect(path: "/v1/live?access_token=\(try await token(seconds: 100))")
    try client.subscribe("a", #"{"from":"t"}"#)
    date.advance(seconds: 100)
    #expect(try client.receive("error")["code"] == .string("unauthenticated"))
    try client.send(authenticate(try await token(seconds: 200)))
    _ = try client.receive("authenticated")
    date.advance(seconds: 199)
    try client.catchUp(["a"])
    #expect(client.ended.isEmpty)
    date.advance(seconds: 1)
    #expect(try client.receive("error")["code"] == .string("unauthenticated"), "and then it is told again")
    date.advance(seconds: 60)
    #expect(try client.socket.readCloseCode() == 4401)
    live.stop()
  }

  @Test func `A token without an end never expires, nor does nobody`() async throws {
    let live = try serve()
    let token = try TokenMaker.shared().token(#"{"role":"clerk"}"#)
    let clients = [try live.connect(path: "/v1/live?access_token=\(token)"), try live.connect()]
    let short = try live.connect(path: "/v1/live?access_token=\(try await self.token(seconds: 10))")
    date.advance(seconds: 1_000_000)
    _ = try short.receive("error")
    for client in clients {
      try client.send(#"{"type":"ping","id":"p"}"#)
      #expect(try client.receive()["type"] == .string("pong"))
    }
    live.stop()
  }

  @Test func `A stream gets an event when its token expires, and ends after a minute`() async throws {
    let live = try serve()
    let target = "/v1/subscriptions?from=t&access_token=\(try await token(seconds: 100))"
    let client = try EventClient(port: live.server.port, target)
    try client.load()
    date.advance(seconds: 100)
    let event = try #require(try client.next())
    #expect(event.event == "error")
    #expect(try event.json()["code"] == .string("unauthenticated"))
    #expect(try event.json()["fatal"] == .bool(false))
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.next()
    #expect(client.line == "2,'y'")
    date.advance(seconds: 60)
    #expect(try client.next() == nil)
    live.stop()
  }

  // MARK: - Logs

  @Test func `No token reaches a log, however it comes and whatever is wrong with it`() async throws {
    let folder = try ProgramFolder()
    try (TokenMaker.secret + "\n").write(toFile: folder.path + "/s", atomically: true, encoding: .utf8)
    let yaml = "auth: {jwt: {algorithm: HS256, secretFile: s}}"
    try yaml.write(toFile: folder.path + "/freshet.yaml", atomically: true, encoding: .utf8)
    let arguments = ["serve", folder.database, "--config", folder.path + "/freshet.yaml", "--port", "0"]
    let program = try Program(arguments + ["--log-level", "trace"])
    let port = try program.port()
    let claims = #"{"sub":"tell-tale","exp":4000000000}"#
    let good = try TokenMaker.shared().token(claims)
    let bad = try TokenMaker.shared(String(TokenMaker.secret.reversed())).token(claims)
    for token in [good, bad, String(repeating: good, count: 300)] {
      for target in ["/v1/snapshot?from=t", "/v1/explain?from=nosuch", "/nosuch?", "/v1/nosuch?", "/v1/live?"] {
        _ = try? RawSocket(port: port).request("GET", "\(target)&access_token=\(token)")
        _ = try? RawSocket(port: port).request("GET", target, headers: ["Authorization: Bearer \(token)"])
      }
      _ = try? RawWebSocket(port: port, path: "/v1/live?access_token=\(token)")
      let socket = try RawWebSocket(port: port)
      try socket.send(authenticate(token))
      try socket.send(#"{"type":"authenticate","id":"x","token":["\#(token)"]}"#)
      try socket.send(#"{"type":"authenticate","token":"\#(token)"}"#)
      try socket.send(#"{"type":"authenticate","id":"x","token":"\#(token)"#)
      _ = try? socket.readCloseCode()
    }
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
    let log = try program.errorOutput()
    let parts = Set((good + "." + bad).split(separator: "."))
    for part in parts { #expect(!log.contains(part.prefix(16)), "\(part)") }
    #expect(log.contains("stopped"))
  }

  @Test func `A token prints as nothing`() throws {
    let text = #"{"type":"authenticate","id":"x","token":"tell-tale"}"#
    let (_, message) = try Array(text.utf8).withUnsafeBytes { try ClientMessage.parse($0) }
    var dumped = ""
    dump(message, to: &dumped)
    #expect(!"\(message) \(String(reflecting: message)) \(dumped)".contains("tell-tale"))
  }
}
