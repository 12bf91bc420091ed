import Foundation
import Gateway
import Synchronization
import TestSupport
import Testing

/// Requests that come too slowly.
@Suite struct DeadlineTests {
  private let clock = ManualClock()

  /// One service thread reads in the order of arrival.
  private var configure: (inout GatewayConfiguration) -> Void {
    { [clock] in ($0.clock, $0.serviceThreads) = (clock.now, 1) }
  }

  private func echo() -> Recorder {
    Recorder(answer: { gateway, request, id in gateway.respond(to: id, status: 200, body: request.body) })
  }

  private func expectLate(_ socket: RawSocket) throws {
    let response = try socket.readResponse()
    #expect(response.status == 408 && response.headers["connection"] == "close")
    #expect(response.headers["content-type"] == "application/problem+json")
    #expect(response.text.contains(#""code":"timeout""#))
    #expect(try socket.readToEnd() == [])
  }

  /// A request that is late after the clock moves by ten seconds. Its answer shows that all connections were checked.
  private func late(_ gateway: Gateway) throws -> RawSocket {
    let socket = try RawSocket(port: gateway.port)
    try socket.write("GET / HTTP/1.1\r\n")
    // The answers to this witness show that everything sent before was read. Data that arrive together are read in any
    // order, but in one turn.
    let witness = try RawSocket(port: gateway.port)
    for _ in 0..<3 { #expect(try witness.request("GET", "/").status == 404) }
    return socket
  }

  @Test func `A head that is not whole in time is answered 408`() throws {
    try withGateway(echo(), configure: configure) { gateway in
      let slow = try late(gateway)
      clock.advance(milliseconds: 9_900)
      try slow.write("Host: localhost\r\n")
      let patient = try late(gateway)
      clock.advance(milliseconds: 200)
      try expectLate(slow)
      #expect(gateway.counters.late == 1)
      // This request began later, so it is not late.
      try patient.write("Host: localhost\r\n\r\n")
      #expect(try patient.readResponse().status == 404)
    }
  }

  @Test func `A connection that says nothing is closed without a word`() throws {
    try withGateway(configure: configure) { gateway in
      let silent = try RawSocket(port: gateway.port)
      let slow = try late(gateway)
      clock.advance(milliseconds: 10_000)
      try expectLate(slow)
      #expect(try silent.readToEnd() == [])
    }
  }

  @Test func `A head that is slow on a connection used before is answered 408 as well`() throws {
    try withGateway(echo(), configure: configure) { gateway in
      let socket = try RawSocket(port: gateway.port)
      for _ in 0..<2 { #expect(try socket.request("POST", "/v1/x", body: "first").text == "first") }
      // An open connection may be idle for longer than a head may take.
      let slow = try late(gateway)
      clock.advance(milliseconds: 10_000)
      try expectLate(slow)
      #expect(try socket.request("POST", "/v1/x", body: "second").text == "second")
      try socket.write("GET / HTTP/1.1\r\nHost:")
      let isOver = Atomic<Bool>(false)
      try withThread({
        while !isOver.load(ordering: .relaxed) {
          clock.advance(milliseconds: 5_000)
          usleep(10_000)
        }
      }) {
        defer { isOver.store(true, ordering: .relaxed) }
        try expectLate(socket)
      }
    }
  }

  @Test func `A body that trickles is answered 408, and one that keeps up is not`() throws {
    try withGateway(echo(), configure: configure) { gateway in
      let (slow, steady) = (try RawSocket(port: gateway.port), try RawSocket(port: gateway.port))
      for (socket, count) in [(slow, 3_000), (steady, 6_000)] {
        try socket.write("POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n")
        try socket.write([UInt8](repeating: 97, count: count))
      }
      let other = try late(gateway)
      // The body has sent enough for 5 seconds at 1,024 bytes a second; the first five seconds do not count.
      clock.advance(milliseconds: 10_000)
      try expectLate(slow)
      try expectLate(other)
      try steady.write([UInt8](repeating: 98, count: 4_000))
      let response = try steady.readResponse()
      #expect(response.status == 200 && response.body.count == 10_000)
    }
  }

  @Test func `No body may take longer than the time for bodies`() throws {
    let configure: (inout GatewayConfiguration) -> Void = {
      self.configure(&$0)
      $0.limits.bodyRate = 0
      $0.limits.bodyTimeout = .seconds(60)
    }
    try withGateway(echo(), configure: configure) { gateway in
      let slow = try RawSocket(port: gateway.port)
      try slow.write("POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123")
      let first = try late(gateway)
      clock.advance(milliseconds: 59_000)
      try expectLate(first)
      try slow.write("456")
      let second = try late(gateway)
      clock.advance(milliseconds: 1_000)
      try expectLate(slow)
      clock.advance(milliseconds: 9_000)
      try expectLate(second)
    }
  }

  @Test func `Two thousand halves of heads keep nobody out`() throws {
    let recorder = Recorder(answer: { gateway, _, id in gateway.respond(to: id, status: 200) })
    try withGateway(recorder, configure: { $0.limits.headTimeout = .seconds(600) }) { gateway in
      let slow = try (0..<2_000).map { _ in
        let socket = try RawSocket(port: gateway.port)
        try socket.write("GET /v1/x HTTP/1.1\r\nHost: a\r\nAccept: ")
        return socket
      }
      for _ in 0..<10 { #expect(try RawSocket(port: gateway.port).request("GET", "/v1/x").status == 200) }
      // The other connections are not forgotten either.
      try slow[1_234].write("x\r\n\r\n")
      #expect(try slow[1_234].readResponse().status == 200)
    }
  }
}

/// Runs `other` on a thread of its own while `body` runs, and waits for the end of both.
private func withThread(_ other: @escaping @Sendable () -> Void, _ body: () throws -> Void) rethrows {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    other()
    done.signal()
  }
  defer { done.wait() }
  try body()
}
