import Foundation
import Gateway
import TestSupport
import Testing

@Suite struct LifeTests {
  private func failure(configure: (inout GatewayConfiguration) -> Void) -> String? {
    #expect(throws: GatewayError.self) { try withGateway(configure: configure) { _ in } }?.message
  }

  @Test func `Port 0 takes a free port, one for each gateway`() throws {
    try withGateway { one in
      try withGateway { other in
        #expect(one.port > 0 && other.port > 0 && one.port != other.port)
        let response = try RawSocket(port: other.port).request("GET", "/")
        #expect(response.status == 404)
      }
    }
  }

  @Test func `A port in use is an error at once, and stays the first one's`() throws {
    try withGateway { gateway in
      let port = gateway.port
      #expect(failure { $0.port = port } == "port \(port) on 127.0.0.1 is already in use")
      let response = try RawSocket(port: port).request("GET", "/")
      #expect(response.status == 404)
    }
  }

  @Test func `A port can be taken again right after stop, although connections were open`() throws {
    let (port, client) = try withGateway { gateway in (gateway.port, try RawWebSocket(port: gateway.port)) }
    try withGateway(configure: { $0.port = port }) { gateway in
      #expect(gateway.port == port)
    }
    client.close()
  }

  @Test func `What cannot be listened on is said in a sentence`() {
    #expect(failure { $0.host = "192.0.2.1" } == "192.0.2.1 is not an address of this machine")
    #expect(failure { $0.port = 70000 } == "70000 is not a port")
    let message = failure { $0.publicDirectory = "/nonexistent/public" }
    #expect(message == "cannot read the directory /nonexistent/public: No such file or directory")
    let file = failure { $0.publicDirectory = "/etc/passwd" }
    #expect(file == "cannot read the directory /etc/passwd: Not a directory")
  }

  @Test(.enabled(if: hasIPv6Loopback, "this machine has no ::1")) func `IPv6 is listened on`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.host = "::1" }) { gateway in
      let client = try RawWebSocket(host: "::1", port: gateway.port)
      #expect(try recorder.nextOpened().1.peer == "::1")
      client.close()
    }
  }

  @Test func `An IPv4 client of an IPv6 socket is named by its IPv4 address`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: { $0.host = "::" }) { gateway in
      let client = try RawWebSocket(host: "127.0.0.1", port: gateway.port)
      #expect(try recorder.nextOpened().1.peer == "127.0.0.1")
      client.close()
    }
  }

  @Test func `stop writes what is queued, closes every session with the code and reports them closed`() throws {
    let recorder = Recorder()
    var configuration = GatewayConfiguration()
    configuration.host = "127.0.0.1"
    let gateway = try Gateway(configuration: configuration)
    try gateway.start(recorder)
    let clients = try (0..<10).map { _ in try RawWebSocket(port: gateway.port) }
    for _ in clients {
      let (session, _) = try recorder.nextOpened()
      gateway.send(Frame(payload: bytes("last words")), to: session)
    }
    Thread.detachNewThread { gateway.stop(code: 1001, reason: "restart", grace: .seconds(10)) }
    for client in clients {
      #expect(try client.readFrame().text == "last words")
      let close = try client.readFrame()
      #expect(close.code == 1001 && Array(close.payload.dropFirst(2)) == bytes("restart"))
      try client.send(.close, [0x03, 0xe9])
    }
    for _ in clients { _ = try recorder.nextClosed() }
    // Another server may have the port by now.
    _ = try? RawWebSocket(port: gateway.port)
    let isOpened = recorder.rest().contains { if case .opened = $0 { true } else { false } }
    #expect(!isOpened)
    gateway.send(Frame(payload: bytes("too late")), to: ChannelID(rawValue: 1 << 32))
    gateway.stop()
  }

  @Test func `stop does not wait longer than its grace for clients that do not read`() throws {
    let recorder = Recorder()
    let gateway = try Gateway(configuration: GatewayConfiguration())
    try gateway.start(recorder)
    let client = try RawWebSocket(port: gateway.port, receiveBuffer: 4096)
    let (session, _) = try recorder.nextOpened()
    gateway.send(Frame(payload: [UInt8](repeating: 97, count: 16 << 20)), to: session)
    let start = ContinuousClock.now
    gateway.stop(grace: .milliseconds(300))
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(try recorder.nextClosed() == session)
    client.close()
  }

  @Test func `stopListening refuses new connections and keeps the open ones`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      gateway.stopListening()
      // The service thread carries it out before it handles this message.
      try client.send("one")
      #expect(try recorder.nextText() == "one")
      let refused = (0..<100).contains { _ in
        defer { usleep(10_000) }
        return (try? RawSocket(port: gateway.port)) == nil
      }
      #expect(refused)
      try client.send("two")
      #expect(try recorder.nextText() == "two")
    }
  }

  @Test func `A stopped gateway lets go of its delegate`() throws {
    weak var forgotten: Recorder?
    do {
      let recorder = Recorder()
      forgotten = recorder
      try withGateway(recorder) { _ in }
    }
    #expect(forgotten == nil)
  }

  @Test func `Many threads may send at once, and each one's messages stay in order`() throws {
    let recorder = Recorder()
    try withGateway(recorder) { gateway in
      let client = try RawWebSocket(port: gateway.port)
      let (session, _) = try recorder.nextOpened()
      let (threads, messages) = (4, 500)
      for thread in 0..<threads {
        Thread.detachNewThread {
          for number in 0..<messages { gateway.send(Frame(payload: bytes("\(thread) \(number)")), to: session) }
        }
      }
      var expected = Array(repeating: 0, count: threads)
      for _ in 0..<threads * messages {
        let words = try client.readFrame().text.split(separator: " ").map { Int($0)! }
        #expect(words[1] == expected[words[0]])
        expected[words[0]] += 1
      }
    }
  }
}
