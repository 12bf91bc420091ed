import Following
import Foundation
import GRDB
import LiveQuery
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// A server over a replica's file, which itself contains the number of its state; and the announcements of a server to
/// those that share its numbers.
@Suite struct ReplicaTests {
  private static let table = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """
  private static let query = #"{"from":"t"}"#

  private static func at(_ epoch: String, _ commit: Int64) -> String {
    ReplicaLog.position(.init(epoch: epoch, commit: commit))
  }

  private func replica(
    _ epoch: String, _ commit: Int64, configure: (inout ServerConfiguration) -> Void = { _ in }
  ) throws -> LiveServer {
    try LiveServer(Self.table + ReplicaLog.positionTable + Self.at(epoch, commit)) {
      $0.state.readsPosition = true
      configure(&$0)
    }
  }

  /// Writes rows and the position to the file.
  private func apply(_ live: LiveServer, _ sql: String, _ epoch: String, _ commit: Int64) throws {
    try live.queue.inTransaction { db in
      try db.execute(sql: sql + ";" + Self.at(epoch, commit))
      return .commit
    }
  }

  private func epochs(_ client: LiveClient) throws -> [String] {
    try client.others.filter { $0["type"] == .string("hello") }.map { try $0.required("epoch").text() }
  }

  @Test func `Commits and epoch are the file's`() throws {
    let live = try replica("writers", 41)
    // No client has followed the file yet.
    #expect(live.server.epochs.current.name == "writers")
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    #expect(client.models["q"]?.commit == 41 && client.epoch == "writers")
    try apply(live, "UPDATE t SET a = 'z' WHERE id = 1", "writers", 45)
    try client.catchUp(["q"])
    #expect(client.models["q"]?.commit == 45 && client.line("q") == "''/: 1,'z' 2,'y'")
    #expect(live.server.epochs.current.name == "writers")
    live.stop()
  }

  @Test func `A commit of the file that is none of the writer's changes nothing`() throws {
    let live = try replica("one", 3)
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    let version = try #require(client.models["q"]?.version)
    for _ in 0..<3 {
      try live.queue.write { try $0.execute(sql: "UPDATE _freshet_replica SET time = time + 1") }
      try client.catchUp(["q"])
    }
    #expect(client.change("q") == "snapshot" && client.models["q"]?.version == version)
    #expect(try live.http("GET", "/v1/snapshot?from=t&limit=1000").text.contains("\"commit\":3,"))
    live.stop()
  }

  @Test func `A file without a position is waited for`() throws {
    let live = try LiveServer(Self.table) { $0.state.readsPosition = true }
    let refused = { () throws in
      let answer = try live.http("GET", "/readyz")
      return answer.status == 503 && answer.text.contains("has not received its data")
    }
    #expect(try refused())
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    #expect(client.ended["q"] == "overloaded")
    #expect(try live.http("GET", "/v1/snapshot?from=t").status == 503)
    try live.queue.write { try $0.execute(sql: ReplicaLog.positionTable) }
    #expect(try refused())
    try live.queue.write { try $0.execute(sql: Self.at("one", 7)) }
    let deadline = ContinuousClock.now + .seconds(10)
    while client.models["q"] == nil, ContinuousClock.now < deadline { try client.subscribe("q", Self.query) }
    #expect(client.models["q"]?.commit == 7 && client.epoch == "one")
    #expect(try live.http("GET", "/readyz").status == 200)
    try live.queue.write { try $0.execute(sql: "DROP TABLE _freshet_replica") }
    #expect(try refused())
    live.stop()
  }

  @Test func `Another epoch is told once, and versions of before are not honoured`() throws {
    let live = try replica("one", 10) { $0.limits.followers = 8 }
    let client = try live.connect()
    let queries = (0..<16).map { #"{"from":"t","where":"id < \#($0) + 10"}"# }
    for (id, query) in queries.enumerated() { try client.subscribe("\(id)", query) }
    let ids = queries.indices.map { "\($0)" }
    let held = client.models
    try apply(live, "UPDATE t SET a = 'other'", "two", 4)
    try client.catchUp(ids)
    #expect(try epochs(client) == ["one", "two"])
    for id in ids { #expect(client.models[id]?.commit == 4 && client.line(id) == "''/: 1,'other' 2,'other'") }
    try apply(live, "UPDATE t SET a = 'more' WHERE id = 1", "two", 10)
    try client.catchUp(ids)
    let other = try live.connect()
    for (id, query) in queries.enumerated() {
      try other.resume("\(id)", query, try #require(held["\(id)"]))
      #expect(other.change("\(id)") == "snapshot" && other.line("\(id)") == "''/: 1,'more' 2,'other'")
    }
    #expect(try epochs(other) == ["two"])
    live.stop()
  }

  @Test func `Commits that fall are an epoch of their own to clients`() throws {
    let live = try replica("one", 10)
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    try apply(live, "UPDATE t SET a = 'late'", "one", 12)
    try client.catchUp(["q"])
    let late = try #require(client.models["q"])
    try apply(live, "UPDATE t SET a = 'y'; UPDATE t SET a = 'x' WHERE id = 1", "one", 10)
    try client.catchUp(["q"])
    // The second `hello` may come after the patch.
    while try epochs(client).count < 2 { try client.receive() }
    let told = try epochs(client)
    #expect(told == ["one", "one.1"])
    #expect(client.models["q"]?.commit == 10 && client.line("q") == "''/: 1,'x' 2,'y'")
    let other = try live.connect()
    try other.resume("q", Self.query, late)
    #expect(other.change("q") == "snapshot" && other.line("q") == "''/: 1,'x' 2,'y'")
    live.stop()
  }

  @Test func `ETags and event ids are good at another server`() throws {
    let servers = try [replica("one", 5), replica("one", 5)]
    let target = "/v1/snapshot?from=t"
    let tag = try #require(try servers[0].http("GET", target).headers["etag"])
    // The other server must have seen the commit.
    #expect(try servers[1].http("GET", target, headers: ["If-None-Match: \(tag)"]).status == 304)
    #expect(try servers[1].http("GET", target, headers: ["If-None-Match: \"x\", \(tag)"]).status == 304)
    let stream = try EventClient(port: servers[0].server.port, "/v1/subscriptions?from=t&limit=1000")
    try stream.next()
    let watcher = try servers[1].connect()
    try watcher.subscribe("q", Self.query)
    for server in servers { try apply(server, "DELETE FROM t WHERE id = 2", "one", 6) }
    try watcher.catchUp(["q"])
    #expect(try servers[1].http("GET", target, headers: ["If-None-Match: \(tag)"]).status == 200)
    let again = try EventClient(
      port: servers[1].server.port, "/v1/subscriptions?from=t&limit=1000",
      headers: ["Last-Event-ID: \(stream.lastEventID)"], model: stream.model)
    try again.next()
    #expect(again.changes.map(\.event) == ["patch"] && again.model.line == "''/: 1,'x'")
    for server in servers { server.stop() }
  }

  // MARK: - The writer's server

  @Test func `Who shares the numbers is told of another file once, before anybody is greeted`() throws {
    let renewed = Renewals()
    let live = try LiveServer(Self.table) {
      $0.limits.followers = 4
      $0.state.epoch = "mine"
      $0.state.epochRenewed = { [renewed] name in renewed.names.withLock { $0.append(name) } }
    }
    let client = try live.connect()
    for id in 0..<8 { try client.subscribe("\(id)", #"{"from":"t","where":"id < \#(id) + 10"}"#) }
    #expect(client.epoch == "mine" && live.server.epochs.current.name == "mine")
    let other = live.path + ".new"
    try SQLiteShell(path: other).run(Self.table + "PRAGMA journal_mode=WAL; UPDATE t SET a = 'new'")
    try live.replace(by: other)
    while (0..<8).contains(where: { client.line("\($0)") != "''/: 1,'new' 2,'new'" }) { try client.receive() }
    let names = renewed.names.withLock { $0 }
    #expect(try names.count == 1 && epochs(client) == ["mine"] + names)
    live.server.beginEpoch("yours")
    while client.epoch != "yours" { try client.receive() }
    #expect(renewed.names.withLock { $0 } == names + ["yours"])
    live.stop()
  }

  private final class Renewals: Sendable {
    let names = Mutex<[String]>([])
  }

  @Test func `Numbers and epoch go on after a restart`() throws {
    let live = try LiveServer(Self.table) { $0.state.epoch = "kept" }
    let client = try live.connect()
    try client.subscribe("q", Self.query)
    try live.writer.run("DELETE FROM t WHERE id = 1")
    try client.catchUp(["q"])
    let model = try #require(client.models["q"])
    live.stop()
    var configuration = ServerConfiguration(database: live.path)
    configuration.listening.port = 0
    configuration.state.epoch = "kept"
    configuration.state.firstCommit = model.commit
    let server = try FreshetServer(configuration, logger: live.logger)
    let again = try LiveClient(port: server.port)
    try again.resume("q", Self.query, model)
    #expect(again.change("q") == "patch" && again.models["q"]?.version == model.version)
    try live.writer.run("INSERT INTO t VALUES (3, 'z')")
    try again.catchUp(["q"])
    #expect(again.models["q"]?.commit == model.commit + 1 && again.line("q") == "''/: 2,'y' 3,'z'")
    server.stop()
  }

  // MARK: - Reached

  /// Records callbacks in order.
  private final class Answers: Sendable {
    private let all = Mutex<[String]>([])
    let signal = DispatchSemaphore(value: 0)

    func add(_ result: Result<Int64, FreshetError>) {
      all.withLock { answers in
        switch result {
        case .success(let commit): answers.append("\(commit)")
        case .failure(let error): answers.append(error.code.rawValue)
        }
      }
      signal.signal()
    }

    func wait(for count: Int) -> [String] {
      for _ in 0..<count where signal.wait(timeout: .now() + 10) == .timedOut { break }
      return all.withLock { $0 }
    }
  }

  @Test(arguments: [1, 4])
  func `Whoever waits for a commit is called when all followers have reached it`(followers: Int) throws {
    let live = try replica("one", 10) { $0.limits.followers = followers }
    let answers = Answers()
    let wait = { (commit: Int64, epoch: String, timeout: Duration) in
      live.server.whenReached(commit, epoch: epoch, timeout: timeout) { answers.add($0) }
    }
    wait(9, "one", .seconds(60))
    wait(10, "one", .seconds(60))
    #expect(answers.wait(for: 2).sorted() == ["10", "9"])
    for commit in (11...500).reversed() { wait(Int64(commit), "one", .seconds(60)) }
    try apply(live, "DELETE FROM t WHERE id = 1", "one", 12)
    #expect(answers.wait(for: 2).dropFirst(2).sorted() == ["11", "12"])
    try apply(live, "DELETE FROM t WHERE id = 2", "one", 499)
    #expect(answers.wait(for: 487).count == 2 + 2 + 487)
    wait(3, "two", .seconds(60))
    wait(500, "one", .milliseconds(20))
    #expect(answers.wait(for: 1).last == "timeout")
    try apply(live, "INSERT INTO t VALUES (3, 'z')", "two", 3)
    #expect(answers.wait(for: 1).last == "3")
    // The former epoch, which is not reached any more, and a future one.
    wait(4, "two", .seconds(60))
    live.stop()
    #expect(answers.wait(for: 2).suffix(2) == ["overloaded", "overloaded"])
    wait(3, "two", .seconds(60))
  }
}
