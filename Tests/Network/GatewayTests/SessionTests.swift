import Gateway
import TestSupport
import Testing

@Suite struct SessionTests {
  @Test func `A handshake is accepted with the subprotocol echoed and reported with its request`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(
        port: gateway.port, path: "/v1/live?token=a%20b&x=%26%3d", headers: ["Origin: https://example.org"])
      let (_, request) = try recorder.nextOpened()
      #expect(client.handshake.headers["sec-websocket-protocol"] == "freshet.v1")
      #expect(client.handshake.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(request.method == "GET")
      #expect(request.path == "/v1/live")
      #expect(request.query == "token=a%20b&x=%26%3D")
      #expect(request.origin == "https://example.org")
      #expect(request.protocols == "freshet.v1")
      #expect(request.peer == "127.0.0.1")
    }
  }

  @Test func `Messages arrive whole and answers come back`() throws {
    let echo = Recorder(react: { $0.send(Frame(payload: $2), to: $1) })
    try withGateway(echo) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      for length in [1, 125, 126, 127, 4095, 4096, 4097, 65535, 65536, 70000, 500_000] {
        let text = String(repeating: "é", count: length / 2) + (length % 2 == 1 ? "x" : "")
        try client.send(text)
        let frame = try client.readFrame()
        #expect(frame.opcode == .text && frame.final)
        #expect(frame.text == text, "\(length) bytes")
      }
    }
  }

  @Test func `An empty message is delivered`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send("")
      try client.send("next")
      #expect(try recorder.nextMessage() == [])
      #expect(try recorder.nextText() == "next")
    }
  }

  @Test func `Fragments are put together, control frames in between`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let euro = bytes("€")
      try client.send(.text, bytes("one ") + euro[..<1], final: false)
      try client.send(.ping, bytes("p"))
      try client.send(.continuation, euro[1...] + bytes(" two"), final: false)
      try client.send(.continuation, [], final: true)
      #expect(try recorder.nextText() == "one € two")
      let pong = try client.readFrame()
      #expect(pong.opcode == .pong && pong.text == "p")
    }
  }

  @Test func `A frame that arrives byte by byte is one message`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      for byte in RawWebSocket.encode(.text, bytes("slowly")) { try client.socket.write([byte]) }
      #expect(try recorder.nextText() == "slowly")
    }
  }

  @Test func `A message of the limit is taken, a longer one closes with 1009`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.messageLimit = 10_000 }) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send(String(repeating: "a", count: 10_000))
      #expect(try recorder.nextMessage().count == 10_000)
      try client.send(String(repeating: "a", count: 10_001))
      #expect(try client.readCloseCode() == 1009)
    }
  }

  @Test func `Fragments that add up to too much close with 1009`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.messageLimit = 10_000 }) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let piece = [UInt8](repeating: 97, count: 6000)
      try client.send(.text, piece, final: false)
      try client.send(.continuation, piece, final: false)
      #expect(try client.readCloseCode() == 1009)
      client.close()
      _ = try recorder.nextClosed()
    }
  }

  @Test func `A binary message closes with 1003`() throws {
    try withGateway { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send(.binary, [1, 2, 3])
      #expect(try client.readCloseCode() == 1003)
    }
  }

  static let malformed: [[UInt8]] = [
    [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xf0, 0x80, 0x80, 0x80],
  ]

  @Test(arguments: malformed)
  func `Text that is not UTF-8 closes with 1007`(payload: [UInt8]) throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send(.text, bytes("long enough for a word ") + payload)
      #expect(try client.readCloseCode() == 1007)
      client.close()
      _ = try recorder.next { event -> Bool? in
        if case .received = event { Issue.record("delivered") }
        if case .closed = event { return true } else { return nil }
      }
    }
  }

  @Test func `All of Unicode is text`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.messageLimit = 8 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let text = String(String.UnicodeScalarView(((0 as UInt32)...0x10ffff).compactMap { Unicode.Scalar($0) }))
      try client.send(text)
      #expect(try recorder.nextText().utf8.count == text.utf8.count)
    }
  }

  @Test func `Frames that break the protocol close with 1002`() throws {
    try withGateway { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send(.continuation, bytes("of nothing"))
      #expect(try client.readCloseCode() == 1002)
    }
  }

  @Test func `A client that vanishes in the middle of a frame is closed`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      try client.send(.text, bytes("a fragment"), final: false)
      try client.socket.write(Array(RawWebSocket.encode(.continuation, bytes("half of one")).dropLast(4)))
      client.socket.reset()
      #expect(try recorder.nextClosed() == session)
    }
  }

  @Test func `A client's Close is answered with its code and reported`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      try client.send(.close, [0x03, 0xe8] + bytes("bye"))
      #expect(try client.readCloseCode() == 1000)
      #expect(try recorder.nextClosed() == session)
      gateway.send(Frame(payload: bytes("to nobody")), to: session)
      gateway.close(session, code: 1000)
    }
  }

  @Test func `close writes what is queued first, then the code and the reason`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      for number in 0..<100 { gateway.send(Frame(payload: bytes("message \(number)")), to: session) }
      gateway.close(session, code: 4401, reason: "who are you? " + String(repeating: "é", count: 100))
      gateway.send(Frame(payload: bytes("too late")), to: session)
      for number in 0..<100 { #expect(try client.readFrame().text == "message \(number)") }
      let close = try client.readFrame()
      #expect(close.opcode == .close && close.code == 4401)
      let reason = String(validating: close.payload.dropFirst(2), as: UTF8.self)
      #expect(reason == "who are you? " + String(repeating: "é", count: 55))
      try client.send(.close, [0x11, 0x31])
      #expect(try recorder.nextClosed() == session)
    }
  }

  @Test func `close ends a session whose client neither reads nor answers`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      gateway.send(Frame(payload: [UInt8](repeating: 97, count: 8 << 20)), to: session)
      gateway.close(session, code: 1000)
      #expect(try recorder.nextClosed(within: 15) == session)
      client.close()
    }
  }

  @Test func `Session ids are not used twice`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      var seen: Set<ChannelID> = []
      for _ in 0..<20 {
        let client = try RawWebSocket(port: gateway.port)
        let (session, _) = try recorder.nextOpened()
        #expect(seen.insert(session).inserted)
        client.socket.reset()
        _ = try recorder.nextClosed()
      }
    }
  }

  @Test func `A silent peer is pinged, then hung up on`() throws {
    let recorder = Recorder()
    func configure(_ configuration: inout GatewayConfiguration) {
      configuration.limits.pingAfter = .milliseconds(300)
      configuration.limits.hangUpAfter = .milliseconds(1500)
    }
    try withGateway(recorder, configure: configure) { gateway in
      let lively = try RawWebSocket(port: gateway.port)
      let (kept, _) = try recorder.nextOpened()
      let dead = try RawWebSocket(port: gateway.port)
      let (lost, _) = try recorder.nextOpened()
      for _ in 0..<4 {
        let ping = try lively.readFrame()
        #expect(ping.opcode == .ping)
        try lively.send(.pong, ping.payload)
      }
      #expect(try dead.readFrame().opcode == .ping)
      #expect(try recorder.nextClosed() == lost)
      try lively.send("still here")
      #expect(try recorder.nextText() == "still here")
      #expect(kept != lost)
    }
  }
}
