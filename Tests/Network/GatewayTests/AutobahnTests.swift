import Gateway
import TestSupport
import Testing

/// The cases of Autobahn's fuzzingclient, sections 1 to 7 and a few of 9, against a server that echoes and accepts only
/// text. docs/reliability.md counts the differences from RFC 6455.
@Suite struct AutobahnTests {
  @Test(arguments: AutobahnCase.framing) func `1 Framing`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.pings) func `2 Pings and pongs`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.reservedBits) func `3 Reserved bits`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.opcodes) func `4 Opcodes`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.fragmentation) func `5 Fragmentation`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.utf8) func `6 UTF-8`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.closing) func `7 Closing`(_ test: AutobahnCase) throws { try run(test) }
  @Test(arguments: AutobahnCase.limits) func `9 Limits`(_ test: AutobahnCase) throws { try run(test) }

  private struct Heard {
    var texts: [[UInt8]] = []
    var pongs: [[UInt8]] = []
    var close: RawWebSocket.Frame?
  }

  private func run(_ test: AutobahnCase) throws {
    let recorder = Recorder(react: { gateway, session, message in gateway.send(Frame(payload: message), to: session) })
    try withGateway(recorder, configure: { $0.limits.messageLimit = 8 << 20 }) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      for bytes in test.writes {
        // The server may have closed.
        guard (try? client.socket.write(bytes)) != nil else { break }
      }
      var heard = Heard()
      if case .goesOn = test.ending {
        let pongs = test.mayLose.contains(.pongs) ? 1 : test.pongs.count
        try listen(client, into: &heard) { $0.texts.count < test.texts.count || $0.pongs.count < pongs }
        try client.send(.close, [0x03, 0xe8])
      }
      try listen(client, into: &heard) { $0.close == nil }
      expect(heard, of: test)
      if heard.close != nil { try? client.send(.close, [0x03, 0xe8]) }
      #expect(try client.socket.readToEnd() == [], "nothing follows")
      client.close()
      #expect(try recorder.nextClosed() == session)
    }
  }

  private func expect(_ heard: Heard, of test: AutobahnCase) {
    let pongs = test.mayLose.contains(.pongs) ? test.pongs.filter(heard.pongs.contains) : test.pongs
    #expect(test.mayLose.contains(.texts) ? test.texts.starts(with: heard.texts) : heard.texts == test.texts)
    #expect(heard.pongs == pongs && heard.pongs.first == test.pongs.first)
    if heard.close == nil, test.mayLose.contains(.close) { return }
    switch test.ending {
    case .goesOn: #expect(heard.close?.code == 1000)
    case .closes(let code): #expect(heard.close != nil && heard.close?.code == code)
    case .hangsUp: #expect(heard.close == nil)
    }
  }

  /// Reads messages until the server closes or hangs up.
  private func listen(_ client: RawWebSocket, into heard: inout Heard, while goesOn: (Heard) -> Bool) throws {
    var message: [UInt8] = []
    while goesOn(heard), let frame = try? client.readFrame() {
      switch frame.opcode {
      case .pong: heard.pongs.append(frame.payload)
      case .close: heard.close = frame; return
      default:
        message += frame.payload
        if frame.final {
          heard.texts.append(message)
          message = []
        }
      }
    }
  }
}
