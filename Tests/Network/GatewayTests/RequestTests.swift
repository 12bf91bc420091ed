import Gateway
import Synchronization
import TestSupport
import Testing

@Suite struct RequestTests {
  /// A recorder that answers with the request.
  private func echo() -> Recorder {
    Recorder(answer: { gateway, request, id in
      let text = "\(request.method) \(request.path)?\(request.query) \(request.body.count)"
      gateway.respond(to: id, status: 200, headers: [("X-Seen", "yes")], body: text.utf8)
    })
  }

  @Test func `A request arrives with its parts and its answer goes back`() throws {
    let recorder = echo()
    try withGateway(recorder) { gateway in
      let headers = [
        "Origin: https://a.example", "Authorization: Bearer x.y", "If-None-Match: \"7\"", "Accept: text/event-stream",
        "Last-Event-ID: v42", "Content-Type: application/json",
      ]
      let response = try RawSocket(port: gateway.port).request(
        "POST", "/v1/some%20where?from=a%26b&where=x%3D1+2&p=%C3%A9", headers: headers, body: "{}")
      #expect(response.status == 200)
      #expect(response.headers["x-seen"] == "yes")
      #expect(response.headers["connection"] == "keep-alive")
      // libwebsockets decodes the query, and the gateway encodes it again.
      #expect(response.text == "POST /v1/some where?from=a%26b&where=x%3D1%202&p=%C3%A9 2")
      let (_, request) = try recorder.nextRequest()
      #expect(request.origin == "https://a.example")
      #expect(request.host == "localhost")
      #expect(request.authorization == "Bearer x.y")
      #expect(request.ifNoneMatch == "\"7\"")
      #expect(request.accept == "text/event-stream")
      #expect(request.lastEventID == "v42")
      #expect(request.contentType == "application/json")
      #expect(request.peer == "127.0.0.1")
      #expect(request.body == bytes("{}"))
    }
  }

  @Test(arguments: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
  func `Every method reaches a dynamic route, with and without a body`(method: String) throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      #expect(try socket.request(method, "/v1/x", body: "abc").text == "\(method) /v1/x? 3")
      #expect(try socket.request(method, "/v1/x", body: "").text == "\(method) /v1/x? 0")
      #expect(try socket.request(method, "/v1/x").text == "\(method) /v1/x? 0")
    }
  }

  @Test func `HEAD gets the headers alone`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let response = try socket.request("HEAD", "/v1/x")
      #expect(response.headers["content-length"] == "\("HEAD /v1/x? 0".utf8.count)")
      #expect(try socket.request("GET", "/v1/x").text == "GET /v1/x? 0")
    }
  }

  @Test func `Many requests use one connection`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      for number in 0..<50 {
        #expect(try socket.request("GET", "/v1/\(number)").text == "GET /v1/\(number)? 0")
        #expect(try socket.request("POST", "/v1/\(number)", body: "xy").text == "POST /v1/\(number)? 2")
      }
    }
  }

  @Test func `Pipelined requests are answered in order, also when the first takes its time`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let post = "POST /v1/0 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
      try socket.write(post + (1..<20).map { "GET /v1/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for number in 0..<20 {
        let (id, request) = try recorder.nextRequest()
        #expect(request.path == "/v1/\(number)")
        #expect(recorder.rest().isEmpty)
        gateway.respond(to: id, status: 200, body: request.path.utf8)
        gateway.respond(to: id, status: 500)
        #expect(try socket.readResponse().text == "/v1/\(number)")
      }
    }
  }

  @Test func `Connection close and HTTP 1.0 are honoured`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let response = try socket.request("GET", "/v1/x", headers: ["Connection: close"])
      #expect(response.headers["connection"] == "close")
      #expect(try socket.readToEnd() == [])
      let old = try RawSocket(port: gateway.port)
      try old.write("GET /v1/x HTTP/1.0\r\n\r\n")
      #expect(try old.readResponse().text == "GET /v1/x? 0")
      #expect(try old.readToEnd() == [])
    }
  }

  @Test func `A body of the limit is taken, a longer one is answered 413`() throws {
    try withGateway(echo(), configure: { $0.limits.bodyLimit = 100_000 }) { gateway in
      let socket = try RawSocket(port: gateway.port)
      let body = String(repeating: "b", count: 100_000)
      #expect(try socket.request("POST", "/v1/x", body: body).text == "POST /v1/x? 100000")
      let response = try socket.request("POST", "/v1/x", body: body + "b")
      #expect(response.status == 413)
      #expect(response.text.contains(#""code":"too_large""#))
      #expect(try socket.readToEnd() == [])
    }
  }

  @Test func `A much too long body is refused before it is sent`() throws {
    try withGateway(echo(), configure: { $0.limits.bodyLimit = 1000 }) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
      #expect(try socket.readResponse().status == 413)
    }
  }

  @Test(arguments: [
    ("Transfer-Encoding: chunked", 411), ("Content-Length: -5", 400), ("Content-Length: 0x10", 400),
  ])
  func `A body whose length is not told is refused`(header: String, status: Int) throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      #expect(try socket.request("POST", "/v1/x", headers: [header]).status == status)
      #expect(try socket.readToEnd() == [])
    }
  }

  @Test func `A client that waits to be asked for its body is asked`() throws {
    try withGateway(echo()) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
      #expect(try socket.readLine() == "HTTP/1.1 100 Continue")
      #expect(try socket.readLine() == "")
      try socket.write("body")
      #expect(try socket.readResponse().text == "POST /v1/x? 4")
    }
  }

  @Test func `A request whose client leaves is abandoned`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      for reset in [false, true] {
        let socket = try RawSocket(port: gateway.port)
        try socket.write("GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\n")
        let (id, _) = try recorder.nextRequest()
        if reset { socket.reset() } else { socket.close() }
        #expect(try recorder.nextAbandoned() == id)
        gateway.respond(to: id, status: 200)
      }
    }
  }

  @Test func `A request whose body never comes whole is not reported`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      socket.close()
      #expect(try RawSocket(port: gateway.port).request("GET", "/").status == 404)
    }
    #expect(!recorder.rest().contains { if case .logged = $0 { false } else { true } })
  }

  @Test func `A request that nobody answered is abandoned by stop`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\n")
      let (id, _) = try recorder.nextRequest()
      gateway.stop()
      #expect(try recorder.nextAbandoned() == id)
      gateway.respond(to: id, status: 200)
    }
  }

  @Test func `A large answer reaches a slow reader whole, and the next request is answered`() throws {
    let size = 25 << 20
    let recorder = Recorder(answer: { gateway, request, id in
      let body = request.path == "/v1/large" ? [UInt8](repeating: 7, count: size) : bytes("small")
      gateway.respond(to: id, status: 200, body: body)
    })
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port, receiveBuffer: 65536)
      // The second request waits in the server while the first is being answered.
      try socket.write("GET /v1/large HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/small HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try recorder.nextRequest()
      // Others are served while this one does not read.
      #expect(try RawSocket(port: gateway.port).request("GET", "/v1/small").text == "small")
      let large = try socket.readResponse()
      #expect(large.body.count == size && large.body.allSatisfy { $0 == 7 })
      #expect(try socket.readResponse().text == "small")
    }
  }

  @Test func `An answer's headers cannot be broken out of`() throws {
    let recorder = Recorder(answer: { gateway, _, id in
      gateway.respond(to: id, status: 204, headers: [("X-A", "1\r\nX-B: 2")])
    })
    try withGateway(recorder) { gateway in
      let response = try RawSocket(port: gateway.port).request("GET", "/v1/x")
      #expect(response.status == 204)
      #expect(response.headers["x-a"] == "1X-B: 2")
      #expect(response.headers["content-length"] == nil)
    }
  }

  @Test func `A long query is taken`() throws {
    let recorder = Recorder(answer: { gateway, request, id in
      gateway.respond(to: id, status: 200, body: request.query.utf8)
    })
    try withGateway(recorder) { gateway in
      let query = "query=" + String(repeating: "%7B", count: 4000)
      let response = try RawSocket(port: gateway.port).request("GET", "/v1/x?\(query)")
      #expect(response.text == query)
    }
  }
}
