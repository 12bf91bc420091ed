import Gateway
import Synchronization
import TestSupport
import Testing

/// Sessions that send more than they may are read slowly: nothing is lost, and other clients do not notice.
@Suite struct RateTests {
  private let clock = ManualClock()

  private func limited(_ burst: Int) -> (inout GatewayConfiguration) -> Void {
    { [clock] in
      $0.limits.messageRate = 200
      $0.limits.messageBurst = burst
      $0.clock = clock.now
    }
  }

  /// The received messages of the first session, after the service thread has done all that it can at this time.
  private func received(_ recorder: Recorder, _ witness: RawWebSocket, rounds: Int = 3) throws -> [String] {
    var texts: [String] = []
    for _ in 0..<rounds {
      try witness.send("witness")
      _ = try recorder.next { event -> Bool? in
        guard case .received(_, let message) = event else { return nil }
        let text = String(decoding: message, as: UTF8.self)
        if text != "witness" { texts.append(text) }
        return text == "witness" ? true : nil
      }
    }
    return texts
  }

  @Test func `A burst is received at once, and the rest at the rate, in order`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: limited(10)) { gateway in
      let flood = try RawWebSocket(port: gateway.port)
      let count = 60
      try flood.socket.write((0..<count).flatMap { RawWebSocket.encode(.text, bytes("\($0)")) })
      for number in 0..<10 { #expect(try recorder.nextText() == "\(number)") }
      // The witness is opened and read while the flood is paused.
      let witness = try RawWebSocket(port: gateway.port)
      #expect(try received(recorder, witness) == [])
      for number in 10..<count {
        clock.advance(milliseconds: 5)
        #expect(try recorder.nextText() == "\(number)")
        #expect(!recorder.rest().contains { if case .received = $0 { true } else { false } }, "one token, one message")
      }
    }
  }

  @Test func `After a pause a session has its burst again, and not more`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: limited(10)) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      try client.socket.write((0..<100).flatMap { RawWebSocket.encode(.text, bytes("\($0)")) })
      for number in 0..<10 { #expect(try recorder.nextText() == "\(number)") }
      clock.advance(milliseconds: 60_000)
      for number in 10..<20 { #expect(try recorder.nextText() == "\(number)") }
      let witness = try RawWebSocket(port: gateway.port)
      #expect(try received(recorder, witness) == [])
    }
  }

  @Test func `Fragments cost as much as messages`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: limited(10)) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      var flood = RawWebSocket.encode(.text, bytes("0"), final: false)
      for _ in 0..<8 { flood += RawWebSocket.encode(.continuation, [], final: false) }
      flood += RawWebSocket.encode(.continuation, bytes("1")) + RawWebSocket.encode(.text, bytes("next"))
      try client.socket.write(flood)
      #expect(try recorder.nextText() == "01")
      let witness = try RawWebSocket(port: gateway.port)
      #expect(try received(recorder, witness) == [])
      clock.advance(milliseconds: 5)
      #expect(try recorder.nextText() == "next")
    }
  }

  @Test func `A session that is slowed is neither hung up on nor deaf to its end`() throws {
    let recorder = Recorder()
    let configure: (inout GatewayConfiguration) -> Void = {
      limited(2)(&$0)
      $0.limits.messageRate = 1
      $0.limits.pingAfter = .milliseconds(100)
      $0.limits.hangUpAfter = .milliseconds(800)
    }
    try withGateway(recorder, configure: configure) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      for number in 0..<5 { try client.send("\(number)") }
      for number in 0..<2 { #expect(try recorder.nextText() == "\(number)") }
      for number in 2..<5 {
        clock.advance(milliseconds: 1_000)
        #expect(try recorder.nextText() == "\(number)")
      }
      gateway.close(session, code: 1000)
      #expect(try client.readCloseCode() == 1000)
      try client.send(.close, [0x03, 0xe8])
      #expect(try recorder.nextClosed() == session)
    }
  }

  @Test func `A session is not read after an answer of false, until it is resumed`() throws {
    let goesOn = Atomic<Bool>(false)
    let recorder = Recorder(goesOn: { goesOn.load(ordering: .relaxed) })
    try withGateway(recorder, configure: { $0.clock = clock.now }) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      try client.socket.write((0..<5).flatMap { RawWebSocket.encode(.text, bytes("\($0)")) })
      #expect(try recorder.nextText() == "0")
      // A session that is read and sends nothing would be closed after this time.
      clock.advance(milliseconds: 100_000)
      for number in 1..<4 {
        let other = try RawWebSocket(port: gateway.port)
        try other.send("other")
        #expect(try recorder.nextText() == "other")
        gateway.resume(session)
        #expect(try recorder.nextText() == "\(number)")
      }
      goesOn.store(true, ordering: .relaxed)
      gateway.resume(session)
      #expect(try recorder.nextText() == "4")
    }
  }
}
