import Gateway
import Synchronization
import TestSupport
import Testing

/// The gateway's reports on requests that are over.
@Suite struct OutcomeTests {
  private func outcomes(_ recorder: Recorder) -> [String] {
    recorder.outcomes.withLock { list in
      list.map { _, outcome, request in
        let bytes = outcome.bytes.map { "\($0)" } ?? "-"
        return "\(request.method) \(request.path) \(request.peer) \(outcome.status) \(bytes) \(outcome.code ?? "-")"
      }
    }
  }

  @Test func `Every request that is over is told of once, whoever answered it`() throws {
    let recorder = Recorder(answer: { gateway, request, id in
      gateway.respond(to: id, status: 200, body: bytes("hello"))
      // The first answer counts.
      gateway.respond(to: id, status: 500)
    })
    try withGateway(recorder, configure: { $0.limits.bodyLimit = 10 }) { gateway in
      let socket = try RawSocket(port: gateway.port)
      #expect(try socket.request("GET", "/v1/a?q=SECRET").status == 200)
      #expect(try socket.request("HEAD", "/v1/a").status == 200)
      #expect(try socket.request("GET", "/file").status == 404)
      #expect(try socket.request("GET", "/v1/live").status == 426)
      #expect(try socket.request("POST", "/v1/a", body: "0123456789a").status == 413)
    }
    #expect(
      outcomes(recorder).map { $0.replacing(/\ \d+\ (?=[a-z_]+$)/, with: " n ") } == [
        "GET /v1/a 127.0.0.1 200 5 -", "HEAD /v1/a 127.0.0.1 200 0 -", "GET /file 127.0.0.1 404 n not_found",
        "GET /v1/live 127.0.0.1 426 n bad_message", "POST /v1/a 127.0.0.1 413 n too_large",
      ])
  }

  @Test func `A handshake that is refused is told of, one that is accepted is not`() throws {
    let recorder = Recorder(refuse: { $0.query.isEmpty ? nil : 403 })
    try withGateway(recorder) { gateway in
      let session = try RawWebSocket(port: gateway.port)
      _ = try recorder.nextOpened()
      session.close()
      #expect(throws: (any Error).self) { try RawWebSocket(port: gateway.port, path: "/v1/live?no") }
    }
    #expect(
      outcomes(recorder).map { $0.split(separator: " ") }.map { [$0[1], $0[3], $0[5]] } == [
        ["/v1/live", "403", "not_allowed"]
      ])
  }

  @Test func `A client that leaves before its answer is 499, and hears of nothing twice`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let (id, _) = try recorder.nextRequest()
      socket.close()
      #expect(try recorder.nextAbandoned() == id)
      gateway.respond(to: id, status: 200)
    }
    #expect(outcomes(recorder) == ["GET /v1/a 127.0.0.1 499 0 -"])
  }

  @Test func `A stream is told of when it is over, without a length`() throws {
    let recorder = Recorder.streaming()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let channel = try recorder.nextStream()
      gateway.send(Frame(payload: bytes("data")), to: channel)
      #expect(try socket.readLine().hasPrefix("HTTP/1.1 200"))
      #expect(outcomes(recorder).isEmpty)
      gateway.close(channel)
      _ = try socket.readToEnd()
    }
    #expect(outcomes(recorder) == ["GET /v1/a 127.0.0.1 200 - -"])
  }
}
