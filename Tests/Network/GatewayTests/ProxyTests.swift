import Gateway
import TestSupport
import Testing

/// Headers that determine the client's address.
@Suite struct ProxyTests {
  private func peers(_ headers: [[String]], trusted: [String]) throws -> [String] {
    let recorder = Recorder(answer: { gateway, request, id in
      gateway.respond(to: id, status: 200, body: request.peer.utf8)
    })
    return try withGateway(recorder, configure: { $0.trustedProxies = trusted }) { gateway in
      let socket = try RawSocket(port: gateway.port)
      return try headers.map { try socket.request("GET", "/v1/x", headers: $0).text }
    }
  }

  @Test func `Nobody is believed unless trusted`() throws {
    let headers = [["X-Forwarded-For: 192.0.2.1"], ["Forwarded: for=192.0.2.1"], []]
    for trusted in [[], ["10.0.0.0/8"], ["::/1"], ["127.0.0.2"]] {
      #expect(try peers(headers, trusted: trusted) == ["127.0.0.1", "127.0.0.1", "127.0.0.1"])
    }
  }

  @Test(arguments: [
    ("X-Forwarded-For: 192.0.2.1", "192.0.2.1"), ("X-Forwarded-For: 198.51.100.9, 192.0.2.1", "192.0.2.1"),
    ("X-Forwarded-For: 198.51.100.9, 192.0.2.1, 10.1.2.3,10.0.0.1", "192.0.2.1"),
    ("X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-For: 192.0.2.1", "192.0.2.1"),
    ("X-Forwarded-For: 10.1.1.1, 10.2.2.2", "10.1.1.1"), ("X-Forwarded-For: 192.0.2.1:4711", "192.0.2.1"),
    ("X-Forwarded-For: 2001:db8::7", "2001:db8::7"), ("X-Forwarded-For: [2001:db8::7]:80", "2001:db8::7"),
    ("X-Forwarded-For: ::ffff:192.0.2.1", "192.0.2.1"), ("X-Forwarded-For: 192.0.2.1, unknown", "127.0.0.1"),
    ("X-Forwarded-For: 192.0.2.1, 10.0.0.999", "127.0.0.1"),
    ("X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.1", "10.0.0.1"),
    ("X-Forwarded-For:", "127.0.0.1"), ("Forwarded: for=192.0.2.1", "192.0.2.1"),
    ("Forwarded: proto=https;For=\"[2001:db8::7]:80\";by=a", "2001:db8::7"),
    ("Forwarded: for=198.51.100.9, for=192.0.2.1;proto=http, for=10.0.0.1", "192.0.2.1"),
    ("Forwarded: for=_hidden", "127.0.0.1"), ("Forwarded: ;,proto=http", "127.0.0.1"), ("Forwarded: ,,", "127.0.0.1"),
    ("Forwarded: for=198.51.100.9\r\nX-Forwarded-For: 192.0.2.1", "192.0.2.1"),
  ])
  func `A trusted proxy is believed as far as proxies are trusted`(header: String, peer: String) throws {
    #expect(try peers([[header]], trusted: ["127.0.0.1", "10.0.0.0/8"]) == [peer])
  }

  @Test func `Ranges end within a byte, too, and hold IPv6`() throws {
    let list = ["X-Forwarded-For: 192.0.2.1, 2001:db8:8000::1"]
    #expect(try peers([list], trusted: ["127.0.0.0/30", "2001:db8::/33"]) == ["2001:db8:8000::1"])
    #expect(try peers([list], trusted: ["126.0.0.0/7", "2001:db8:8000::/33"]) == ["192.0.2.1"])
    #expect(try peers([list], trusted: ["0.0.0.0/0", "::/0"]) == ["192.0.2.1"])
  }

  @Test(arguments: ["10.0.0.0/33", "10.0.0/8", "::/129", "example.org", "10.0.0.0/", "10.0.0.0/8x", "10.0.0.0/-1", ""])
  func `What is no range is one sentence`(text: String) throws {
    var configuration = GatewayConfiguration()
    configuration.trustedProxies = [text]
    let error = #expect(throws: GatewayError.self) { try Gateway(configuration: configuration) }
    #expect(error?.message.contains("trustedProxies: \(text) is neither") == true)
  }

  @Test func `Connections count for the client that a proxy speaks for, while they work for it`() throws {
    let recorder = Recorder(answer: { gateway, _, id in gateway.respond(to: id, status: 200) })
    func configure(_ configuration: inout GatewayConfiguration) {
      configuration.trustedProxies = ["127.0.0.1"]
      configuration.limits.addressLimit = 2
    }
    try withGateway(recorder, configure: configure) { gateway in
      func forwarded(_ address: String) -> [String] { ["X-Forwarded-For: \(address)"] }
      let idle = try (0..<5).map { _ in try RawSocket(port: gateway.port) }
      for socket in idle { #expect(try socket.request("GET", "/v1/x", headers: forwarded("192.0.2.1")).status == 200) }
      let sessions = try (0..<2).map { _ in try RawWebSocket(port: gateway.port, headers: forwarded("192.0.2.1")) }
      #expect(try idle[0].request("GET", "/v1/x", headers: forwarded("192.0.2.2")).status == 200)
      #expect(try idle[0].request("GET", "/v1/x", headers: forwarded("192.0.2.1")).status == 429)
      // One IPv6 network counts as one client.
      let six = try (1...2).map { try RawWebSocket(port: gateway.port, headers: forwarded("2001:db8:0:1::\($0)")) }
      #expect(try idle[1].request("GET", "/v1/x", headers: forwarded("2001:db8:0:2::1")).status == 200)
      #expect(try idle[1].request("GET", "/v1/x", headers: forwarded("2001:db8:0:1:ffff::3")).status == 429)
      withExtendedLifetime((sessions, six)) {}
    }
  }
}
