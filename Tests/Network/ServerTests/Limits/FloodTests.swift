import Foundation
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// Clients that send requests faster than they are served.
@Suite struct FloodTests {
  @Test func `While enough requests wait for their answers no more are read, and none is lost`() throws {
    let live = try LiveServer("CREATE TABLE t(id INTEGER PRIMARY KEY, a);") {
      $0.access.allowsWrites = true
      $0.limits.waitingRequests = 4
    }
    let client = try live.connect().socket
    let other = try live.connect()
    // Another process is writing, so transactions wait.
    try live.writer.run("BEGIN IMMEDIATE")
    let requests = (0..<9).map {
      #"{"type":"transact","id":"\#($0)","statements":[{"sql":"INSERT INTO t(a) VALUES (\#($0))"}]}"#
    }
    let ping = #"{"type":"ping","id":"ping"}"#
    try client.socket.write((requests + [ping]).flatMap { RawWebSocket.encode(.text, Array($0.utf8)) })
    // Other clients do not wait for that.
    for _ in 0..<3 {
      try other.send(ping)
      _ = try other.receive("pong")
    }
    try live.writer.run("COMMIT")
    var ids: [String] = []
    while ids.count < 10 {
      guard case .string(let id)? = try JSONParser.parse(try client.readFrame().payload)["id"] else { continue }
      ids.append(id)
    }
    #expect(ids.filter { $0 != "ping" } == (0..<9).map(String.init))
    // The ping is read when fewer than four requests wait, so after the sixth answer at the earliest.
    #expect(try #require(ids.firstIndex(of: "ping")) >= 6, "\(ids)")
    live.stop()
  }

  @Test func `Requests on a connection are answered in order, however many come at once`() throws {
    let live = try LiveServer(SessionTests.many(100)) { $0.limits.set(.messagesPerSecond, to: 0) }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    let count = 3_000
    let requests = (0..<count).map { #"{"type":"fetch","id":"q","offset":\#($0 % 100),"limit":1}"# }
    let flood = requests.flatMap { RawWebSocket.encode(.text, Array($0.utf8)) }
    let socket = client.socket
    Thread.detachNewThread { [socket = Box(socket)] in try? socket.value.socket.write(flood) }
    for number in 0..<count {
      let rows = try JSONParser.parse(try socket.readFrame().payload)
      #expect(rows["type"] == .string("rows") && rows["offset"] == .integer(Int64(number % 100)))
    }
    live.stop()
  }

  @Test func `A flood of requests costs nobody else time, and little memory`() throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    let flooding = try LiveClient(port: port)
    try flooding.subscribe("q", #"{"from":"t"}"#)
    let other = try LiveClient(port: port)
    try other.subscribe("q", #"{"from":"t"}"#)
    let before = program.residentBytes
    let request = RawWebSocket.encode(.text, Array(#"{"type":"window","id":"q","offset":0,"limit":1}"#.utf8))
    let part = Array(repeatElement(request, count: 1_000).joined())
    // More than the kernel takes for a client that does not read.
    let (parts, written) = (1_000, Box(Atomic<Int>(0)))
    Thread.detachNewThread { [socket = Box(flooding.socket.socket)] in
      for _ in 0..<parts {
        guard (try? socket.value.write(part)) != nil else { return }
        written.value.add(1, ordering: .relaxed)
      }
    }
    // The client reads its answers, so that unread answers are not the reason why it is not read.
    Thread.detachNewThread { [socket = Box(flooding.socket)] in while (try? socket.value.readFrame()) != nil {} }
    // Wait until the flood has made no progress for a while.
    var (seen, still) = (-1, 0)
    while still < 300 {
      try other.send(#"{"type":"window","id":"q","offset":0,"limit":1}"#)
      while try other.receive()["type"] != .string("rows") {}
      let now = written.value.load(ordering: .relaxed)
      (seen, still) = (now, now == seen ? still + 1 : 0)
    }
    #expect(written.value.load(ordering: .relaxed) < parts / 2, "the flood is pushed back")
    #expect(program.residentBytes - before < 32 << 20)
    program.signal(SIGKILL)
    #expect(program.status(within: 10) == nil)
  }
}

/// Carries something to a thread that alone uses it, or that guards itself.
// @unchecked: see above.
private final class Box<Value: ~Copyable>: @unchecked Sendable {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}
