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

  @Test func `A frame takes over a message that was written elsewhere`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      // The block is longer than the message, because the writer may have reserved more room.
      let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Frame.headroom + 100, alignment: 1)
      UnsafeMutableRawBufferPointer(rebasing: block[Frame.headroom...]).copyBytes(from: bytes("written elsewhere"))
      let frame = Frame(adopting: block.baseAddress!, length: 17)
      #expect(frame.size == 19)
      gateway.send(frame, to: session)
      #expect(try client.readFrame().text == "written elsewhere")
    }
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

  @Test func `What is queued leaves with the flush, each session's frames in order`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let clients = try (0..<20).map { _ in try RawWebSocket(port: gateway.port) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0 }
      // A frame of 40,000 bytes and others that are gathered, beyond the capacity of a session.
      let texts = (0..<30).map { String(repeating: "\($0) ", count: $0 == 17 ? 20_000 : 3) }
      for text in texts { gateway.queue(Frame(payload: bytes(text)), to: sessions.map(\.rawValue)) }
      gateway.queue(Frame(payload: bytes("nobody")), to: [])
      gateway.flush()
      for client in clients { for text in texts { #expect(try client.readFrame().text == text) } }
      for session in sessions { try recorder.waitUntilDrained(gateway, session) }
    }
  }

  @Test func `Who was refused is told once when a session has drained, and nobody else`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      let large = Frame(payload: [UInt8](repeating: 97, count: 16 << 20))
      for _ in 0..<3 {
        #expect(gateway.isDrained(session.rawValue, waiter: 7))
        gateway.send(large, to: session)
        // The channel is busy at once, even before the service thread has seen the frame.
        for waiter in [3, 63] { #expect(!gateway.isDrained(session.rawValue, waiter: waiter)) }
        #expect(try client.readFrame().payload.count == 16 << 20)
        let waiters = try recorder.next { if case .drained(let waiters) = $0 { waiters } else { nil } }
        #expect(waiters == UInt64(1) << 3 | UInt64(1) << 63)
        try client.send("ping")
        #expect(try recorder.nextText() == "ping")
        #expect(recorder.rest().isEmpty)
      }
      #expect(gateway.isDrained(session.rawValue + 1 << 32, waiter: 0), "of one that is gone")
    }
  }

  @Test func `Frames that a closed session never took keep nobody waiting`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      for _ in 0..<3 { gateway.send(Frame(payload: [UInt8](repeating: 97, count: 16 << 20)), to: session) }
      #expect(!gateway.isDrained(session.rawValue, waiter: 0))
      client.socket.reset()
      #expect(try recorder.nextClosed() == session)
      #expect(gateway.isDrained(session.rawValue, waiter: 0))
      // The next channel in this slot starts with no frames on their way.
      gateway.send(Frame(payload: bytes("to nobody")), to: session)
      _ = try RawWebSocket(port: gateway.port)
      let (next, _) = try recorder.nextOpened()
      #expect(next != session && gateway.isDrained(next.rawValue, waiter: 0))
    }
  }

  @Test func `A notice comes after what was queued before it`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let clients = try (0..<3).map { _ in try RawWebSocket(port: gateway.port) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0 }
      gateway.queue(Frame(payload: bytes("all")), to: sessions.map(\.rawValue))
      gateway.queue(Frame(payload: bytes("one")), to: [sessions[0].rawValue])
      gateway.notify(77, of: sessions[0])
      gateway.flush()
      let (channel, value) = try recorder.next {
        if case .notified(let channel, let value) = $0 { (channel, value) } else { nil }
      }
      #expect(channel == sessions[0] && value == 77)
      for client in clients { #expect(try client.readFrame().text == "all") }
      #expect(try clients[0].readFrame().text == "one")
      #expect(gateway.counters.sessions == 3 && gateway.counters.streams == 0)
    }
  }

  @Test func `A slow reader gets everything in order, pongs in between, and drained at the end`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      // The first is more than the kernel takes for a client that does not read.
      let sizes = [16 << 20] + (1..<2000).map { $0 % 50 == 0 ? 200_000 : 50 + $0 % 4000 }
      for (number, size) in sizes.enumerated() {
        gateway.send(Frame(payload: [UInt8](repeating: UInt8(97 + number % 26), count: size)), to: session)
      }
      #expect(!gateway.isDrained(session.rawValue, waiter: 0))
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
      _ = try recorder.next { if case .drained(1) = $0 { true } else { nil } }
    }
  }

  @Test func `Reading from a session pauses while too much is queued for it`() throws {
    let recorder = Recorder()
    // One service thread works in order.
    try withGateway(recorder, configure: { ($0.limits.outboxLimit, $0.serviceThreads) = (100_000, 1) }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      let other = try RawWebSocket(port: gateway.port)
      let frame = Frame(payload: [UInt8](repeating: 97, count: 1 << 20))
      for _ in 0..<16 { gateway.send(frame, to: session) }
      // The service thread handles this message after the frames above.
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
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 1000 }) { gateway in
      let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let (session, _) = try recorder.nextOpened()
      let frame = Frame(payload: [UInt8](repeating: 97, count: 1 << 20))
      for _ in 0..<16 { gateway.send(frame, to: session) }
      client.socket.reset()
      #expect(try recorder.nextClosed() == session)
    }
  }
}
