import Foundation
import Gateway
import TestSupport
import Testing

/// HTTP and WebSocket over TLS.
@Suite struct TLSTests {
  private let folder: TemporaryFolder
  private let pair: TestCertificate

  init() throws {
    folder = try TemporaryFolder()
    pair = try TestCertificate(in: folder)
  }

  private func withTLS<Result>(
    _ recorder: Recorder = Recorder(), configure: (inout GatewayConfiguration) -> Void = { _ in },
    _ body: (Gateway) throws -> Result
  ) throws -> Result {
    try withGateway(
      recorder,
      configure: {
        $0.certificate = CertificateFiles(certificate: pair.certificate, key: pair.key)
        configure(&$0)
      }, body)
  }

  private func connect(
    _ gateway: Gateway, receiveBuffer: Int32? = nil, trusting certificate: String? = nil, version: TLSVersion? = nil
  ) throws -> RawSocket {
    let socket = try RawSocket(port: gateway.port, receiveBuffer: receiveBuffer)
    try socket.startTLS(trusting: certificate ?? pair.certificate, version: version)
    return socket
  }

  /// The status of a request on a connection of its own.
  private func status(of gateway: Gateway) throws -> Int {
    let socket = try connect(gateway)
    return try socket.request("POST", "/v1/x", body: "x").status
  }

  private func webSocket(_ gateway: Gateway, receiveBuffer: Int32? = nil) throws -> RawWebSocket {
    try RawWebSocket(port: gateway.port, receiveBuffer: receiveBuffer, trusting: pair.certificate)
  }

  private func echo() -> Recorder {
    Recorder(answer: { gateway, request, id in gateway.respond(to: id, status: 200, body: request.body) })
  }

  /// libwebsockets' HTTP/2 would end the process by an assertion when a client has 256 open streams.
  @Test func `HTTP 2 is neither offered nor taken`() throws {
    try withTLS(echo()) { gateway in
      let socket = try connect(gateway)
      #expect(socket.tlsDetails?.application == "http/1.1")
      #expect(try socket.request("GET", "/v1/x").status == 200)
      let knowing = try connect(gateway)
      try knowing.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0")
      let answer = String(decoding: try knowing.readToEnd(), as: UTF8.self)
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.0 403 "))
      let upgrading = try connect(gateway)
      let headers = ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"]
      #expect(try upgrading.request("GET", "/v1/x", headers: headers).status == 400)
      #expect(try status(of: gateway) == 200)
    }
  }

  @Test func `Requests of any length are answered, pipelined ones in order`() throws {
    try withTLS(echo()) { gateway in
      let socket = try connect(gateway)
      for length in [0, 1, 16_383, 16_384, 16_385, 100_000, 1 << 20] {
        let body = String(repeating: "b", count: length)
        #expect(try socket.request("POST", "/v1/x", body: body).text == body)
      }
      let requests = (0..<50).map { _ in "GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n" }
      try socket.write(requests.joined())
      for _ in 0..<50 { #expect(try socket.readResponse().status == 200) }
    }
  }

  @Test func `The end of an answer is the end that TLS announces`() throws {
    try withTLS(echo()) { gateway in
      let socket = try connect(gateway)
      #expect(try socket.request("POST", "/v1/x", headers: ["Connection: close"], body: "x").text == "x")
      #expect(try socket.readToEnd() == [])
      let refused = try connect(gateway)
      #expect(try refused.request("GET", "/v1/x", headers: ["Content-Length: x"]).status == 400)
      #expect(try refused.readToEnd() == [])
    }
  }

  @Test(arguments: [TLSVersion.v1_2, .v1_3])
  func `TLS 1.2 and 1.3 are spoken`(version: TLSVersion) throws {
    try withTLS(echo()) { gateway in
      let socket = try connect(gateway, version: version)
      #expect(try socket.request("POST", "/v1/x", body: "x").text == "x")
      #expect(socket.tlsDetails?.version == (version == .v1_2 ? "TLSv1.2" : "TLSv1.3"))
    }
  }

  @Test func `Older versions are refused, and so are strangers' certificates`() throws {
    let other = try TestCertificate(in: folder, name: "other")
    try withTLS(echo()) { gateway in
      #expect((try? connect(gateway, version: .v1_1)) == nil)
      #expect((try? connect(gateway, trusting: other.certificate)) == nil)
      let status = try status(of: gateway)
      #expect(status == 200)
    }
  }

  @Test func `Plain HTTP to the port is answered 400, nonsense ends, and nothing else suffers`() throws {
    try withTLS(echo()) { gateway in
      let plain = try RawSocket(port: gateway.port)
      let response = try plain.request("GET", "/v1/x")
      #expect(response.status == 400 && response.text.contains("TLS"))
      #expect(try plain.readToEnd() == [])
      let upgrade = RawWebSocket.handshakeHeaders + ["Sec-WebSocket-Protocol: freshet.v1"]
      let handshake = try RawSocket(port: gateway.port)
      #expect(try handshake.request("GET", "/v1/live", headers: upgrade).status == 400)
      let nonsenses: [[UInt8]] = [[0x16, 3, 1, 0xff, 0xff, 0], [0], [0x80, 0x2e, 1, 0, 2]]
      for nonsense in nonsenses {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(nonsense)
        socket.finishWriting()
        _ = try socket.readToEnd()
      }
      #expect(try status(of: gateway) == 200)
    }
  }

  @Test func `A connection that does not finish its handshake is closed`() throws {
    let clock = ManualClock()
    try withTLS(configure: { $0.clock = clock.now }) { gateway in
      let silent = try RawSocket(port: gateway.port)
      let witness = try connect(gateway)
      #expect(try witness.request("GET", "/").status == 404)
      clock.advance(milliseconds: 10_000)
      #expect(try silent.readToEnd() == [])
      #expect(try witness.request("GET", "/").status == 404)
    }
  }

  @Test func `Messages of any length come and go`() throws {
    let recorder = Recorder(react: { $0.send(Frame(payload: $2), to: $1) })
    try withTLS(recorder) { gateway in
      let client = try webSocket(gateway)
      for length in [0, 1, 125, 126, 16_380, 16_384, 65_536, 1 << 20] {
        let text = String(repeating: "x", count: length)
        try client.send(text)
        #expect(try client.readFrame().text == text)
      }
      try client.send(.close, [0x03, 0xe8])
      #expect(try client.readCloseCode() == 1000)
      #expect(try client.socket.readToEnd() == [])
    }
  }

  @Test func `Frames that are due together leave in order, whatever their lengths, also to a slow reader`() throws {
    let recorder = Recorder()
    try withTLS(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let clients = try (0..<3).map { _ in try webSocket(gateway, receiveBuffer: 4096) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0.rawValue }
      var generator = SeededGenerator(seed: 7)
      let texts = (0..<400).map { number in
        "\(number) "
          + String(repeating: "x", count: Int.random(in: 0..<(number % 50 == 0 ? 300_000 : 3_000), using: &generator))
      }
      for text in texts {
        gateway.queue(Frame(payload: bytes(text)), to: sessions)
        if Int.random(in: 0..<10, using: &generator) == 0 { gateway.flush() }
      }
      gateway.flush()
      for client in clients {
        // Control frames are sent correctly between partly sent TLS records.
        for number in 0..<5 { try client.send(.ping, bytes("\(number)")) }
        var received: [String] = []
        while received.count < texts.count {
          let frame = try client.readFrame()
          if frame.opcode == .text { received.append(frame.text) } else { #expect(frame.opcode == .pong) }
        }
        #expect(received == texts)
      }
      for session in sessions { try recorder.waitUntilDrained(gateway, ChannelID(rawValue: session)) }
      #expect(gateway.counters.outgoing == 0)
    }
  }

  @Test func `A slow reader is seen to be one: what waits for it is not said to have left`() throws {
    let recorder = Recorder()
    try withTLS(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let client = try webSocket(gateway, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      gateway.send(Frame(payload: [UInt8](repeating: 97, count: 16 << 20)), to: session)
      #expect(!gateway.isDrained(session.rawValue, waiter: 5))
      // Others are served meanwhile.
      let other = try connect(gateway)
      #expect(try other.request("GET", "/").status == 404)
      #expect(!gateway.isDrained(session.rawValue, waiter: 5))
      #expect(try client.readFrame().payload.count == 16 << 20)
      #expect(try recorder.next { if case .drained(let waiters) = $0 { waiters } else { nil } } == 1 << 5)
    }
  }

  @Test func `A large answer reaches a slow reader whole`() throws {
    let size = 25 << 20
    let recorder = Recorder(answer: { gateway, _, id in
      gateway.respond(to: id, status: 200, body: [UInt8](repeating: 7, count: size))
    })
    try withTLS(recorder) { gateway in
      let socket = try connect(gateway, receiveBuffer: 65_536)
      let response = try socket.request("GET", "/v1/large")
      #expect(response.body.count == size && response.body.allSatisfy { $0 == 7 })
    }
  }

  @Test func `A stream goes on until its client leaves`() throws {
    let recorder = Recorder.streaming()
    try withTLS(recorder) { gateway in
      let socket = try connect(gateway)
      try socket.write("GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n")
      let stream = try recorder.nextStream()
      gateway.send(Frame(payload: bytes("first")), to: stream)
      #expect(try socket.readResponse().status == 200)
      #expect(try socket.readChunk() == bytes("first"))
      gateway.send(Frame(payload: [UInt8](repeating: 98, count: 500_000)), to: stream)
      #expect(try socket.readChunks(500_000).count == 500_000)
      socket.close()
      #expect(try recorder.nextClosed() == stream)
    }
  }

  @Test func `A request whose client leaves is abandoned`() throws {
    let recorder = Recorder()
    try withTLS(recorder) { gateway in
      let socket = try connect(gateway)
      try socket.write("GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\n")
      let (id, _) = try recorder.nextRequest()
      socket.close()
      #expect(try recorder.nextAbandoned() == id)
    }
  }

  @Test func `A renewed certificate is for connections from then on, and drops none`() throws {
    let recorder = Recorder(
      answer: { gateway, request, id in gateway.respond(to: id, status: 200, body: request.body) },
      react: { $0.send(Frame(payload: $2), to: $1) })
    try withTLS(recorder) { gateway in
      let (old, session) = (try connect(gateway), try webSocket(gateway))
      #expect(old.tlsDetails?.serial == 1)
      _ = try TestCertificate(in: folder, serial: 2)
      try gateway.reloadCertificate()
      // This answer is a command after the one that renews the certificate.
      #expect(try old.request("POST", "/v1/x", body: "x").text == "x")
      let new = try connect(gateway)
      #expect(new.tlsDetails?.serial == 2)
      for socket in [old, new] { #expect(try socket.request("POST", "/v1/x", body: "x").text == "x") }
      try session.send("still here")
      #expect(try session.readFrame().text == "still here")
    }
  }

  @Test func `A pair that is none is one sentence, and the old one stays`() throws {
    try withTLS(echo()) { gateway in
      let other = try TestCertificate(in: folder, name: "other", serial: 3)
      let good = try Data(contentsOf: URL(fileURLWithPath: pair.certificate))
      let wrong: [(Data?, String)] = [
        (try Data(contentsOf: URL(fileURLWithPath: other.certificate)), "does not belong to the certificate"),
        (Data("nothing".utf8), "holds no certificate in PEM format"), (nil, "cannot read the certificate"),
      ]
      for (content, sentence) in wrong {
        if let content {
          try content.write(to: URL(fileURLWithPath: pair.certificate))
        } else {
          try FileManager.default.removeItem(atPath: pair.certificate)
        }
        let error = #expect(throws: GatewayError.self) { try gateway.reloadCertificate() }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
        try good.write(to: URL(fileURLWithPath: pair.certificate))
        let socket = try connect(gateway)
        #expect(socket.tlsDetails?.serial == 1)
      }
    }
  }

  @Test func `A missing or wrong file is one sentence at the start`() throws {
    let other = try TestCertificate(in: folder, name: "other")
    let missing = folder.path("missing")
    func sentence(_ certificate: String, _ key: String) throws -> String {
      var configuration = GatewayConfiguration()
      configuration.certificate = CertificateFiles(certificate: certificate, key: key)
      let error = #expect(throws: GatewayError.self) { try Gateway(configuration: configuration) }
      return error?.message ?? ""
    }
    #expect(try sentence(missing, pair.key) == "cannot read the certificate \(missing): No such file or directory")
    #expect(try sentence(pair.certificate, missing) == "cannot read the key \(missing): No such file or directory")
    #expect(try sentence(pair.key, pair.key) == "\(pair.key) holds no certificate in PEM format")
    #expect(
      try sentence(pair.certificate, pair.certificate) == "\(pair.certificate) holds no private key in PEM format")
    #expect(
      try sentence(pair.certificate, other.key)
        == "the key \(other.key) does not belong to the certificate \(pair.certificate)")
  }
}
