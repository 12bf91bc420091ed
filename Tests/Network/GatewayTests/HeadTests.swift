import Gateway
import TestSupport
import Testing

/// Requests' heads as RFC 9112 has them: what two programs could read differently is refused.
@Suite struct HeadTests {
  private func echo() -> Recorder {
    Recorder(answer: { gateway, request, id in
      gateway.respond(to: id, status: 200, body: "\(request.method) \(request.path) \(request.host ?? "-")".utf8)
    })
  }

  /// The answer to these bytes alone. One that refuses ends the connection.
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

  @Test func `An absolute target names the host, whatever Host says`() throws {
    for scheme in ["http", "HTTPS"] {
      let response = try answer(to: bytes("GET \(scheme)://b.example:81/v1/x?q HTTP/1.1\r\nHost: a\r\n\r\n"))
      #expect(response.text == "GET /v1/x b.example:81")
    }
    #expect(try status(of: "GET http://b.example HTTP/1.1\r\nHost: a\r\n\r\n") == 404)
    for target in ["http:///v1/x", "ftp://a/v1/x", "http://u@a/v1/x", "a:80", "v1/x", "*"] {
      #expect(try status(of: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == 400, "\(target)")
    }
    #expect(try status(of: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n") == 404)
  }

  @Test(arguments: [
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\r\n folded\r\n\r\n", "GET /v1/x HTTP/1.1\r\n Host: a\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost : a\r\n\r\n", "GET /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n", "GET /v1/x HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nX(A): b\r\n\r\n", "GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\u{1}c\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\u{7f}c\r\n\r\n", "GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\rc\r\n\r\n",
    "GET /v1/x HTTP/1.1\nHost: a\n\n", "GET /v1/x HTTP/1.1\r\nHost: a\n\r\n", "GET /v1/x HTTP/1.1\r\nHost: a\r\n\n",
    "GET  /v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x  HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/x y HTTP/1.1\r\nHost: a\r\n\r\n", "GET\t/v1/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x\r\n\r\n",
    "GET /v1/x http/1.1\r\nHost: a\r\n\r\n", "GET /v1/x HTTP/1.1 \r\nHost: a\r\n\r\n",
    "GET /v1/x HTTP/11\r\nHost: a\r\n\r\n", "G@T /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n",
    "GET /v1/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
  ])
  func `A malformed head is answered 400`(text: String) throws {
    #expect(try status(of: text) == 400)
  }

  @Test func `NUL and other control bytes are answered 400 wherever they stand, at once`() throws {
    let head = bytes("GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n")
    for position in [0, 2, 6, 25, 34, 37] {
      for control: UInt8 in [0, 1, 27, 127] {
        var broken = head
        broken[position] = control
        #expect(try answer(to: broken).status == 400, "\(control) at \(position)")
      }
    }
    #expect(try answer(to: bytes("GET /\u{0}")).status == 400, "the rest is not waited for")
    #expect(try answer(to: [0x16, 0x03, 0x01, 0x02, 0x00]).status == 400, "a TLS handshake")
  }

  @Test(arguments: [
    "/v1/%00", "/v1/a%00b", "/v1/%", "/v1/%4", "/v1/%4g", "/v1/%zz", "/v1/x?a=%", "/v1/x?a=%q1", "/v1/x#part", "/v1/é",
  ])
  func `A target that is badly escaped is answered 400`(target: String) throws {
    #expect(try status(of: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
  }

  @Test(arguments: [
    ("Content-Length: 3\r\nContent-Length: 3", 400), ("Content-Length: 3\r\nContent-Length: 4", 400),
    ("Content-Length: 3, 3", 400), ("Content-Length: +3", 400), ("Content-Length:", 400),
    ("Content-Length: 3\r\nTransfer-Encoding: chunked", 400),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
    ("Transfer-Encoding: chunked", 411), ("Transfer-Encoding: Chunked", 411), ("Transfer-Encoding: gzip, chunked", 501),
    ("Transfer-Encoding: xchunked", 501), ("Content-Length: 9999999999999999999", 400),
  ])
  func `Where a body ends is never in doubt`(headers: String, expected: Int) throws {
    // What could be taken for a request of its own is not.
    let smuggled = "0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    #expect(try status(of: "POST /v1/x HTTP/1.1\r\nHost: a\r\n\(headers)\r\n\r\n\(smuggled)") == expected)
  }

  @Test func `A head of 32 KiB is taken, a longer one answered 431`() throws {
    func head(_ length: Int) -> String {
      let start = "GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: "
      return start + String(repeating: "a", count: length - start.utf8.count - 4) + "\r\n\r\n"
    }
    #expect(try status(of: head(32 << 10)) == 200)
    #expect(try status(of: head(32 << 10 + 1)) == 431)
    let endless = bytes(head(100_000)).dropLast(4)
    #expect(try answer(to: Array(endless)).status == 431)
  }

  @Test(arguments: ["BREW", "CONNECT", "get", "PROPFIND"])
  func `An unknown method is answered 501`(method: String) throws {
    #expect(try status(of: "\(method) /v1/x HTTP/1.1\r\nHost: a\r\n\r\n") == 501)
  }

  @Test func `Another version of HTTP is answered 505`() throws {
    #expect(try status(of: "GET /v1/x HTTP/2.0\r\nHost: a\r\n\r\n") == 505)
    #expect(try status(of: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 505)
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

  @Test func `Heads and bodies may come in any pieces, and empty lines in front`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let requests = bytes(
        "\r\nPOST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\r\nGET /v1/b HTTP/1.1\r\nhOST:h \t\r\n\r\n")
      for byte in requests { try socket.write([byte]) }
      #expect(try socket.readResponse().text == "POST /v1/a h")
      #expect(try socket.readResponse().text == "GET /v1/b h")
      // A head that is whole, and half of the next one.
      let half = requests.count / 2
      try socket.write(requests + requests[..<half])
      try socket.write(Array(requests[half...]))
      for _ in 0..<2 {
        #expect(try socket.readResponse().text == "POST /v1/a h")
        #expect(try socket.readResponse().text == "GET /v1/b h")
      }
    }
  }

  @Test func `What follows a refused request is not read`() throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/x HTTP/1.1\r\nHost : a\r\n\r\nGET /v1/y HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try socket.readResponse().status == 400)
      #expect(try socket.readToEnd() == [])
      #expect(!recorder.rest().contains { if case .requested = $0 { true } else { false } })
    }
  }
}
