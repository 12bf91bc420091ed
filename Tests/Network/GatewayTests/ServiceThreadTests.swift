import Foundation
import Gateway
import Synchronization
import TestSupport
import Testing

/// Several threads that serve one port.
@Suite struct ServiceThreadTests {
  private static let threads = 3

  private func thread(of channel: ChannelID) -> Int { Int(channel.rawValue & 0xFFFF_FFFF) % Self.threads }

  private func configure(_ configuration: inout GatewayConfiguration) { configuration.serviceThreads = Self.threads }

  /// Connects clients until each thread has some, because the system distributes connections arbitrarily.
  private func connect(_ gateway: Gateway, _ recorder: Recorder) throws -> [(client: RawWebSocket, session: ChannelID)]
  {
    var all: [(RawWebSocket, ChannelID)] = []
    while Set(all.map { thread(of: $0.1) }).count < Self.threads || all.count < 12 {
      try #require(all.count < 500)
      all.append((try RawWebSocket(port: gateway.port), try recorder.nextOpened().0))
    }
    return all
  }

  private func frame(_ text: String) -> Frame { Frame(payload: Array(text.utf8)) }

  @Test func `Every thread has sessions, and each gets what is sent to it, once and in order`() throws {
    let recorder = Recorder()
    try withGateway(recorder, configure: configure) { gateway in
      let all = try connect(gateway, recorder)
      #expect(Set(all.map(\.session)).count == all.count)
      #expect(gateway.counters.sessions == all.count)
      gateway.queue(frame("to all"), to: all.map(\.session.rawValue))
      gateway.queue(frame("to some"), to: all.dropFirst(5).map(\.session.rawValue))
      gateway.flush()
      for (number, entry) in all.enumerated() {
        gateway.send(frame("to \(number)"), to: entry.session)
        try recorder.waitUntilDrained(gateway, entry.session, waiter: number % 64)
      }
      #expect(gateway.counters.outgoing == 0)
      for (number, entry) in all.enumerated() {
        let expected = ["to all"] + (number >= 5 ? ["to some"] : []) + ["to \(number)"]
        for text in expected {
          let payload = try entry.client.readFrame().payload
          #expect(String(decoding: payload, as: UTF8.self) == text)
        }
      }
      // Each client's messages arrive under its own session.
      for entry in all {
        try entry.client.send("\(entry.session.rawValue)")
        #expect(try recorder.nextText() == "\(entry.session.rawValue)")
      }
      for entry in all {
        gateway.close(entry.session, code: 4001)
        #expect(try entry.client.readCloseCode() == 4001)
        entry.client.close()
        #expect(try recorder.nextClosed() == entry.session)
      }
    }
  }

  @Test func `Requests and streams of all threads have names of their own`() throws {
    let recorder = Recorder.streaming()
    try withGateway(recorder, configure: configure) { gateway in
      var streams: [(socket: RawSocket, channel: ChannelID)] = []
      while Set(streams.map { thread(of: $0.channel) }).count < Self.threads {
        try #require(streams.count < 500)
        let socket = try RawSocket(port: gateway.port)
        try socket.write("GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n")
        streams.append((socket, try recorder.nextStream()))
      }
      #expect(Set(streams.map(\.channel)).count == streams.count)
      for (number, stream) in streams.enumerated() { gateway.send(frame("data: \(number)\n\n"), to: stream.channel) }
      for (number, stream) in streams.enumerated() {
        #expect(try stream.socket.readResponse(bodyless: true).status == 200)
        let event = try stream.socket.readChunk()
        #expect(String(decoding: event, as: UTF8.self) == "data: \(number)\n\n")
      }
    }
  }

  @Test func `An address has its limit over all threads`() throws {
    let recorder = Recorder(answer: { gateway, _, id in gateway.respond(to: id, status: 200) })
    let limit: (inout GatewayConfiguration) -> Void = {
      configure(&$0)
      ($0.limits.addressLimit, $0.limits.limitsLoopback) = (10, true)
    }
    try withGateway(recorder, configure: limit) { gateway in
      let sockets = try (0..<40).map { _ in try RawSocket(port: gateway.port) }
      for socket in sockets { try socket.write("GET /v1/x HTTP/1.1\r\nHost: x\r\n\r\n") }
      let statuses = try sockets.map { try $0.readResponse().status }
      #expect(statuses.count { $0 == 200 } == 10 && statuses.count { $0 == 429 } == 30)
      #expect(gateway.counters.address == 30)
    }
  }

  @Test func `A thread that is busy keeps nobody waiting but its own clients`() throws {
    let isBlocked = Atomic<Bool>(true)
    let recorder = Recorder(react: { _, _, message in
      while message == bytes("block"), isBlocked.load(ordering: .relaxed) { usleep(1_000) }
    })
    try withGateway(recorder, configure: configure) { gateway in
      defer { isBlocked.store(false, ordering: .relaxed) }
      let all = try connect(gateway, recorder)
      try all[0].client.send("block")
      #expect(try recorder.nextText() == "block")
      let others = all.filter { thread(of: $0.session) != thread(of: all[0].session) }
      for entry in others {
        try entry.client.send("on time")
        #expect(try recorder.nextText() == "on time")
      }
      let same = all.dropFirst().filter { thread(of: $0.session) == thread(of: all[0].session) }
      for entry in same { try entry.client.send("late") }
      isBlocked.store(false, ordering: .relaxed)
      for _ in same { #expect(try recorder.nextText() == "late") }
    }
  }

  @Test func `Delegates are told on the thread that is theirs`() throws {
    let recorders = (0..<Self.threads).map { _ in Recorder() }
    var configuration = GatewayConfiguration()
    configure(&configuration)
    let gateway = try Gateway(configuration: configuration)
    try gateway.start { recorders[$0] }
    defer { gateway.stop(grace: .milliseconds(200)) }
    for number in 0..<Self.threads {
      gateway.notify(7, thread: number)
      let (channel, value) = try recorders[number].next {
        if case .notified(let channel, let value) = $0 { (channel, value) } else { nil }
      }
      #expect(channel == .none && value == 7)
      #expect(recorders.allSatisfy { $0.rest().isEmpty })
    }
  }

  @Test func `A port that several threads share is nobody else's`() throws {
    try withGateway(configure: configure) { gateway in
      let port = gateway.port
      let failure = #expect(throws: GatewayError.self) {
        try withGateway(configure: {
          configure(&$0)
          $0.port = port
        }) { _ in }
      }
      #expect(failure?.message == "port \(port) on 127.0.0.1 is already in use")
    }
  }

  @Test func `A socket that was passed on is listened on by all threads`() throws {
    let listening = try ListeningPort()
    try #require(fcntl(listening.descriptor, F_SETFL, O_NONBLOCK) == 0)
    let recorder = Recorder(answer: { gateway, _, id in gateway.respond(to: id, status: 200) })
    let passed: (inout GatewayConfiguration) -> Void = {
      configure(&$0)
      $0.listeningSocket = dup(listening.descriptor)
    }
    try withGateway(recorder, configure: passed) { gateway in
      #expect(gateway.port == listening.port)
      for _ in 0..<20 {
        let response = try RawSocket(port: gateway.port).request("GET", "/v1/x")
        #expect(response.status == 200)
      }
    }
  }
}
