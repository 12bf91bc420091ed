import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing

@Suite struct ShutdownTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a);"

  @Test func `A server stops in order: what is asked is done, everybody is told, nobody comes in`() throws {
    // One service thread reads in the order of arrival.
    let live = try LiveServer(Self.schema) { ($0.access.allowsWrites, $0.limits.serviceThreads) = (true, 1) }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    let http = try RawSocket(port: live.server.port)
    #expect(try http.request("GET", "/readyz").status == 200)
    // A transaction that has to wait for another process.
    try live.writer.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 'theirs')")
    let body = #"{"statements":[{"sql":"INSERT INTO t VALUES (2, 'ours')"}]}"#
    let writer = try RawSocket(port: live.server.port)
    try writer.write(
      "POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
    for _ in 0..<3 { #expect(try http.request("GET", "/healthz").status == 200) }

    let done = live.stopInBackground()
    while try http.request("GET", "/readyz").status == 200 {}
    let refusal = try http.request("GET", "/readyz")
    #expect(refusal.status == 503 && refusal.text.contains(#""code":"shutting_down""#))
    let deadline = ContinuousClock.now + .seconds(4)
    while (try? RawSocket(port: live.server.port)) != nil, ContinuousClock.now < deadline {}
    #expect(throws: RawSocket.Failure.self) { try RawSocket(port: live.server.port) }
    try live.writer.run("COMMIT")
    #expect(try writer.readResponse().status == 200)
    #expect(try client.socket.readCloseCode() == 1001)
    #expect(done.wait(timeout: .now() + 20) == .success)
    #expect(try live.queue.read { try String.fetchAll($0, sql: "SELECT a FROM t ORDER BY id") } == ["theirs", "ours"])
  }

  @Test func `Clients that neither read nor answer do not keep a server from stopping`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO t SELECT i, i FROM n;"
    let live = try LiveServer(Self.schema + rows)
    let clients = try (0..<5).map { _ in try live.connect(receiveBuffer: 4_096) }
    for client in clients { try client.send(#"{"type":"subscribe","id":"q","query":{"from":"t"}}"#) }
    #expect(try live.http("GET", "/healthz").status == 200)
    #expect(live.stopInBackground().wait(timeout: .now() + 20) == .success)
    withExtendedLifetime(clients) {}
  }

  @Test func `A server starts and stops many times on one file`() throws {
    let live = try LiveServer(Self.schema)
    for id in 1...10 {
      let server = try FreshetServer(
        {
          var configuration = ServerConfiguration(database: live.path)
          configuration.listening.port = 0
          configuration.ending.grace = .milliseconds(50)
          return configuration
        }(), logger: live.logger)
      let client = try LiveClient(port: server.port)
      try client.subscribe("q", #"{"from":"t"}"#)
      try live.writer.run("INSERT INTO t VALUES (\(id), 0)")
      try client.catchUp(["q"])
      #expect(client.models["q"]?.total == id)
      server.stop()
    }
    live.stop()
  }

  /// The server is released before its timers' next turns.
  @Test func `A server that has stopped is given up whole`() throws {
    let live = try LiveServer(Self.schema)
    weak var log: RecordedLog?
    do {
      let recorded = RecordedLog()
      log = recorded
      var configuration = ServerConfiguration(database: live.path)
      configuration.listening.port = 0
      let server = try FreshetServer(configuration, logger: recorded.logger())
      _ = try LiveClient(port: server.port)
      server.stop()
    }
    #expect(comesTrue(within: .seconds(3)) { log == nil })
  }

  /// Something hangs: here strace delays every `close` of the process.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"), "strace is not installed"))
  func `A server that cannot stop is ended by force`() throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"])
    #expect(try RawSocket(port: try program.port()).request("GET", "/v1/snapshot?from=t").status == 200)
    let strace = Process()
    strace.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
    strace.arguments = [
      "-f", "-p", "\(program.processIdentifier)", "-o", "/dev/null", "-e", "trace=close",
      "-e", "inject=close:delay_enter=60000000",
    ]
    strace.standardError = FileHandle.nullDevice
    try strace.run()
    #expect(comesTrue { program.isTraced || !strace.isRunning })
    // If tracing is not allowed, this cannot be tested.
    guard strace.isRunning else { return program.stop() }
    program.signal(SIGTERM)
    #expect(try program.waits(forLog: "ended by force", seconds: 20))
    // Wait for the end before strace stops: without strace nothing hangs, and the process could end in order.
    #expect(comesTrue { program.hasExited })
    kill(strace.processIdentifier, SIGKILL)
    strace.waitUntilExit()
    #expect(program.endingSignal(within: 30) == SIGTERM)
  }
}
