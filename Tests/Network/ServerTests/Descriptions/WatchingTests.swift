import Controllers
import Foundation
import Gateway
import LiveQuery
import Requests
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Metrics and readiness of a server that is busy, refuses, or is slow.
@Suite struct WatchingTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """
  /// A query that takes long.
  private static let slow =
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT max(i) + :more AS i FROM n)"

  /// Every sample by its name and labels.
  private func metrics(_ live: LiveServer) throws -> [String: Double] {
    let response = try live.http("GET", "/metrics")
    #expect(response.status == 200)
    return response.samples
  }

  /// Keeps a follower busy until the test is over or ends it.
  private final class Busy {
    private let gate = DispatchSemaphore(value: 0)

    init(_ live: LiveServer, follower: Int) {
      let hasBegun = DispatchSemaphore(value: 0)
      live.server.pool.post(
        .commit { [gate] _ in
          hasBegun.signal()
          gate.wait()
        }, to: follower)
      hasBegun.wait()
    }

    func end() { gate.signal() }
  }

  // MARK: - Busy

  @Test func `Metrics are answered while a follower is busy, with its last numbers`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.followers = 2 }
    let client = try live.connect()
    // Both followers follow some of them.
    for number in 1...8 { try client.subscribe("\(number)", #"{"from":"t","where":"id != \#(number)"}"#) }
    let before = try metrics(live)
    #expect(before["freshet_followers_unresponsive"] == 0 && before["freshet_subscriptions"] == 8)
    let busy = (0..<2).map { Busy(live, follower: $0) }
    live.server.pool.requestTick()
    let during = try metrics(live)
    #expect(during["freshet_followers_unresponsive"] == 2)
    #expect(during["freshet_subscriptions"] == 8 && during["freshet_sessions"] == 1)
    #expect(during["freshet_snapshots_total"] == before["freshet_snapshots_total"])
    #expect(during["freshet_follower_commands_waiting{follower=\"0\"}"]! >= 1)
    busy[0].end()
    while try metrics(live)["freshet_followers_unresponsive"] != 1 {}
    busy[1].end()
    while try metrics(live)["freshet_followers_unresponsive"] != 0 {}
    let after = try metrics(live)
    #expect(after["freshet_follower_commands_waiting{follower=\"0\"}"] == 0)
    live.stop()
  }

  @Test func `A server whose follower is busy is not ready, and says so in time`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.followers = 2 }
    #expect(try live.http("GET", "/readyz").status == 200)
    let busy = Busy(live, follower: 1)
    let start = ContinuousClock.now
    let answer = try live.http("GET", "/readyz")
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(answer.status == 503 && answer.text.contains("a follower does not answer in time"))
    #expect(try live.http("GET", "/healthz").status == 200)
    busy.end()
    while try live.http("GET", "/readyz").status != 200 {}
    live.stop()
  }

  @Test func `Transactions that wait for the writer are counted`() throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    #expect(try live.http("GET", "/readyz").text == #"{"status":"ready","writable":true}"#)
    try live.writer.run("BEGIN IMMEDIATE")
    let client = try live.connect()
    for value in 1...3 {
      try client.send(
        #"{"type":"transact","id":"\#(value)","statements":[{"sql":"UPDATE t SET a = \#(value)"}]}"#)
    }
    while try metrics(live)["freshet_transactions_waiting"] != 2 {}
    try live.writer.run("COMMIT")
    for _ in 1...3 { _ = try client.receive("committed") }
    #expect(try metrics(live)["freshet_transactions_waiting"] == 0)
    live.stop()
  }

  // MARK: - Trouble

  @Test func `Every error that a client is sent is counted by its code`() throws {
    let live = try LiveServer(Self.schema) {
      ($0.limits.sockets.messageLimit, $0.limits.sockets.bodyLimit) = (4_096, 4_096)
    }
    #expect(try metrics(live).keys.allSatisfy { !$0.hasPrefix("freshet_rejections_total") })
    _ = try live.http("GET", "/v1/snapshot?from=nosuch")
    _ = try live.http("GET", "/v1/subscriptions?from=nosuch")
    _ = try live.http("GET", "/v1/nothing")
    _ = try live.http("GET", "/nothing.html")
    _ = try live.http("POST", "/v1/snapshot", body: "[")
    _ = try live.http("POST", "/v1/snapshot", body: String(repeating: "x", count: 5_000))
    _ = try live.http("POST", "/v1/transactions", body: #"{"statements":[{"sql":"DELETE FROM t"}]}"#)
    let client = try live.connect()
    for message in [
      #"{"type":"subscribe","id":"a","query":{"from":"nosuch"}}"#, #"{"type":"fetch","id":"b","offset":0,"limit":1}"#,
      #"{"type":"nothing","id":"a"}"#, #"{"type":"subscribe","id":"a","query":{"name":"nope"}}"#,
    ] {
      try client.send(message)
      _ = try client.receive("error")
    }
    let counts = try metrics(live).filter { $0.key.hasPrefix("freshet_rejections_total") }
    #expect(
      counts.map { "\($0.key.split(separator: "\"")[1]) \(Int($0.value))" }.sorted() == [
        "bad_message 1", "bad_query 1", "no_such_table 3", "not_allowed 1", "not_found 2", "too_large 1",
        "unknown_subscription 1", "unknown_type 1",
      ])
    live.stop()
  }

  @Test func `Slow runs of a query are counted by its fingerprint, whatever its parameters`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.slowQuery = .milliseconds(5) }
    for more in 1...3 {
      let body = #"{"query":{"from":"\#(Self.slow)","key":["i"],"params":{"more":\#(more)}}}"#
      #expect(try live.http("POST", "/v1/snapshot", body: body).status == 200)
    }
    var query = Query(from: Self.slow)
    query.key = ["i"]
    #expect(try metrics(live)["freshet_slow_queries_total{fingerprint=\"\(Fingerprint(of: query))\"}"] == 3)
    live.stop()
  }

  // MARK: - Clients and the process

  @Test func `Sessions and subscriptions are counted by the roles of the configuration`() async throws {
    let yaml = """
      roles: { clerk: { tables: { t: }, queries: any }, anonymous: { tables: { t: }, queries: any }, boss: {} }
      """
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    let live = try LiveServer(Self.schema) {
      $0.access.roles = file.roles
      $0.authentication = try? .shared()
    }
    func counts() throws -> [String] {
      let all = try metrics(live)
      return ["anonymous", "boss", "clerk"].map { role in
        let (sessions, subscriptions) = (
          all["freshet_sessions{role=\"\(role)\"}"] ?? -1, all["freshet_subscriptions{role=\"\(role)\"}"] ?? -1
        )
        return "\(Int(sessions)) \(Int(subscriptions))"
      }
    }
    func token(_ role: String) async throws -> String { try TokenMaker.shared().token(#"{"role":"\#(role)"}"#) }
    let (clerk, unknown) = (try await token("clerk"), try await token("x\\\"} 1"))
    let first = try live.connect(headers: ["Authorization: Bearer \(clerk)"])
    let second = try live.connect(headers: ["Authorization: Bearer \(unknown)"])
    let stream = try EventClient(port: live.server.port, "/v1/subscriptions?from=t&access_token=\(clerk)")
    try stream.load()
    for id in ["a", "b"] { try first.subscribe(id, #"{"from":"t"}"#) }
    try second.subscribe("c", #"{"from":"t"}"#)
    #expect(try counts() == ["1 1", "0 0", "1 3"])
    #expect(try metrics(live).keys.filter { $0.hasPrefix("freshet_sessions") }.count == 3)
    try second.send(#"{"type":"authenticate","id":"t","token":"\#(clerk)"}"#)
    _ = try second.receive("authenticated")
    #expect(try second.receive("error")["code"] == .string("unauthenticated"))
    #expect(try counts() == ["0 0", "0 0", "2 3"])
    try first.send(#"{"type":"unsubscribe","id":"a"}"#)
    _ = try first.receive("unsubscribed")
    #expect(try counts() == ["0 0", "0 0", "2 2"])
    first.socket.close()
    second.socket.close()
    stream.socket.close()
    while try counts() != ["0 0", "0 0", "0 0"] {}
    live.stop()
  }

  @Test func `Metrics say what the process uses, and how long readers' work has waited`() throws {
    let live = try LiveServer(Self.schema)
    #expect(try live.http("GET", "/v1/snapshot?from=t").status == 200)
    let all = try metrics(live)
    #expect(all["process_resident_memory_bytes"]! > 1_000_000 && all["process_open_fds"]! > 5)
    #expect(all["process_cpu_seconds_total"]! > 0)
    #expect(all["freshet_reader_wait_seconds_count"] == 1 && all["freshet_reader_longest_wait_seconds"] == 0)
    #expect(all["freshet_reader_wait_seconds_bucket{le=\"+Inf\"}"] == 1)
    #expect(all["freshet_reader_wait_seconds_bucket{le=\"10.0\"}"] == 1)
    let more = try metrics(live)
    #expect(more["process_cpu_seconds_total"]! >= all["process_cpu_seconds_total"]!)
    live.stop()
  }
}
