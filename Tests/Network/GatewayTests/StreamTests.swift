import Gateway
import TestSupport
import Testing

/// Answers that go on until one side ends them.
@Suite struct StreamTests {
  private func text(_ text: String) -> Frame { Frame(payload: bytes(text)) }

  /// A request whose answer is a stream that has begun.
  private func begin(
    _ gateway: Gateway, _ recorder: Recorder, receiveBuffer: Int32? = nil, request: String = "GET /v1/x HTTP/1.1"
  ) throws -> (socket: RawSocket, id: ChannelID, head: RawResponse) {
    let socket = try RawSocket(port: gateway.port, receiveBuffer: receiveBuffer)
    try socket.write("\(request)\r\nHost: localhost\r\n\r\n")
    let stream = try recorder.nextStream()
    gateway.send(text("first"), to: stream)
    let head = try socket.readResponse()
    let isChunked = head.headers["transfer-encoding"] != nil
    #expect(try isChunked ? socket.readChunk() == bytes("first") : socket.read(5) == bytes("first"))
    return (socket, stream, head)
  }

  @Test func `Frames arrive in order as chunks, and the end is the end of the chunks`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let (socket, id, head) = try begin(gateway, recorder)
      #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
      #expect(head.headers["transfer-encoding"] == "chunked" && head.headers["content-length"] == nil)
      for word in ["one", "two", "three"] {
        gateway.send(text(word), to: id)
        #expect(try socket.readChunk() == bytes(word))
        try recorder.waitUntilDrained(gateway, id)
      }
      for index in 0..<100 { gateway.send(text("\(index)"), to: id) }
      let words = bytes((0..<100).map(String.init).joined())
      #expect(try socket.readChunks(words.count) == words)
      gateway.close(id)
      gateway.send(text("late"), to: id)
      #expect(try socket.readToEnd() == bytes("0\r\n\r\n"))
      #expect(try recorder.nextClosed() == id)
      socket.close()
      #expect(!recorder.rest().contains { if case .abandoned = $0 { true } else { false } })
    }
  }

  @Test func `A client of HTTP 1.0 gets the frames as they are`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let (socket, id, head) = try begin(gateway, recorder, request: "GET /v1/x HTTP/1.0")
      #expect(head.headers["transfer-encoding"] == nil && head.headers["connection"] == "close")
      gateway.send(text("one"), to: id)
      gateway.send(text("two"), to: id)
      gateway.close(id)
      #expect(try socket.readToEnd() == bytes("onetwo"))
      #expect(try recorder.nextClosed() == id)
    }
  }

  @Test func `A HEAD request gets the head alone`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("HEAD /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let head = try socket.readResponse(bodyless: true)
      #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
      #expect(try socket.readToEnd().isEmpty)
    }
    #expect(!recorder.rest().contains { if case .closed = $0 { true } else { false } })
  }

  @Test func `An answer begins with the first frame, or with an error in its place`() throws {
    let recorder = Recorder.streaming(headers: [("X-Origin", "all")])
    try withGateway(recorder, configure: { $0.streamHeaders = [("X-Stream", "yes")] }) { gateway in
      let socket = try RawSocket(port: gateway.port)
      for answersInstead in [true, false] {
        try socket.write("GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let stream = try recorder.nextStream()
        if !answersInstead { gateway.send(text("one"), to: stream) }
        gateway.end(stream, with: text("the end"), or: 400, headers: [("X-Answer", "no")], body: bytes("wrong"))
        #expect(try recorder.nextClosed() == stream)
        let answer = try socket.readResponse()
        #expect(answer.headers["x-origin"] == "all")
        #expect(answer.status == (answersInstead ? 400 : 200))
        #expect(answer.headers["x-stream"] == (answersInstead ? nil : "yes"))
        #expect(answer.headers["x-answer"] == (answersInstead ? "no" : nil))
        #expect(!answersInstead || answer.text == "wrong")
      }
      #expect(try socket.readChunks(10) == bytes("onethe end"))
      #expect(try socket.readToEnd() == bytes("0\r\n\r\n"))
      #expect(gateway.counters.outgoing == 0)
    }
  }

  @Test func `A gateway that stops answers the requests whose streams have not begun`() throws {
    let recorder = Recorder.streaming()
    var socket: RawSocket?
    try withGateway(recorder) { gateway in
      socket = try RawSocket(port: gateway.port)
      try socket?.write("GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = try recorder.nextStream()
    }
    let answer = try socket?.readResponse()
    #expect(answer?.status == 503 && answer?.text.contains("shutting_down") == true)
  }

  @Test(arguments: [true, false])
  func `A client that leaves is noticed at once`(orderly: Bool) throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let (socket, id, _) = try begin(gateway, recorder)
      if orderly { socket.close() } else { socket.reset() }
      #expect(try recorder.nextClosed(within: 20) == id)
      gateway.send(text("x"), to: id)
      gateway.close(id)
      #expect(try RawSocket(port: gateway.port).request("GET", "/nosuch").status == 404)
    }
  }

  @Test func `Sessions and streams get one frame by one call, and drain alike`() throws {
    let recorder = Recorder.streaming()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n")
      let stream = try recorder.nextStream()
      gateway.queue(text("shared"), to: [stream.rawValue, session.rawValue, 77, 77 | 1 << 63])
      gateway.flush()
      #expect(try socket.readResponse().status == 200)
      #expect(try client.readFrame().text == "shared")
      #expect(try socket.readChunk() == bytes("shared"))
      for channel in [stream, session] { try recorder.waitUntilDrained(gateway, channel) }
      #expect(gateway.counters.sessions == 1 && gateway.counters.streams == 1)
      for channel in [stream, session] { gateway.close(channel) }
      #expect(try socket.readChunk() == [])
      #expect(try client.readCloseCode() == 1000)
    }
  }

  @Test func `A client that leaves before the stream begins ends it`() throws {
    let recorder = Recorder.streaming()
    try withGateway(recorder) { gateway in
      let socket = try RawSocket(port: gateway.port)
      try socket.write("GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let stream = try recorder.nextStream()
      socket.close()
      #expect(try recorder.nextClosed() == stream)
      gateway.send(text("x"), to: stream)
      #expect(try RawSocket(port: gateway.port).request("GET", "/nosuch").status == 404)
    }
    #expect(!recorder.rest().contains { if case .abandoned = $0 { true } else { false } })
  }

  @Test func `What a client does not read waits, is told of, and arrives whole`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let (socket, id, _) = try begin(gateway, recorder, receiveBuffer: 4_096)
      let large = [UInt8](repeating: UInt8(ascii: "x"), count: 400_000)
      let frame = Frame(payload: large)
      for _ in 0..<40 { gateway.send(frame, to: id) }
      for _ in 0..<20 { #expect(try RawSocket(port: gateway.port).request("GET", "/nosuch").status == 404) }
      #expect(!gateway.isDrained(id.rawValue, waiter: 5))
      // Others are served meanwhile.
      for _ in 0..<20 { #expect(try RawSocket(port: gateway.port).request("GET", "/nosuch").status == 404) }
      #expect(!recorder.rest().contains { if case .drained = $0 { true } else { false } })
      #expect(try socket.readChunks(40 * large.count) == [UInt8](repeating: large[0], count: 40 * large.count))
      _ = try recorder.next { if case .drained(32) = $0 { true } else { nil } }
    }
  }

  @Test func `Input after the request neither disturbs the stream nor keeps its end from being noticed`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let (socket, id, _) = try begin(gateway, recorder)
      try socket.write("GET /v1/y HTTP/1.1\r\nHost: localhost\r\n\r\n")
      for _ in 0..<10 {
        gateway.send(text("x"), to: id)
        #expect(try socket.readChunk() == bytes("x"))
      }
      socket.reset()
      #expect(try recorder.nextClosed(within: 20) == id)
    }
  }

  @Test func `Silence is filled with heartbeats`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    let configure = { (configuration: inout GatewayConfiguration) in
      configuration.heartbeat = ":\n\n"
      configuration.heartbeatAfter = .milliseconds(100)
    }
    try withGateway(recorder, configure: configure) { gateway in
      let (socket, id, _) = try begin(gateway, recorder)
      for _ in 0..<2 { #expect(try socket.readChunk() == bytes(":\n\n")) }
      gateway.send(text("x"), to: id)
      while case let chunk = try socket.readChunk(), chunk != bytes("x") { #expect(chunk == bytes(":\n\n")) }
      try recorder.waitUntilDrained(gateway, id)
    }
  }

  @Test(arguments: ["finish", "last frame", "close", "cut off", "stop"])
  func `A file ends where it is said to, and is cut off otherwise`(way: String) throws {
    let recorder = Recorder.streaming(.file)
    var file: RawSocket?
    try withGateway(recorder) { gateway in
      let (socket, id, _) = try begin(gateway, recorder)
      file = socket
      switch way {
      case "finish": gateway.finish(id)
      case "last frame": gateway.end(id, with: text("end"), or: 400, headers: [], body: [])
      case "close": gateway.close(id)
      case "cut off": gateway.end(id, with: nil, or: 400, headers: [], body: [])
      default: return
      }
      #expect(try recorder.nextClosed() == id)
    }
    let ends = ["finish": "0\r\n\r\n", "last frame": "3\r\nend\r\n0\r\n\r\n"]
    #expect(try file?.readToEnd() == bytes(ends[way] ?? ""))
  }

  @Test func `The silence of a file is not filled`() throws {
    let recorder = Recorder.streaming(.file)
    let configure = { (configuration: inout GatewayConfiguration) in
      configuration.heartbeatAfter = .milliseconds(100)
      configuration.limits.pingAfter = .milliseconds(100)
    }
    try withGateway(recorder, configure: configure) { gateway in
      let (socket, id, _) = try begin(gateway, recorder)
      let client = try RawWebSocket(port: gateway.port)
      // Silence is looked for in both at the same time.
      for _ in 0..<2 {
        let ping = try client.readFrame()
        #expect(ping.opcode == .ping)
        try client.send(.pong, ping.payload)
      }
      gateway.finish(id)
      #expect(try socket.readToEnd() == bytes("0\r\n\r\n"))
    }
  }

  @Test func `A gateway that stops ends its streams after what is queued`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    var streams: [RawSocket] = []
    try withGateway(recorder) { gateway in
      for _ in 0..<3 {
        let (socket, id, _) = try begin(gateway, recorder)
        gateway.send(text("last"), to: id)
        streams.append(socket)
      }
    }
    for socket in streams { #expect(try socket.readToEnd() == bytes("4\r\nlast\r\n0\r\n\r\n")) }
    for _ in streams { _ = try recorder.nextClosed() }
  }

  @Test func `A thousand streams get one frame each`() throws {
    let recorder = Recorder.streaming(headers: [("Content-Type", "text/event-stream")])
    try withGateway(recorder) { gateway in
      let streams = try (0..<1_000).map { _ in try begin(gateway, recorder) }
      let frame = text("shared")
      for stream in streams { gateway.send(frame, to: stream.id) }
      for stream in streams { #expect(try stream.socket.readChunk() == bytes("shared")) }
      for stream in streams { stream.socket.close() }
      for _ in streams { _ = try recorder.nextClosed() }
    }
  }
}
