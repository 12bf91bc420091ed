import Broker
import Foundation
import LiveQuery
import Logging
import Replication
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// A server next to the writers and two over copies, with a real broker between them.
@Suite(.serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct ReplicatedServerTests {
  private final class Cluster {
    let folder: TemporaryFolder
    let broker: BrokerProcess
    let writer: LiveServer
    private(set) var replicas: [FreshetServer] = []

    init(configure: (inout ServerConfiguration) -> Void = { $0.access.allowsWrites = true }) throws {
      folder = try TemporaryFolder()
      let broker = try BrokerProcess(storage: folder.path("broker"))
      self.broker = broker
      writer = try LiveServer(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 'x'), (2, 'y')"
      ) {
        configure(&$0)
        $0.set(ReplicationSettings(.publisher, BrokerAddress(broker.url("test"))!))
      }
      for number in 0..<2 {
        var configuration = ServerConfiguration(database: folder.path("copy\(number).sqlite"))
        configuration.listening.port = 0
        configuration.ending.grace = .milliseconds(50)
        configuration.access.allowsWrites = true
        configuration.set(ReplicationSettings(.replica, BrokerAddress(broker.url("test"))!))
        replicas.append(try FreshetServer(configuration, logger: writer.logger))
      }
      for replica in replicas { try waitUntilReady(replica) }
    }

    func waitUntilReady(_ server: FreshetServer) throws {
      let isReady = try comesTrue(within: .seconds(30)) {
        try RawSocket(port: server.port).request("GET", "/readyz").status == 200
      }
      try #require(isReady)
    }

    func post(_ body: String, to number: Int) throws -> RawResponse {
      try RawSocket(port: replicas[number].port).request("POST", "/v1/transactions", body: body)
    }

    deinit {
      for replica in replicas { replica.stop() }
      writer.stop()
      broker.kill()
    }
  }

  @Test func `A client that goes to another server comes back with since`() throws {
    let cluster = try Cluster()
    let query = #"{"from":"t"}"#
    var client = try LiveClient(port: cluster.replicas[0].port)
    try client.subscribe("q", query)
    let epoch = client.epoch
    for round in 3..<9 {
      try cluster.writer.writer.run(
        "INSERT INTO t VALUES (\(round), 'row \(round)'); DELETE FROM t WHERE id = \(round - 2)")
      while client.models["q"]?.rows.last??["id"] != .integer(Int64(round)) { try client.receive() }
      let held = try #require(client.models["q"])
      let port = [cluster.replicas[1].port, cluster.writer.server.port, cluster.replicas[0].port][round % 3]
      let other = try LiveClient(port: port)
      #expect(other.epoch == epoch)
      // The other replica may not have caught up yet.
      try cluster.writer.writer.run("UPDATE t SET a = a || '!' WHERE id = \(round)")
      try other.resume("q", query, held)
      while other.models["q"]?.rows.last??["a"] != .string("row \(round)!") { try other.receive() }
      #expect(other.models["q"]?.rows.count == 2)
      client = other
    }
  }

  @Test func `What a replica's client writes is in the replica when it is answered`() throws {
    let cluster = try Cluster()
    for number in 10..<30 {
      let replica = number % 2
      let statement =
        #"{"sql":"INSERT INTO t VALUES (:id, :a) RETURNING a, typeof(a)","params":{"id":\#(number),"a":{"$int":"922337203685477\#(number)"}}}"#
      let answer = try cluster.post(#"{"statements":[\#(statement)]}"#, to: replica)
      #expect(answer.status == 200)
      let committed = try JSONParser.parse(Array(answer.body))
      #expect(committed["results"].map { "\($0)" }?.contains("integer") == true)
      let read = try RawSocket(port: cluster.replicas[replica].port)
        .request("GET", "/v1/snapshot?from=t&where=id%3D\(number)")
      let snapshot = try JSONParser.parse(Array(read.body))
      #expect(snapshot["total"] == .integer(1))
      #expect(snapshot["commit"] == committed["commit"])
    }
    let refused = try cluster.post(#"{"statements":[{"sql":"INSERT INTO t VALUES (99, 'x'), (98, 'x')"}]}"#, to: 0)
    #expect(refused.status == 409 || refused.text.contains("constraint"))
  }

  @Test func `Every kind of value is the same by way of a replica`() throws {
    let cluster = try Cluster()
    let values =
      #"null,7,{"$int":"9223372036854775807"},1.5,-0.0,1e999,-1e999,"é\u0000\"",{"$blob":"AP8K"},{"$blob":""}"#
    let columns = (1...10).map { "?\($0) AS v\($0), typeof(?\($0)) AS t\($0)" }.joined(separator: ",")
    let body = #"{"statements":[{"sql":"SELECT \#(columns)","params":[\#(values)]}]}"#
    let here = try JSONParser.parse(Array(cluster.post(body, to: 0).body))
    let there = try RawSocket(port: cluster.writer.server.port).request("POST", "/v1/transactions", body: body)
    #expect(try here["results"] == JSONParser.parse(Array(there.body))["results"])
    #expect(here["results"] != nil)
  }

  @Test func `What the writer's server cannot read is refused, with the likely reason`() throws {
    let cluster = try Cluster()
    let broker = try BrokerConnection(BrokerAddress(cluster.broker.url("test"))!, name: "test")
    for request in ["bplist00", #"{"statements":[{"sql":"DELETE FROM t"}]}"#] {
      let subject = LogSubjects(broker.address).writer(.transact)
      let answer = try broker.request(Array(request.utf8), of: subject, timeout: 5_000)
      let error = try FreshetError(JSONParser.parse(answer))
      #expect(error.code == .badMessage && error.message.contains("another version"))
    }
    #expect(try SQLiteShell(path: cluster.writer.path).run("SELECT count(*) FROM t") == "2")
  }

  @Test func `A transaction with a name is run once, whichever servers are asked`() throws {
    let cluster = try Cluster()
    let body = #"{"once":"one","statements":[{"sql":"INSERT INTO t(a) VALUES (random()) RETURNING id"}]}"#
    let answers = try (0..<6).map { try cluster.post(body, to: $0 % 2).text }
    #expect(Set(answers).count == 1)
    #expect(try SQLiteShell(path: cluster.writer.path).run("SELECT count(*) FROM t") == "3")
  }

  @Test func `A writer's server that takes no writes says so, and one that is gone is told`() throws {
    let cluster = try Cluster { $0.access.allowsWrites = false }
    let body = #"{"statements":[{"sql":"DELETE FROM t"}]}"#
    let refused = try cluster.post(body, to: 0)
    #expect(refused.status == 403 && refused.text.contains("--allow-writes"))
    cluster.writer.stop()
    let gone = try cluster.post(body, to: 1)
    #expect(gone.status == 503 && gone.text.contains("nothing was written"))
    // Replicated rows are still served.
    #expect(try RawSocket(port: cluster.replicas[0].port).request("GET", "/v1/snapshot?from=t").status == 200)
  }

  @Test func `Status, metrics and readiness say who is how far`() throws {
    let cluster = try Cluster()
    let report = try StatusReport(
      of: BrokerConnection(BrokerAddress(cluster.broker.url("test"))!, name: "test"), wait: 1_500)
    #expect(report.servers.map(\.role) == ["publisher", "replica", "replica"])
    #expect(report.isWell(lag: 5))
    #expect(Set(report.servers.map(\.epoch)).count == 1)
    #expect(report.snapshot != nil && (report.log?.messages ?? 0) > 0)
    let metrics = try RawSocket(port: cluster.replicas[0].port).request("GET", "/metrics").text
    #expect(metrics.contains("freshet_replica_lag_seconds 0"))
    #expect(metrics.contains(#"freshet_replica_snapshots_total{reason="new"} 1"#))
    let writers = try RawSocket(port: cluster.writer.server.port).request("GET", "/metrics").text
    #expect(writers.contains("freshet_publisher_up 1"))
    #expect(writers.contains("freshet_publisher_snapshots_total"))
  }

  @Test func `Settings are read from a file, and what is wrong is said with its place`() throws {
    let file = try ConfigurationFile(
      yaml: """
        replication:
          publish: tls://a,b/shop
          credentials: shop.creds
          tls: { authority: /etc/ca.pem }
          replicas: 3
          retention: { bytes: 64 MiB, seconds: 3600 }
          snapshotInterval: 600
          longestLag: 5
        """, name: "f", folder: "/srv")
    let settings = try #require(file.replication)
    #expect(settings.role == .publisher && settings.address.description == "tls://a,b/shop")
    #expect(settings.credentials.credentials == "/srv/shop.creds" && settings.credentials.authority == "/etc/ca.pem")
    #expect(settings.replicas == 3 && settings.retainedBytes == 64 << 20 && settings.retainedSeconds == 3_600)
    #expect(settings.snapshotInterval == 600 && settings.longestLag == 5)
    for (yaml, part) in [
      ("replication: { }", "needs publish or replicate"),
      ("replication: { publish: nats://a/b, replicate: nats://a/b }", "not both"),
      ("replication: { publish: http://a/b }", "must be nats://"),
      ("replication: { publish: nats://a/b, replicas: 9 }", "from 1 to 5"),
      ("replication: { publish: nats://a/b, color: 9 }", "is unknown"),
    ] {
      do {
        _ = try ConfigurationFile(yaml: yaml, name: "f")
        Issue.record("taken: \(yaml)")
      } catch { #expect(error.description.contains(part), "\(error)") }
    }
  }
}
