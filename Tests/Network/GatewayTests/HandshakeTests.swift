import Gateway
import TestSupport
import Testing

@Suite struct HandshakeTests {
  private func answer(
    to headers: [String], path: String = "/v1/live", recorder: Recorder = Recorder()
  ) throws -> RawResponse {
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let response = try socket.request("GET", path, headers: headers)
      #expect(try socket.readToEnd() == [], "nothing follows a refusal")
      #expect(!recorder.rest().contains { if case .opened = $0 { true } else { false } })
      return response
    }
  }

  private let good = RawWebSocket.handshakeHeaders

  @Test func `A handshake that the delegate refuses gets its status before the upgrade`() throws {
    let recorder = Recorder(refuse: { $0.origin == "https://evil.example" ? 403 : nil })
    let headers = good + ["Sec-WebSocket-Protocol: freshet.v1", "Origin: https://evil.example"]
    let response = try answer(to: headers, recorder: recorder)
    #expect(response.status == 403)
    #expect(response.headers["content-type"] == "application/problem+json")
    #expect(response.text.contains(#""code":"not_allowed""#))
  }

  @Test(arguments: [["Sec-WebSocket-Protocol: chat"], ["Sec-WebSocket-Protocol: freshet.v10, xfreshet.v1"]])
  func `A handshake that offers other subprotocols is answered 400`(protocols: [String]) throws {
    let response = try answer(to: good + protocols)
    #expect(response.status == 400)
    #expect(response.version == "HTTP/1.1", "clients read no other answer to a handshake")
    #expect(response.text.contains("Sec-WebSocket-Protocol"))
  }

  @Test(arguments: [[], ["Sec-WebSocket-Protocol:"]])
  func `A handshake without a subprotocol means the one that there is`(protocols: [String]) throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let response = try RawSocket(port: gateway.port).request("GET", "/v1/live", headers: good + protocols)
      #expect(response.status == 101)
      #expect(response.headers["sec-websocket-protocol"] == nil)
      _ = try recorder.nextOpened()
    }
  }

  @Test func `Compression is not negotiated, and a frame that claims to be compressed ends the session`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let offer = ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"]
      let client = try RawWebSocket(port: gateway.port, headers: offer)
      #expect(client.handshake.headers["sec-websocket-extensions"] == nil)
      let (session, _) = try recorder.nextOpened()
      var frame = RawWebSocket.encode(.text, bytes("deflated"))
      frame[0] |= 0x40
      try client.socket.write(frame)
      #expect(try recorder.nextClosed() == session)
    }
  }

  @Test func `The subprotocol is found among others`() throws {
    try withGateway { gateway in
      let socket = try RawSocket(port: gateway.port)
      let headers = good + ["Sec-WebSocket-Protocol: other , freshet.v1"]
      let response = try socket.request("GET", "/v1/live", headers: headers)
      #expect(response.status == 101)
      #expect(response.headers["sec-websocket-protocol"] == "freshet.v1")
    }
  }

  @Test func `Another version of WebSocket is answered 426`() throws {
    let headers = good.map { $0.hasPrefix("Sec-WebSocket-Version") ? "Sec-WebSocket-Version: 8" : $0 }
    let response = try answer(to: headers + ["Sec-WebSocket-Protocol: freshet.v1"])
    #expect(response.status == 426)
    #expect(response.headers["sec-websocket-version"] == "13")
  }

  @Test func `An upgrade to HTTP 2 is refused`() throws {
    let headers = ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"]
    #expect(try answer(to: headers, path: "/").status == 400)
  }

  @Test func `A missing key is answered 400`() throws {
    let headers = good.filter { !$0.hasPrefix("Sec-WebSocket-Key") } + ["Sec-WebSocket-Protocol: freshet.v1"]
    #expect(try answer(to: headers).status == 400)
  }

  @Test func `A handshake elsewhere is answered 404`() throws {
    #expect(try answer(to: good + ["Sec-WebSocket-Protocol: freshet.v1"], path: "/v1/other").status == 404)
  }

  @Test func `A plain GET of the WebSocket route is told to upgrade`() throws {
    try withGateway { gateway in
      let response = try RawSocket(port: gateway.port).request("GET", "/v1/live")
      #expect(response.status == 426)
      #expect(response.text.contains("WebSocket"))
    }
  }

  @Test func `CONNECT and garbage end the connection and nothing else`() throws {
    try withGateway { gateway in
      for nonsense in ["CONNECT a:1 HTTP/1.1\r\nHost: a", "BREW /pot HTTP/1.1", "\u{1}\u{2}\u{3}"] {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(nonsense + "\r\n\r\n")
        socket.finishWriting()
        _ = try socket.readToEnd()
      }
      #expect(try RawWebSocket(port: gateway.port).handshake.status == 101)
    }
  }
}
