import Broker
import Foundation
import Logging
import Replication
import ServerSupport
import TestSupport
import Testing

@testable import Server

/// A writer's server that restarts, a replica that keeps running, and a program that writes all the time.
@Suite(.serialized, .enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
struct PublisherRestartTests {
  private static let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)

  private final class Place {
    let folder: TemporaryFolder
    let broker: BrokerProcess
    let writer: SQLiteSession
    let path: String
    let replica: FreshetServer
    private(set) var server: FreshetServer?
    let logger = Logger(label: "test") { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = .critical
      return handler
    }

    init() throws {
      folder = try TemporaryFolder()
      path = folder.path("t.sqlite")
      broker = try BrokerProcess(storage: folder.path("broker"))
      try SQLiteShell(path: path).run(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT UNIQUE); CREATE TABLE b(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
        CREATE TABLE c(v);
        INSERT INTO a(v) VALUES ('x'), ('y'); INSERT INTO b VALUES ('p', zeroblob(9000));
        """)
      writer = try SQLiteSession(path: path)
      var configuration = ServerConfiguration(database: folder.path("copy.sqlite"))
      configuration.listening.port = 0
      configuration.ending.grace = .milliseconds(50)
      configuration.set(ReplicationSettings(.replica, BrokerAddress(broker.url("test"))!))
      replica = try FreshetServer(configuration, logger: logger)
    }

    deinit {
      replica.stop()
      server?.stop()
      broker.kill()
    }

    func start() throws {
      var configuration = ServerConfiguration(database: path)
      configuration.listening.port = 0
      configuration.ending.grace = .milliseconds(50)
      configuration.state.folder = folder.path("states")
      configuration.set(ReplicationSettings(.publisher, BrokerAddress(broker.url("test"))!))
      server = try FreshetServer(configuration, logger: logger)
    }

    func stop() {
      server?.stop()
      server = nil
    }

    /// Everything in a file: the schema, and all rows.
    func contents(_ path: String) throws -> String {
      let tables = try SQLiteShell(path: path).run(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_freshet%' ORDER BY 1"
      )
      let schema = try SQLiteShell(path: path).run(
        "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name NOT LIKE '_freshet%' ORDER BY 1, 2; PRAGMA user_version"
      )
      let rows = try tables.split(separator: "\n").map { table in
        try SQLiteShell(path: path).run("SELECT \(["a", "c"].contains(table) ? "rowid, *" : "*") FROM \(table)")
      }
      return ([schema] + rows).joined(separator: "\n--\n")
    }

    func waitUntilEqual() throws -> Bool {
      let replicated = folder.path("copy.sqlite")
      return try comesTrue {
        // The shell would create a missing file.
        guard FileManager.default.fileExists(atPath: replicated), let copy = try? contents(replicated) else {
          return false
        }
        return try copy == contents(path)
      }
    }

    /// Snapshots that the replica has loaded, by the reason.
    func snapshots() throws -> [String] {
      try RawSocket(port: replica.port).request("GET", "/metrics").text.split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix("freshet_replica_snapshots_total{") }
    }
  }

  @Test func `No replica takes a snapshot`() throws {
    var random = SeededGenerator(seed: Self.seed)
    let place = try Place()
    func commits() throws {
      for _ in 0..<Int.random(in: 0..<6, using: &random) {
        let number = Int.random(in: 0..<8, using: &random)
        try place.writer.run(
          [
            "INSERT OR REPLACE INTO a(id, v) VALUES (\(number + 1), 'v\(number / 2)')",
            "INSERT INTO a(v) VALUES (random())",
            "DELETE FROM a WHERE id = \(number)",
            "INSERT OR REPLACE INTO b VALUES ('k\(number)', zeroblob(\(number * 900)))",
            "DELETE FROM b WHERE k = 'k\(number)'", "INSERT INTO c VALUES (\(number))",
            "UPDATE c SET v = v + 1 WHERE rowid = \(number)",
            "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM",
          ].randomElement(using: &random)!)
      }
    }
    try place.start()
    #expect(try place.waitUntilEqual())
    let before = try place.snapshots()
    var epochs: Set<String> = []
    for round in 0..<10 {
      try commits()
      if Bool.random(using: &random) { #expect(try place.waitUntilEqual(), "round \(round)") }
      place.stop()
      try commits()
      switch round {
      case 3:
        try place.writer.run(
          "ALTER TABLE c ADD COLUMN later DEFAULT 5; CREATE INDEX i ON c(v); PRAGMA user_version = 7")
      case 5: try place.writer.run("CREATE TABLE d(x PRIMARY KEY); INSERT INTO d VALUES (1), ('two')")
      case 7: try place.writer.run("DROP TABLE d; CREATE VIEW w AS SELECT * FROM a; DELETE FROM b")
      default: break
      }
      try place.start()
      epochs.insert(try LiveClient(port: try #require(place.server).port).epoch)
      try commits()
      #expect(try place.waitUntilEqual(), "FRESHET_SEED=\(Self.seed), round \(round)")
    }
    #expect(epochs.count == 1)
    #expect(try place.snapshots() == before)
  }

  @Test func `Where the log has gone on without it, another epoch begins`() throws {
    let place = try Place()
    try place.start()
    #expect(try place.waitUntilEqual())
    let first = try LiveClient(port: try #require(place.server).port).epoch
    place.stop()
    // Another server publishes to the log meanwhile.
    let other = place.folder.path("other.sqlite")
    try FileManager.default.copyItem(atPath: place.path, toPath: other)
    var configuration = ServerConfiguration(database: other)
    configuration.listening.port = 0
    configuration.set(ReplicationSettings(.publisher, BrokerAddress(place.broker.url("test"))!))
    let between = try FreshetServer(configuration, logger: place.logger)
    sleep(1)
    between.stop()
    try place.writer.run("INSERT INTO c VALUES (1)")
    try place.start()
    #expect(try place.waitUntilEqual())
    #expect(try LiveClient(port: try #require(place.server).port).epoch != first)
  }

  @Test func `A broker that is away is waited for`() throws {
    let place = try Place()
    try place.start()
    #expect(try place.waitUntilEqual())
    let before = try place.snapshots()
    place.stop()
    place.broker.kill()
    try place.start()
    try place.writer.run("INSERT INTO c VALUES (1)")
    place.stop()
    try place.start()
    try place.broker.start()
    #expect(try place.waitUntilEqual())
    #expect(try place.snapshots() == before)
  }
}
