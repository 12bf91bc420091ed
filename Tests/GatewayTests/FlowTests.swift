import Gateway
import TestSupport
import Testing

/// Frames out: shared, gathered, in order, and what happens when the client does not read.
@Suite struct FlowTests {
  @Test(arguments: [0, 1, 125, 126, 65535, 65536, 100_000])
  func `A frame's size counts its header`(length: Int) {
    let header = length < 126 ? 2 : length < 65536 ? 4 : 10
    #expect(Frame(payload: [UInt8](repeating: 97, count: length)).size == header + length)
  }

  @Test func `A frame may be shorter than its room, and filling it may fail`() throws {
    struct Failure: Error {}
    let frame = Frame(capacity: 1000) { buffer in
      buffer.copyBytes(from: bytes("short"))
      return 5
    }
    #expect(frame.size == 7)
    #expect(throws: Failure.self) { try Frame(capacity: 10) { _ throws(Failure) in throw Failure() } }
  }

  @Test func `One frame reaches many sessions unchanged`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let clients = try (0..<20).map { _ in try RawWebSocket(port: gateway.port) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0 }
      let frames = (0..<30).map { number in
        Frame(payload: bytes(String(repeating: "\(number) ", count: number == 17 ? 40_000 : number + 1)))
      }
      for frame in frames { for session in sessions { gateway.send(frame, to: session) } }
      for client in clients {
        for number in 0..<30 {
          let frame = try client.readFrame()
          #expect(frame.opcode == .text && frame.final)
          #expect(frame.text == String(repeating: "\(number) ", count: number == 17 ? 40_000 : number + 1))
        }
      }
    }
  }

  @Test func `What is queued leaves with the flush, each session's frames in order, and each is told of once`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let clients = try (0..<20).map { _ in try RawWebSocket(port: gateway.port) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0 }
      // Of a frame of 40,000 bytes and others that are gathered, beyond what a session keeps a place for.
      let texts = (0..<30).map { String(repeating: "\($0) ", count: $0 == 17 ? 20_000 : 3) }
      for text in texts { gateway.queue(Frame(payload: bytes(text)), to: sessions.map(\.rawValue)) }
      gateway.queue(Frame(payload: bytes("nobody")), to: [])
      gateway.flush()
      for client in clients { for text in texts { #expect(try client.readFrame().text == text) } }
      var drained: [ChannelID] = []
      while Set(drained).count < sessions.count { drained.append(try recorder.nextDrained()) }
      #expect(Set(drained) == Set(sessions))
    }
  }

  @Test func `drained comes once after frames were queued`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      for _ in 0..<3 {
        gateway.send(Frame(payload: bytes("message")), to: session)
        #expect(try client.readFrame().text == "message")
        #expect(try recorder.nextDrained() == session)
        try client.send("ping")
        #expect(try recorder.nextText() == "ping")
        #expect(recorder.rest().isEmpty)
      }
    }
  }

  @Test func `A slow reader gets everything in order, pongs in between, and drained at the end`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.outboxLimit = 64 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      // The first is more than the kernel takes for a client that does not read.
      let sizes = [16 << 20] + (1..<2000).map { $0 % 50 == 0 ? 200_000 : 50 + $0 % 4000 }
      for (number, size) in sizes.enumerated() {
        gateway.send(Frame(payload: [UInt8](repeating: UInt8(97 + number % 26), count: size)), to: session)
      }
      try client.send("now")
      _ = try recorder.next { event -> Bool? in
        if case .drained = event { Issue.record("drained before anything was read") }
        if case .received = event { return true } else { return nil }
      }
      var pongs = 0
      for (number, size) in sizes.enumerated() {
        if number % 100 == 0 { try client.send(.ping, bytes("\(number)")) }
        var frame = try client.readFrame()
        while frame.opcode == .pong {
          pongs += 1
          frame = try client.readFrame()
        }
        #expect(frame.payload.count == size && frame.payload.allSatisfy { $0 == UInt8(97 + number % 26) })
      }
      #expect(pongs > 0)
      #expect(try recorder.nextDrained() == session)
    }
  }

  @Test func `Reading from a session pauses while too much is queued for it`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.outboxLimit = 100_000 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      let other = try RawWebSocket(port: gateway.port)
      let frame = Frame(payload: [UInt8](repeating: 97, count: 1 << 20))
      for _ in 0..<16 { gateway.send(frame, to: session) }
      // Handled by the service thread after the frames above.
      try other.send("other")
      #expect(try recorder.nextText() == "other")
      try client.send("more")
      try other.send("another")
      #expect(try recorder.nextText() == "another")
      #expect(throws: RawSocket.Failure.self, "nothing is received") {
        try recorder.next(within: 0.3) { if case .received = $0 { true } else { nil } }
      }
      for _ in 0..<16 { #expect(try client.readFrame().payload.count == 1 << 20) }
      #expect(try recorder.nextText() == "more")
    }
  }

  @Test func `A client that vanishes with frames queued is closed`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.outboxLimit = 1000 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      let frame = Frame(payload: [UInt8](repeating: 97, count: 1 << 20))
      for _ in 0..<16 { gateway.send(frame, to: session) }
      client.socket.reset()
      #expect(try recorder.nextClosed() == session)
    }
  }
}
