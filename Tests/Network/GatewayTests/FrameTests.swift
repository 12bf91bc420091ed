import Gateway
import TestSupport
import Testing

/// Frames that break RFC 6455: each ends its session, and nothing else. docs/threat-model.md lists deviations that
/// libwebsockets tolerates.
@Suite struct FrameTests {
  /// - Parameter code: nil: the server hangs up without a Close frame.
  private func expectClose(_ code: Int?, after bytes: [UInt8]) throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let witness = try RawWebSocket(port: gateway.port)
      _ = try recorder.nextOpened()
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      try client.socket.write(bytes)
      if let code {
        #expect(try client.readCloseCode() == code)
        try client.send(.close, [0x03, 0xe8])
      }
      #expect(try client.socket.readToEnd() == [], "the server closes")
      client.close()
      #expect(try recorder.nextClosed() == session)
      try witness.send("still here")
      #expect(try recorder.nextText() == "still here")
    }
  }

  private static func with(_ mask: UInt8, _ frame: [UInt8]) -> [UInt8] { [frame[0] | mask] + frame.dropFirst() }

  static let text = RawWebSocket.encode(.text, bytes("text"))
  static let broken: [(String, [UInt8])] = [
    ("reserved bit 1", with(0x40, text)), ("reserved bit 2", with(0x20, text)), ("reserved bit 3", with(0x10, text)),
    ("reserved data opcode", [0x83] + text.dropFirst()), ("reserved control opcode", [0x8b] + text.dropFirst()),
    ("a ping in fragments", RawWebSocket.encode(.ping, [], final: false)),
    ("a Close in fragments", RawWebSocket.encode(.close, [], final: false)),
    ("a continuation of nothing", RawWebSocket.encode(.continuation, bytes("x"))),
    ("text within a message", RawWebSocket.encode(.text, bytes("a"), final: false) + text),
    ("a Close with 1005", RawWebSocket.encode(.close, [0x03, 0xed])),
    ("a Close with 999", RawWebSocket.encode(.close, [0x03, 0xe7])),
  ]

  @Test(arguments: broken)
  func `A frame that breaks the protocol closes with 1002`(name: String, frame: [UInt8]) throws {
    try expectClose(1002, after: frame)
  }

  @Test(arguments: [
    ("a ping of 126 bytes", RawWebSocket.encode(.ping, [UInt8](repeating: 0, count: 126))),
    ("a length beyond all", [0x81, 0xff, 0xff] + [UInt8](repeating: 0, count: 11)),
  ])
  func `An impossible length ends the session without a code`(name: String, frame: [UInt8]) throws {
    try expectClose(nil, after: frame)
  }

  @Test(arguments: [[3], [0x03, 0xe8, 0xff]])
  func `A Close that breaks the protocol comes back as it is`(payload: [UInt8]) throws {
    try withGateway { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.send(.close, payload)
      let answer = try client.readFrame()
      #expect(answer.opcode == .close && answer.payload == payload)
      #expect(try client.socket.readToEnd() == [])
    }
  }

  @Test func `A frame that is not masked is read as one that is`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.socket.write([0x81, 4] + bytes("text"))
      #expect(try recorder.nextText() == "text")
    }
  }

  @Test func `A broken frame behind good ones lets them through`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.socket.write(FrameTests.text + FrameTests.text + [0x83, 0x80, 1, 2, 3, 4] + FrameTests.text)
      for _ in 0..<2 { #expect(try recorder.nextText() == "text") }
      #expect(try client.readCloseCode() == 1002)
      client.close()
      #expect(!recorder.rest().contains { if case .received = $0 { true } else { false } })
    }
  }

  @Test func `A ping of 125 bytes is answered with them, an empty one as well`() throws {
    try withGateway { gateway in
      let client = try RawWebSocket(port: gateway.port)
      for length in [0, 1, 125] {
        let payload = (0..<length).map { UInt8($0) }
        try client.send(.ping, payload)
        let pong = try client.readFrame()
        #expect(pong.opcode == .pong && pong.payload == payload)
      }
      try client.send(.pong, bytes("unasked for"))
      try client.send(.ping, bytes("a"))
      #expect(try client.readFrame().text == "a")
    }
  }

  @Test func `A pong stands between frames that wait, never within one`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      for _ in 0..<3 { gateway.send(Frame(payload: [UInt8](repeating: 97, count: 6 << 20)), to: session) }
      try client.send(.ping, bytes("here?"))
      try client.send("read")
      #expect(try recorder.nextText() == "read")
      var frames: [RawWebSocket.Frame] = []
      for _ in 0..<4 { frames.append(try client.readFrame()) }
      #expect(frames.filter { $0.opcode == .pong }.map(\.text) == ["here?"])
      #expect(frames.filter { $0.opcode == .text }.allSatisfy { $0.payload.count == 6 << 20 })
    }
  }

  @Test func `A frame that comes before the 101 is read after it`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let head =
        ["GET /v1/live HTTP/1.1", "Host: a", "Sec-WebSocket-Protocol: freshet.v1"] + RawWebSocket.handshakeHeaders
      let socket = try RawSocket(port: gateway.port)
      try socket.write(bytes(head.joined(separator: "\r\n") + "\r\n\r\n") + FrameTests.text)
      #expect(try recorder.nextText() == "text")
    }
  }

  @Test(arguments: ["Sec-WebSocket-Key: c2hvcnQ=", "Sec-WebSocket-Key: !!!!c2FtcGxlIG5vbmNlIQ=="])
  func `A key that is none is answered 400`(key: String) throws {
    try withGateway { gateway in
      let headers = RawWebSocket.handshakeHeaders.filter { !$0.hasPrefix("Sec-WebSocket-Key") }
      let socket = try RawSocket(port: gateway.port)
      let response = try socket.request(
        "GET", "/v1/live", headers: headers + [key, "Sec-WebSocket-Protocol: freshet.v1"])
      #expect(response.status == 400 && response.text.contains("Sec-WebSocket-Key"))
    }
  }
}
