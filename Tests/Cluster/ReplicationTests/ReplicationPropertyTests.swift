import CSQLite
import Foundation
import Logging
import TestSupport
import Testing

@testable import Broker
@testable import Following
@testable import Replication
@testable import Store

/// A file that foreign programs write to, its log in a real broker, and replicas.
final class ReplicationBench {
  let folder: TemporaryFolder
  let broker: BrokerProcess
  var logger = Logger(label: "test")
  private var publisher: Publisher?
  private var service: WriterService?
  private var replicas: [(replica: Replica, service: ReplicaService)?]
  private let stream = "test"
  private let selfCheck: SelfCheckMode

  var path: String { folder.path("app.sqlite") }
  func replicaPath(_ number: Int) -> String { folder.path("copy\(number).sqlite") }

  init(replicas count: Int, selfCheck: SelfCheckMode = .always) throws {
    self.selfCheck = selfCheck
    folder = try TemporaryFolder()
    broker = try BrokerProcess(storage: folder.path("broker"))
    logger.logLevel =
      ProcessInfo.processInfo.environment["TEST_LOG"].flatMap { .init(rawValue: $0) } ?? .critical
    replicas = Array(repeating: nil, count: count)
  }

  deinit { stop() }

  func settings(_ role: ReplicationSettings.Role) -> ReplicationSettings {
    var settings = ReplicationSettings(role, BrokerAddress(broker.url(stream))!)
    settings.selfCheck = selfCheck
    return settings
  }

  func startPublisher() throws {
    let epoch = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let settings = settings(.publisher)
    let connection = try BrokerConnection(settings.address, name: "publisher")
    let publisher = Publisher(
      FollowedFile(path), settings, connection, epoch: epoch, logger: logger, renewEpoch: {})
    let service = WriterService(connection, settings.subjects)
    service.add(publisher) { _, reply in reply([]) }
    publisher.start()
    service.start()
    (self.publisher, self.service) = (publisher, service)
  }

  func stopPublisher() {
    service?.stop()
    publisher?.stop()
    (publisher, service) = (nil, nil)
  }

  func startReplica(_ number: Int) throws {
    let settings = settings(.replica)
    let connection = try BrokerConnection(settings.address, name: "replica")
    let replica = try Replica(replicaPath(number), settings, connection, logger: logger)
    let service = ReplicaService(connection, settings.subjects)
    service.add(replica)
    replica.start { _ in }
    service.start()
    replicas[number] = (replica, service)
  }

  func stopReplica(_ number: Int) {
    replicas[number]?.service.stop()
    replicas[number]?.replica.stop()
    replicas[number] = nil
  }

  func stop() {
    stopPublisher()
    for number in replicas.indices { stopReplica(number) }
    broker.kill()
  }

  func state(_ number: Int) -> Replica.State? { replicas[number]?.replica.state }
  var publisherState: Publisher.State? { publisher?.state }

  /// Corrupts a replica's file from outside, which no program should do.
  func corrupt(_ number: Int, _ statement: String) throws {
    try Connection(replicaPath(number), .writing).run(statement)
  }

  /// Waits until all replicas are equal to the file, which is not written to meanwhile.
  ///
  /// - Returns: the remaining differences.
  func differences(within seconds: Double = 6) throws -> [String] {
    var found: [String] = []
    let areEqual = try comesTrue(within: .seconds(seconds)) {
      found = []
      let expected = try DatabaseContents(path: path)
      for number in replicas.indices where replicas[number] != nil {
        do {
          let contents = try DatabaseContents(path: replicaPath(number))
          found += contents.differences(from: expected).map { "replica \(number): \($0)" }
        } catch { found.append("replica \(number): \(error) (\(state(number)?.description ?? ""))") }
      }
      return found.isEmpty
    }
    if areEqual { return [] }
    for number in replicas.indices { found.append("replica \(number) \(String(describing: state(number)))") }
    found.append("publisher \(String(describing: publisherState))")
    return found
  }
}

@Suite("Replicas", .serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct ReplicationPropertyTests {
  @Test("A replica has what the file has: every kind of statement, schema and file", arguments: 1...6)
  func hostile(_ number: Int) throws {
    let seed =
      ProcessInfo.processInfo.environment["REPLICATION_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let bench = try ReplicationBench(replicas: 1)
    print("replication seed \(seed)")
    let options = number == 6 ? ["create", "journal"] : ["create"]
    let writer = try HostileWriter(bench.path, seed: seed, options)
    try bench.startPublisher()
    try bench.startReplica(0)
    for _ in 0..<12 {
      _ = writer.run(Int.random(in: 1...60))
      if !writer.isAlive { break }
      let found = try bench.differences()
      #expect(found == [], "seed \(seed) \(options)")
      if !found.isEmpty { return }
    }
    let state = try #require(bench.state(0))
    #expect(state.divergences == 0, "seed \(seed) \(options)")
    #expect(state.comparisons > 0)
  }

  @Test(
    "Rows that somebody else changed in a replica are found, and mended",
    arguments: [
      ("UPDATE t SET a = 'other' WHERE id = 700", SelfCheckMode.always), ("UPDATE t SET b = 3 WHERE id = 5", .always),
      ("DELETE FROM t WHERE id = 1", .idle),
    ])
  func corrupted(_ statement: String, _ mode: SelfCheckMode) throws {
    let bench = try ReplicationBench(replicas: 1, selfCheck: mode)
    let writer = try begin(bench)
    try bench.corrupt(0, statement)
    #expect(try bench.differences(within: 0) != [])
    // The commit changes another table, so no batch of the log repairs the corrupted one.
    try writer.run("INSERT INTO other VALUES (1)")
    #expect(try bench.differences(within: 20) == [])
    // The snapshot is installed a moment before it is counted.
    #expect(comesTrue { bench.state(0)?.loads["diverged"] != nil })
    let state = try #require(bench.state(0))
    #expect(state.divergences == 1)
    #expect(state.loads == ["new": 1, "diverged": 1])
  }

  @Test("Where nothing is to be compared nothing is")
  func off() throws {
    let bench = try ReplicationBench(replicas: 1, selfCheck: .off)
    let writer = try begin(bench)
    try bench.corrupt(0, "DELETE FROM t WHERE id = 1")
    try writer.run("INSERT INTO other VALUES (1)")
    #expect(try bench.differences(within: 2) != [])
    let state = try #require(bench.state(0))
    #expect(state.comparisons == 0)
    #expect(state.divergences == 0)
  }

  /// - Returns: a connection to the published file.
  private func begin(_ bench: ReplicationBench) throws -> Connection {
    let writer = try Connection(bench.path, .making)
    try writer.run(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE other(x);
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i, 'row', 3.0 FROM n
      """)
    try bench.startPublisher()
    try bench.startReplica(0)
    #expect(try bench.differences() == [])
    return writer
  }
}
