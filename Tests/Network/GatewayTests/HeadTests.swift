import Gateway
import TestSupport
import Testing

/// Requests' heads: those that libwebsockets passes on and the gateway refuses, and those that libwebsockets itself
/// accepts or refuses. docs/threat-model.md lists the latter.
@Suite struct HeadTests {
  private func echo() -> Recorder {
    Recorder(answer: { gateway, request, id in
      gateway.respond(to: id, status: 200, body: "\(request.method) \(request.path) \(request.host ?? "-")".utf8)
    })
  }

  /// The answer to these bytes alone. A refusal ends the connection.
  private func answer(to bytes: [UInt8]) throws -> RawResponse {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write(bytes)
      let response = try socket.readResponse()
      if response.status != 200 && response.status != 404 {
        #expect(response.headers["connection"] == "close")
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(try socket.readToEnd() == [], "nothing follows a refusal")
      }
      return response
    }
  }

  private func status(of text: String) throws -> Int { try answer(to: bytes(text)).status }

  @Test(arguments: [
    ("GET /v1/x HTTP/1.1\r\n\r\n", 400), ("GET /v1/x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET /v1/x HTTP/1.1\r\nHost:\r\n\r\n", 400), ("GET /v1/x HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    ("GET /v1/x HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET /v1/x HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    ("GET /v1/x HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200), ("GET /v1/x HTTP/1.0\r\n\r\n", 200),
    ("GET /v1/x HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
  ])
  func `A request has one Host`(text: String, expected: Int) throws {
    #expect(try status(of: text) == expected)
  }

  /// libwebsockets would take a line break for the end of the line, and a NUL for that of the connection.
  @Test(arguments: [1, 2, 3, 5, 10_000])
  func `Line breaks and NULs arrive in a query, wherever it is cut`(part: Int) throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      for _ in 0..<2 {
        let text = Array("GET /v1/x?where=a%0Ab%0d%0a%00c&d=%0A&e=%ff%FF%0Ag HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        for start in stride(from: 0, to: text.count, by: part) {
          try socket.write(String(decoding: text[start..<min(start + part, text.count)], as: UTF8.self))
        }
        #expect(try socket.readResponse().status == 200)
        let queries = recorder.rest().compactMap {
          if case .requested(_, let request) = $0 { request.query } else { nil }
        }
        #expect(queries == ["where=a%0Ab%0d%0a%00c&d=%0A&e=%FE%FE%0Ag"])
      }
    }
  }

  /// These end the connection, with libwebsockets' page or without an answer, and the delegate is not called.
  @Test(arguments: [
    "GET http://b.example/v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "BREW /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "PROPFIND /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "G@T /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET\t/v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET /v1/% HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/%4g HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/x?a=%q1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nGET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nUpgrade: tls\r\nConnection: Upgrade\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
  ])
  func `What libwebsockets refuses ends the connection and nothing else`(text: String) throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write(text)
      let answer = try socket.readToEnd()
      #expect(answer.isEmpty || String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.0 403 "))
      #expect(!recorder.rest().contains { if case .requested = $0 { true } else { false } })
      #expect(try RawSocket(port: gateway.port).request("GET", "/v1/x").status == 200)
    }
  }

  /// A proxy would not pass these on. Here each is one request, and the next one is separate.
  @Test(arguments: [
    ("GET /v1/x HTTP/1.1\nHost: a\n\n", "GET /v1/x a"), ("GET  /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x a"),
    ("GET /v1/x  HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x a"), ("get /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x a"),
    ("GET /v1/x HTTP/1.1\r\nHost: a\r\nX(A): b\r\n\r\n", "GET /v1/x a"),
    ("GET /v1/x HTTP/1.1\r\nHost: a\r\nX-B: b\u{1}c\r\n\r\n", "GET /v1/x a"),
    ("GET /v1/x HTTP/1.1\r\nHost: a\r\nAccept: a\u{0}b\r\n\r\n", "GET /v1/x a"),
    ("GET /v1/x#part HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x#part a"),
  ])
  func `What libwebsockets takes loosely is one request`(text: String, expected: String) throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write(text)
      #expect(try socket.readResponse().text == expected)
      #expect(try socket.request("GET", "/v1/next").text == "GET /v1/next localhost")
    }
  }

  @Test(arguments: ["GET /v1/x HTTP/1.1\r\nHost : a\r\n\r\n", "GET /v1/x HTTP/1.1\r\n Host: a\r\n\r\n"])
  func `A Host that is not written as one is none`(text: String) throws {
    #expect(try status(of: text) == 400)
  }

  @Test(arguments: [
    ("Content-Length: 3\r\nContent-Length: 3", 400), ("Content-Length: 3\r\nContent-Length: 4", 400),
    ("Content-Length: 3, 3", 400), ("Content-Length: +3", 400),
    ("Content-Length: 3\r\nTransfer-Encoding: chunked", 400),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
    ("Transfer-Encoding: chunked", 411), ("Transfer-Encoding: Chunked", 411), ("Transfer-Encoding: gzip, chunked", 501),
    ("Transfer-Encoding: xchunked", 501), ("Content-Length: 9999999999999999999", 400),
  ])
  func `Where a body ends is never in doubt`(headers: String, expected: Int) throws {
    // Bytes that could be taken for a second request are not.
    let smuggled = "0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    #expect(try status(of: "POST /v1/x HTTP/1.1\r\nHost: a\r\n\(headers)\r\n\r\n\(smuggled)") == expected)
  }

  @Test(arguments: ["", "Content-Length:\r\n"])
  func `A POST that does not say how long it is has no body and ends the connection`(headers: String) throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("POST /v1/x HTTP/1.1\r\nHost: a\r\n\(headers)\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
      let response = try socket.readResponse()
      #expect(response.text == "POST /v1/x a" && response.headers["connection"] == "close")
      #expect(try socket.readToEnd() == [])
    }
  }

  @Test func `A head of 30 kB is taken, and one beyond 32 KiB ends the connection`() throws {
    func head(_ length: Int) -> String {
      "GET /v1/x HTTP/1.1\r\nHost: a\r\nAccept: \(String(repeating: "a", count: length))\r\n\r\n"
    }
    #expect(try status(of: head(30_000)) == 200)
    for endless in [head(33_000), String(head(100_000).dropLast(4))] {
      try withGateway(echo()) { gateway in
        let socket = try RawSocket(port: gateway.port)
        try? socket.write(endless)
        #expect((try? socket.readToEnd()) ?? [] == [])
        #expect(try RawSocket(port: gateway.port).request("GET", "/v1/x").status == 200)
      }
    }
  }

  @Test(arguments: ["HTTP/2.0", "HTTP/11", "http/1.1", "HTTP/1.1 x", ""])
  func `Another version of HTTP is answered 505`(version: String) throws {
    #expect(try status(of: "GET /v1/x \(version)\r\nHost: a\r\n\r\n") == 505)
  }

  @Test func `HTTP 1.0 closes unless it asks for more`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      for _ in 0..<3 {
        try socket.write("GET /v1/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let response = try socket.readResponse()
        #expect(response.text == "GET /v1/x -" && response.headers["connection"] == "keep-alive")
      }
      try socket.write("GET /v1/x HTTP/1.0\r\n\r\n")
      #expect(try socket.readResponse().headers["connection"] == "close")
      #expect(try socket.readToEnd() == [])
    }
  }

  @Test func `Heads and bodies may come in any pieces`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let requests = bytes(
        "POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /v1/b HTTP/1.1\r\nhOST:h \t\r\n\r\n")
      for byte in requests { try socket.write([byte]) }
      #expect(try socket.readResponse().text == "POST /v1/a h")
      #expect(try socket.readResponse().text == "GET /v1/b h")
      // A complete request, and half of the next one.
      let next = bytes("GET /v1/c HTTP/1.1\r\nHost: h\r\n\r\n")
      for half in [1, next.count / 2, next.count - 1] {
        try socket.write(requests + next[..<half])
        #expect(try socket.readResponse().text == "POST /v1/a h")
        #expect(try socket.readResponse().text == "GET /v1/b h")
        try socket.write(Array(next[half...]))
        #expect(try socket.readResponse().text == "GET /v1/c h")
      }
    }
  }

  /// These are refused before anything else is checked, because libwebsockets would loop forever on them.
  @Test(arguments: [
    "POST /v1/b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", "POST /v1/b HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /v1/b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcdef", "PUT /v1/b HTTP/2.7\r\nHost: h\r\n\r\nabc",
    "GET /v1/b HTTP/1.1\r\nHost: h\r\nContent-Length: 3x\r\n\r\nabcdef",
    "PATCH /v1/b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ])
  func `A request with a body that does not wait for the answer before it is answered 400`(pipelined: String) throws {
    try withGateway(echo()) { gateway in
      for before in [
        "GET /v1/a HTTP/1.1\r\nHost: h\r\n\r\n", "POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
      ] {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(before + pipelined + pipelined + before)
        #expect(try socket.readResponse().status == 200)
        #expect(try socket.readResponse().status == 400)
        // Others are served.
        #expect(try RawSocket(port: gateway.port).request("GET", "/v1/x").status == 200)
      }
    }
  }

  @Test func `What follows a refused request is not read`() throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/x HTTP/1.1\r\nHost: a, b\r\n\r\nGET /v1/y HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try socket.readResponse().status == 400)
      #expect(try socket.readToEnd() == [])
      #expect(!recorder.rest().contains { if case .requested = $0 { true } else { false } })
    }
  }
}
