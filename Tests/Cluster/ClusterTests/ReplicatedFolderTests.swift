import Broker
import Foundation
import LiveQuery
import Logging
import Replication
import ServerSupport
import TestSupport
import Testing

@testable import Server

/// A server of a folder, and servers over copies of it, with a real broker between them.
@Suite(.serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct ReplicatedFolderTests {
  private static let access = "roles: { anonymous: { tables: { t: }, queries: any, write: any, manage: '*' } }"
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL);"

  private final class Cluster {
    let folder: TemporaryFolder
    let broker: BrokerProcess
    let writer: LiveFolder
    private(set) var copies: [FreshetServer?] = []

    init(_ databases: [String: String], copies count: Int = 1) throws {
      folder = try TemporaryFolder()
      let broker = try BrokerProcess(storage: folder.path("broker"))
      self.broker = broker
      let folder = folder
      let roles = try ConfigurationFile(yaml: ReplicatedFolderTests.access, name: "x").roles
      try ReplicatedFolderTests.schema.write(toFile: folder.path("schema.sql"), atomically: true, encoding: .utf8)
      writer = try LiveFolder(databases) {
        $0.access.roles = roles
        $0.newDatabases = NewDatabases(.schema(folder.path("schema.sql")))
        $0.set(ReplicationSettings(.publisher, BrokerAddress(broker.url("all"))!))
      }
      for number in 0..<count { try start(number) }
    }

    func start(_ number: Int) throws {
      let path = folder.path("copy\(number)")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      var configuration = ServerConfiguration(places: try DatabasePlaces([path]))
      configuration.listening.port = 0
      configuration.ending.grace = .milliseconds(50)
      configuration.access.roles = try ConfigurationFile(yaml: ReplicatedFolderTests.access, name: "x").roles
      configuration.set(ReplicationSettings(.replica, BrokerAddress(broker.url("all"))!))
      if number == copies.count { copies.append(nil) }
      copies[number] = try FreshetServer(configuration, logger: writer.log.logger())
      try eventually("copy \(number) is not ready") { try self.get(number, "/readyz").status == 200 }
    }

    func stop(_ number: Int) {
      copies[number]?.stop()
      copies[number] = nil
    }

    func get(_ number: Int, _ target: String) throws -> RawResponse {
      try RawSocket(port: copies[number]!.port).request("GET", target)
    }

    func rows(_ number: Int, _ name: String) throws -> String {
      try get(number, LiveFolder.target(name, "/v1/snapshot?from=t")).text
    }

    func eventually(_ failure: String, _ isSo: () throws -> Bool) throws {
      let isSo = try comesTrue(within: .seconds(180), isSo)
      try #require(isSo, "\(failure)")
    }

    /// The contents of a file's tables.
    func contents(_ path: String) throws -> String {
      try SQLiteShell(path: path).run("SELECT id, quote(a), quote(b) FROM t ORDER BY id")
    }

    /// Waits until all copies equal the writer's files.
    func expectSame() throws {
      for number in copies.indices where copies[number] != nil {
        let copy = folder.path("copy\(number)")
        try eventually("copy \(number) is another one") {
          try self.allContents(copy) == self.allContents(self.writer.folder.path("data"))
        }
      }
    }

    /// The contents of all files of a folder. One shell reads them all, because starting a hundred takes long.
    private func allContents(_ folder: String) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      let query = "SELECT id, quote(a), quote(b) FROM t ORDER BY id"
      process.arguments = [
        "-c", "cd '\(folder)' && for file in */*.sqlite; do echo $file; sqlite3 -init /dev/null $file '\(query)'; done",
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: printed, as: UTF8.self)
    }

    deinit {
      for number in copies.indices { stop(number) }
      broker.kill()
    }
  }

  @Test(arguments: [PropertySeeds.repeated ?? .random(in: 0 ... .max)])
  func `Small files are replicated, whatever happens to the broker and to copies`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    // A hundred take a busy machine minutes.
    let names = (0..<(TestDepth.isLong ? 100 : 30)).map { "tenants/t\($0)" }
    let databases = Dictionary(
      uniqueKeysWithValues: names.map { ("\($0).sqlite", "\(Self.schema) INSERT INTO t VALUES (1, '\($0)', 0.5)") })
    let cluster = try Cluster(databases, copies: 2)
    for round in 0..<5 {
      for _ in 0..<25 {
        let name = names.randomElement(using: &generator)!
        try cluster.writer.write(
          "\(name).sqlite",
          "INSERT OR REPLACE INTO t VALUES (\(Int.random(in: 0..<9, using: &generator)), 'round \(round)', 1.25);"
            + "DELETE FROM t WHERE id = \(Int.random(in: 0..<9, using: &generator))")
      }
      switch round {
      case 1:
        cluster.broker.kill()
        try cluster.writer.write("\(names[0]).sqlite", "INSERT INTO t VALUES (100, 'without a broker', 1)")
        try cluster.broker.start()
      case 2: cluster.stop(1)
      case 3: try cluster.start(1)
      case 4:
        cluster.broker.kill()
        try cluster.broker.deleteStorage()
        try cluster.broker.start()
      default: break
      }
      try cluster.expectSame()
    }
    #expect(cluster.writer.log.lines.filter { $0.contains("rows of the replica are not those") } == [])
  }

  @Test func `Databases that are made and removed come to copies and go from them`() throws {
    let cluster = try Cluster(["a.sqlite": "\(Self.schema) INSERT INTO t VALUES (1, 'first', 1)"], copies: 1)
    #expect(try cluster.rows(0, "a").contains("first"))
    let made = try RawSocket(port: cluster.writer.server.port).request(
      "POST", "/v1/databases", body: #"{"name":"deep/é.b"}"#)
    #expect(made.status == 201)
    try cluster.writer.write("deep/é.b.sqlite", "INSERT INTO t VALUES (7, 'made later', 1)")
    try cluster.eventually("a new database does not come") {
      let answer = try cluster.get(0, LiveFolder.target("deep/é.b", "/v1/snapshot?from=t"))
      return answer.status == 200 && answer.text.contains("made later")
    }
    // A client's write at a copy is made at the writer's server, in the same database.
    let client = try LiveClient(port: cluster.copies[0]!.port, path: LiveFolder.target("deep/é.b", "/v1/live"))
    try client.subscribe("q", #"{"from":"t"}"#)
    let written = try RawSocket(port: cluster.copies[0]!.port).request(
      "POST", LiveFolder.target("deep/é.b", "/v1/transactions"),
      body: #"{"statements":[{"sql":"INSERT INTO t VALUES (8, 'by a client', 2)"}]}"#)
    #expect(written.status == 200)
    while client.models["q"]?.rows.count != 2 { try client.receive() }
    #expect(try !cluster.contents(cluster.writer.path("a.sqlite")).contains("by a client"))
    // Databases cannot be created at a replica's server.
    let refused = try RawSocket(port: cluster.copies[0]!.port).request("POST", "/v1/databases", body: #"{"name":"x"}"#)
    #expect(refused.status == 403)

    let removed = try RawSocket(port: cluster.writer.server.port).request(
      "DELETE", "/v1/databases?name=deep%2F%C3%A9.b")
    #expect(removed.status == 204)
    try cluster.eventually("a removed database does not go") {
      try cluster.get(0, LiveFolder.target("deep/é.b", "/v1/snapshot?from=t")).status == 404
    }
    try cluster.eventually("the copy is not put aside") {
      !FileManager.default.fileExists(atPath: cluster.folder.path("copy0/deep/é.b.sqlite"))
    }
    #expect(FileManager.default.fileExists(atPath: cluster.folder.path("copy0/deep/.removed")))
    #expect(try cluster.rows(0, "a").contains("first"))
    // A new database of the same name is a different one.
    try cluster.writer.make("deep/é.b.sqlite", "\(Self.schema) INSERT INTO t VALUES (1, 'the second', 1)")
    try cluster.eventually("a database made anew does not come") {
      try cluster.get(0, LiveFolder.target("deep/é.b", "/v1/snapshot?from=t")).text.contains("the second")
    }
  }

  @Test func `A file that is no copy is neither touched nor served, and a damaged one harms no other`() throws {
    let cluster = try Cluster(
      ["a.sqlite": "\(Self.schema) INSERT INTO t VALUES (1, 'first', 1)", "b.sqlite": Self.schema], copies: 0)
    try Data("no database at all".utf8).write(to: URL(fileURLWithPath: cluster.writer.path("c.sqlite")))
    let foreign = cluster.folder.path("copy0/b.sqlite")
    try FileManager.default.createDirectory(atPath: cluster.folder.path("copy0"), withIntermediateDirectories: true)
    try SQLiteShell(path: foreign).run("CREATE TABLE mine(x); INSERT INTO mine VALUES (1)")
    try cluster.start(0)
    #expect(try cluster.rows(0, "a").contains("first"))
    #expect(try cluster.get(0, LiveFolder.target("b", "/v1/snapshot?from=mine")).status == 404)
    #expect(try cluster.get(0, LiveFolder.target("c", "/v1/snapshot?from=t")).status == 404)
    #expect(try !cluster.get(0, "/v1/databases").text.contains("\"b\""))
    #expect(try SQLiteShell(path: foreign).run("SELECT x FROM mine").contains("1"))
  }
}
