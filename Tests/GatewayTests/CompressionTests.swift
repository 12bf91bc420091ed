import Gateway
import TestSupport
import Testing

@Suite struct CompressionTests {
  private let offer = ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"]

  /// A message as one uncompressed block of DEFLATE, which needs no compressor.
  private func deflated(_ text: String) -> [UInt8] {
    let payload = bytes(text)
    let length = UInt16(payload.count)
    let header: [UInt8] = [0, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
    // The block is not the last one; a final empty block, less the bytes that RFC 7692 takes off, ends the message.
    return header + payload + [0]
  }

  @Test func `Compression is not offered unless switched on`() throws {
    try withGateway { gateway in
      let client = try RawWebSocket(port: gateway.port, headers: offer)
      #expect(client.handshake.headers["sec-websocket-extensions"] == nil)
    }
  }

  @Test func `Frames are compressed for a client that can, and not for one that cannot`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.compression = true }) { gateway in
      let compressing = try RawWebSocket(port: gateway.port, headers: offer)
      let (first, _) = try recorder.nextOpened()
      let plain = try RawWebSocket(port: gateway.port)
      let (second, _) = try recorder.nextOpened()
      #expect(compressing.handshake.headers["sec-websocket-extensions"]?.contains("permessage-deflate") == true)
      for length in [1, 300, 1000, 5000, 70_000, 300_000] {
        let text = String(String(repeating: "Aardvark 1, Acme, 5210.5; ", count: length / 26 + 1).prefix(length))
        let frame = Frame(payload: bytes(text))
        for session in [first, second] { gateway.send(frame, to: session) }
        #expect(try plain.readFrame().text == text)
        let message = try compressing.readInflated()
        #expect(message.text == text, "\(length)")
        #expect(length < 300 || message.wireBytes < length / 4)
      }
    }
  }

  @Test func `Queued frames stay in order under compression and drained follows`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.compression = true }) { gateway in
      let client = try RawWebSocket(port: gateway.port, headers: offer, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      var random = SystemRandomNumberGenerator()
      let texts = (0..<200).map { number in
        let noise = (0...number * 37).map { _ in UInt8.random(in: 32...126, using: &random) }
        return String(decoding: noise, as: UTF8.self)
      }
      for text in texts { gateway.send(Frame(payload: bytes(text)), to: session) }
      for text in texts { #expect(try client.readInflated().text == text) }
      #expect(try recorder.nextDrained() == session)
    }
  }

  @Test func `Compressed messages arrive whole whatever their length`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.compression = true }) { gateway in
      let client = try RawWebSocket(port: gateway.port, headers: offer)
      for length in [0, 1, 500, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8192, 32768, 60000] {
        let text = String(repeating: "d", count: length)
        try client.send(.text, deflated(text), compressed: true)
        #expect(try recorder.nextText() == text, "\(length)")
      }
      // Uncompressed messages are still allowed, and fragments of a compressed one.
      try client.send("plain")
      #expect(try recorder.nextText() == "plain")
      let whole = deflated("in two pieces")
      try client.send(.text, Array(whole[..<7]), final: false, compressed: true)
      try client.send(.continuation, Array(whole[7...]))
      #expect(try recorder.nextText() == "in two pieces")
    }
  }

  @Test func `A message that is too large once inflated closes with 1009`() throws {
    func configure(_ configuration: inout GatewayConfiguration) {
      configuration.compression = true
      configuration.messageLimit = 10_000
    }
    try withGateway(configure: configure) { gateway in
      let client = try RawWebSocket(port: gateway.port, headers: offer)
      try client.send(.text, deflated(String(repeating: "d", count: 10_001)), compressed: true)
      #expect(try client.readCloseCode() == 1009)
    }
  }
}
