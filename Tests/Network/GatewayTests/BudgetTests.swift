import Foundation
import Gateway
import TestSupport
import Testing

/// The memory of data on its way to clients, and clients that do not read it.
@Suite struct BudgetTests {
  /// More than the kernel takes for a client that does not read.
  private static let large = 16 << 20
  /// Bytes that libwebsockets may have copied for each client.
  private static let copied = 64 << 10
  private let clock = ManualClock()

  /// A recorder that answers with as many bytes as the last part of the path says.
  private func answering() -> Recorder {
    Recorder(answer: { gateway, request, id in
      let count = Int(request.path.split(separator: "/").last ?? "") ?? 0
      gateway.respond(to: id, status: 200, body: [UInt8](repeating: 97, count: count))
    })
  }

  private func ask(_ gateway: Gateway, _ bytes: Int) throws -> RawSocket {
    let socket = try RawSocket(port: gateway.port, receiveBuffer: 4096)
    try socket.write("GET /v1/\(bytes) HTTP/1.1\r\nHost: x\r\n\r\n")
    return socket
  }

  @Test func `Answers beyond the budget are refused, and short ones never`() throws {
    try withGateway(answering(), configure: { $0.limits.outgoingLimit = 40 << 20 }) { gateway in
      let unread = try (0..<2).map { _ in try ask(gateway, Self.large) }
      #expect(comesTrue { gateway.counters.outgoing == 2 * Self.large })
      let refused = try ask(gateway, Self.large).readResponse()
      #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
      #expect(refused.text.contains(#""code":"overloaded""#))
      #expect(gateway.counters.memory == 1)
      #expect(try ask(gateway, 1_000).readResponse().body.count == 1_000)
      // Answers on their way arrive completely, and then make room.
      for socket in unread { #expect(try socket.readResponse().body.count == Self.large) }
      #expect(comesTrue { gateway.counters.outgoing == 0 })
      #expect(try ask(gateway, Self.large).readResponse().body.count == Self.large)
    }
  }

  @Test func `An answer whose client has left makes room`() throws {
    try withGateway(answering(), configure: { $0.limits.outgoingLimit = 20 << 20 }) { gateway in
      let unread = try ask(gateway, Self.large)
      #expect(comesTrue { gateway.counters.outgoing == Self.large })
      unread.reset()
      #expect(comesTrue { gateway.counters.outgoing == 0 })
    }
  }

  @Test func `A frame counts once however many wait for it, and not at all in the end`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.limits.outboxLimit = 64 << 20 }) { gateway in
      let clients = try (0..<3).map { _ in try RawWebSocket(port: gateway.port, receiveBuffer: 4096) }
      let sessions = try clients.map { _ in try recorder.nextOpened().0.rawValue }
      let blocking = Frame(payload: [UInt8](repeating: 97, count: Self.large))
      gateway.queue(blocking, to: sessions)
      gateway.flush()
      // For each client, the rest that the kernel did not take is copied.
      let copies = 3 * Self.copied
      #expect(comesTrue { gateway.counters.outgoing == blocking.size + copies })
      let shared = Frame(payload: [UInt8](repeating: 98, count: 5 << 20))
      gateway.queue(shared, to: sessions)
      gateway.flush()
      #expect(comesTrue { gateway.counters.outgoing == blocking.size + shared.size + copies })
      for client in clients.dropLast() {
        #expect(try client.readFrame().payload.count == Self.large)
        #expect(try client.readFrame().payload.count == 5 << 20)
      }
      clients[2].socket.reset()
      #expect(comesTrue { gateway.counters.outgoing == 0 })
    }
  }

  @Test func `What waits for a stream counts until it is over`() throws {
    let recorder = Recorder.streaming()
    try withGateway(recorder) { gateway in
      let socket = try ask(gateway, 0)
      let stream = try recorder.nextStream()
      let frame = Frame(payload: [UInt8](repeating: 97, count: Self.large))
      for _ in 0..<2 { gateway.send(frame, to: stream) }
      // The range allows for the part that libwebsockets has copied.
      #expect(comesTrue { (frame.size...frame.size + Self.copied).contains(gateway.counters.outgoing) })
      socket.reset()
      #expect(try recorder.nextClosed() == stream)
      #expect(comesTrue { gateway.counters.outgoing == 0 })
      // This stream is gone.
      gateway.send(frame, to: stream)
      #expect(comesTrue { gateway.counters.outgoing == 0 })
    }
  }

  @Test func `A client that takes nothing of what waits for it is closed, whatever it says`() throws {
    let recorder = answering()
    let configure: (inout GatewayConfiguration) -> Void = {
      $0.clock = clock.now
      $0.limits.readTimeout = .seconds(30)
      $0.limits.outboxLimit = 64 << 20
    }
    try withGateway(recorder, configure: configure) { gateway in
      let sleeping = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let asleep = try recorder.nextOpened().0
      let slow = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
      let awake = try recorder.nextOpened().0
      let http = try ask(gateway, Self.large)
      let frame = Frame(payload: [UInt8](repeating: 97, count: Self.large))
      gateway.queue(frame, to: [asleep.rawValue, awake.rawValue])
      gateway.flush()
      #expect(comesTrue { gateway.counters.outgoing == frame.size + Self.large + 2 * Self.copied })
      let head = try slow.socket.read(10)
      #expect(head.count == 10)
      // Every round includes a sweep. A client that reads a little now and then stays open; one that only sends does
      // not.
      var closed: [ChannelID] = []
      for _ in 0..<200 where closed.isEmpty || gateway.counters.stalled < 2 {
        clock.advance(milliseconds: 1_000)
        _ = try slow.socket.read(40_000)
        try? sleeping.send("still here")
        usleep(20_000)
        for case .closed(let session) in recorder.rest() { closed.append(session) }
      }
      #expect(closed == [asleep])
      #expect(gateway.counters.stalled == 2)
      #expect(gateway.counters.outgoing == frame.size + Self.copied)
      withExtendedLifetime(http) {}
    }
  }
}
