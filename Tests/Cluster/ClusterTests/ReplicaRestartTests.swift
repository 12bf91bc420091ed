import Broker
import Controllers
import Following
import Foundation
import Logging
import Replication
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// A replica's server that restarts: clients of the former process resume at the next one.
@Suite(.serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct ReplicaRestartTests {
  private final class Place {
    let folder: TemporaryFolder
    let broker: BrokerProcess
    let writer: LiveServer
    let copy: String
    private(set) var replica: FreshetServer?

    init() throws {
      folder = try TemporaryFolder()
      copy = folder.path("copy.sqlite")
      let broker = try BrokerProcess(storage: folder.path("broker"))
      self.broker = broker
      writer = try LiveServer(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y')"
      ) { $0.set(ReplicationSettings(.publisher, BrokerAddress(broker.url("test"))!)) }
    }

    /// - Parameter waits: whether to wait until the replica has caught up with the writer.
    func start(waits: Bool = true) throws {
      var configuration = ServerConfiguration(database: copy)
      configuration.listening.port = 0
      configuration.ending.grace = .milliseconds(50)
      configuration.lists.selfCheck = .off
      configuration.state.folder = folder.path("states")
      configuration.set(ReplicationSettings(.replica, BrokerAddress(broker.url("test"))!))
      let server = try FreshetServer(configuration, logger: writer.logger)
      replica = server
      if !waits { return }
      try waitUntil { try RawSocket(port: server.port).request("GET", "/readyz").status == 200 }
      try waitForCopy()
    }

    func stop() {
      replica?.stop()
      replica = nil
    }

    func client() throws -> LiveClient { try LiveClient(port: try #require(replica).port) }

    func waitForCopy() throws {
      let sql = "SELECT 't', id, a FROM t UNION ALL SELECT 'u', id, a FROM u ORDER BY 1, 2"
      let expected = try SQLiteShell(path: writer.path).run(sql)
      try waitUntil {
        guard FileManager.default.fileExists(atPath: copy), let now = try? SQLiteShell(path: copy).run(sql) else {
          return false
        }
        return now == expected
      }
    }

    private func waitUntil(_ isDone: () throws -> Bool) throws {
      let isThere = try comesTrue(within: .seconds(30), isDone)
      try #require(isThere, "the replica does not come to where the writer is")
    }

    deinit {
      replica?.stop()
      writer.stop()
      broker.kill()
    }
  }

  @Test func `A client goes on with the next process of a replica`() throws {
    let place = try Place()
    try place.start()
    let client = try place.client()
    try client.subscribe("t", #"{"from":"t"}"#)
    for id in 3..<8 {
      // The client's version of t is not that of the last commit.
      try place.writer.writer.run("INSERT INTO \(id == 3 ? "t" : "u") VALUES (\(id), 'row \(id)')")
      try place.waitForCopy()
    }
    while client.models["t"]?.rows.count != 3 { try client.receive() }
    let held = try #require(client.models["t"])
    place.stop()
    try place.writer.writer.run("INSERT INTO u VALUES (20, 'while it was away')")
    try place.start()
    let other = try place.client()
    #expect(other.epoch == client.epoch)
    try other.resume("t", #"{"from":"t"}"#, held)
    #expect(other.last["t"]?["type"] == .string("patch"), "\(String(describing: other.last["t"]))")
    try place.writer.writer.run("DELETE FROM t WHERE id = 1")
    while other.models["t"]?.rows.count != 2 { try other.receive() }
  }

  @Test func `A reader of changes goes on with the next process of a replica, and is told everything once`() throws {
    let place = try Place()
    try place.start()
    let reader = try place.client()
    try reader.send(#"{"type":"changes","id":"c"}"#)
    var position = try reader.receive("changes")["position"]
    try place.writer.writer.run("INSERT INTO u VALUES (1, 'before')")
    let before = try reader.receive("changes")
    #expect("\(String(describing: before["changes"]))".contains("before"))
    position = before["position"]
    place.stop()
    try place.writer.writer.run("INSERT INTO u VALUES (2, 'away'); UPDATE t SET a = 'changed' WHERE id = 2")
    try place.start()
    let other = try place.client()
    guard case .string(let since)? = position else { throw RawSocket.Failure(description: "no position: \(before)") }
    try other.send(#"{"type":"changes","id":"c","since":"\#(since)"}"#)
    let away = try other.receive("changes")
    let told = "\(String(describing: away["changes"]))"
    #expect(told.contains("away") && told.contains("changed") && !told.contains("before"), "\(away)")
    #expect(!other.others.contains { $0["type"] == .string("gap") })
    try place.writer.writer.run("INSERT INTO u VALUES (3, 'after')")
    let after = try other.receive("changes")
    #expect("\(String(describing: after["changes"]))".contains("after"), "\(after)")
    // The file has its own commit numbers. Kept numbers, which may be higher, would be taken for those of a newer copy.
    #expect(place.replica?.pool.file.numbers.highest == 0)
  }

  @Test func `What is kept of a replica is not used of an older copy of it`() throws {
    let place = try Place()
    try place.start()
    place.stop()
    try SQLiteShell(path: place.copy).run("PRAGMA wal_checkpoint(TRUNCATE)")
    let older = try #require(FileManager.default.contents(atPath: place.copy))
    try place.start()
    let client = try place.client()
    try client.subscribe("t", #"{"from":"t"}"#)
    try place.writer.writer.run("INSERT INTO t VALUES (3, 'z')")
    while client.models["t"]?.rows.count != 3 { try client.receive() }
    let held = try #require(client.models["t"])
    place.stop()
    // The same file, unchanged.
    try SQLiteShell(path: place.copy).run("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try #require(FileHandle(forWritingAtPath: place.copy))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: older)
    try file.close()
    // The replica must stay at this position.
    place.broker.kill()
    try place.start(waits: false)
    let other = try place.client()
    try other.resume("t", #"{"from":"t"}"#, held)
    #expect(other.models["t"]?.rows.count == 2, "\(String(describing: other.last["t"]))")
  }
}
