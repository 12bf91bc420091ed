import Gateway
import TestSupport
import Testing

/// How many connections an address may have.
@Suite struct AddressTests {
  /// One service thread accepts connections in their order.
  private func limited(_ limit: Int) -> (inout GatewayConfiguration) -> Void {
    {
      $0.serviceThreads = 1
      $0.limits.addressLimit = limit
      $0.limits.limitsLoopback = true
    }
  }

  private func expectRefusal(_ response: RawResponse) {
    #expect(response.status == 429)
    #expect(response.headers["content-type"] == "application/problem+json" && response.headers["retry-after"] == "1")
    #expect(response.text.contains(#""code":"limit_exceeded""#))
  }

  @Test func `One connection too many is refused with its request, whatever that is`() throws {
    let recorder = Recorder(answer: { gateway, _, id in gateway.respond(to: id, status: 200) })
    try withGateway(recorder, configure: limited(3)) { gateway in
      let clients = try (0..<3).map { _ in try RawWebSocket(port: gateway.port) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0 }
      let socket = try RawSocket(port: gateway.port)
      expectRefusal(try socket.request("GET", "/v1/x"))
      #expect(try socket.readToEnd() == [])
      let upgrade = RawWebSocket.handshakeHeaders + ["Sec-WebSocket-Protocol: freshet.v1"]
      expectRefusal(try RawSocket(port: gateway.port).request("GET", "/v1/live", headers: upgrade))
      expectRefusal(try RawSocket(port: gateway.port).request("POST", "/v1/x", body: "body"))
      #expect(gateway.counters.address == 3)
      // Other addresses are not affected, and open connections continue.
      let elsewhere = try RawSocket(port: gateway.port, source: "127.0.0.2")
      #expect(try elsewhere.request("GET", "/v1/x").status == 200)
      try clients[1].send("still here")
      #expect(try recorder.nextText() == "still here")
      // A client that leaves makes room, after refused ones have left too.
      clients[0].socket.reset()
      #expect(try recorder.nextClosed() == sessions[0])
      let answered = try (0..<1_000).contains { _ in
        try RawSocket(port: gateway.port).request("GET", "/v1/x").status == 200
      }
      #expect(answered)
    }
  }

  @Test func `Far too many connections are closed without a word`() throws {
    try withGateway(configure: limited(2)) { gateway in
      let held = try (0..<66).map { _ in try RawSocket(port: gateway.port) }
      // Connections are accepted in order, so all those above are open.
      #expect(try RawSocket(port: gateway.port).readToEnd() == [])
      #expect(try held[1].request("GET", "/").status == 404)
      expectRefusal(try held[65].request("GET", "/"))
    }
  }

  @Test func `This machine's own connections are not limited unless asked for`() throws {
    try withGateway(configure: { $0.limits.addressLimit = 1 }) { gateway in
      let clients = try (0..<5).map { _ in try RawWebSocket(port: gateway.port) }
      withExtendedLifetime(clients) {}
    }
  }
}
