import Following
import Foundation
import GRDB
import Logging
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// Servers of one file, one after the other: clients of one server resume at the next, or get new snapshots. SQLite
/// itself is the oracle.
@Suite(.serialized) struct RestartTests {
  private static let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)

  private static let schema = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT, n INT);
    CREATE TABLE b(id INTEGER PRIMARY KEY, a INT, v TEXT);
    CREATE TABLE c(k TEXT PRIMARY KEY, v INT) WITHOUT ROWID;
    INSERT INTO a VALUES (1, 'one', 10), (2, 'two', 20), (3, 'three', 30);
    INSERT INTO b VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 3, 'z');
    INSERT INTO c VALUES ('p', 1), ('q', 2);
    """
  private static let queries: [String: (query: String, sql: String)] = [
    "a": (#"{"from":"a"}"#, "SELECT id, t, n FROM a ORDER BY id"),
    "b": (#"{"from":"b","where":"a > 1"}"#, "SELECT id, a, v FROM b WHERE a > 1 ORDER BY id"),
    "c": (#"{"from":"c","orderBy":["v DESC"]}"#, "SELECT k, v FROM c ORDER BY v DESC, k"),
    "join": (
      #"{"from":"b JOIN a ON b.a = a.id","select":["a.t","b.v"],"orderBy":["b.id"]}"#,
      "SELECT b.id, a.t, b.v FROM b JOIN a ON b.a = a.id ORDER BY b.id"
    ),
    "sum": (
      #"{"from":"a","select":["n % 3 AS r","sum(n) AS s"],"groupBy":["n % 3"],"orderBy":["n % 3"]}"#,
      "SELECT n % 3, sum(n) FROM a GROUP BY 1 ORDER BY 1"
    ),
  ]

  /// A file, its states, and the server that runs at the moment.
  private final class Place {
    let folder: TemporaryFolder
    let path: String
    private var session: SQLiteSession?
    var writer: SQLiteSession { session! }
    private(set) var server: FreshetServer?
    private(set) var states: String
    private var killed = 0

    init(_ schema: String) throws {
      folder = try TemporaryFolder()
      path = folder.path("t.sqlite")
      states = folder.path("states")
      try SQLiteShell(path: path).run(schema)
      session = try SQLiteSession(path: path)
    }

    deinit { server?.stop() }

    func start(followers: Int = 2) throws {
      var configuration = ServerConfiguration(database: path)
      configuration.listening.port = 0
      configuration.ending.grace = .milliseconds(50)
      configuration.lists.selfCheck = .off
      configuration.limits.followers = followers
      configuration.state.folder = states
      configuration.state.interval = .milliseconds(20)
      var logger = Logger(label: "test") { StreamLogHandler.standardError(label: $0) }
      logger.logLevel = .critical
      server = try FreshetServer(configuration, logger: logger)
    }

    func stop() {
      server?.stop()
      server = nil
    }

    /// The contents of the disk if the process were killed now.
    func copyStates() throws -> String {
      killed += 1
      let copy = folder.path("killed-\(killed)")
      while true {
        do {
          try? FileManager.default.removeItem(atPath: copy)
          // A file that is being replaced meanwhile fails the copy.
          try FileManager.default.copyItem(atPath: states, toPath: copy)
          try adopt(copy)
          return copy
        } catch  where FileManager.default.fileExists(atPath: states) { continue }
      }
    }

    /// Makes copied states valid for their own files: each state contains the inode number of its file.
    private func adopt(_ folder: String) throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".state") {
        let path = folder + "/" + name
        let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: 16)
        withUnsafeBytes(of: number!) { file.write(Data($0)) }
        try file.close()
      }
    }

    /// Continues as if the process had been killed when the states were copied.
    func killed(with states: String) {
      stop()
      self.states = states
    }

    /// The writer closes the file, so that SQLite removes the WAL if no other process has it open.
    func reopenWriter() throws {
      session = nil
      session = try SQLiteSession(path: path)
    }

    func connect() throws -> LiveClient { try LiveClient(port: try #require(server).port) }

    /// The rows of a query, as a client holds them.
    func rows(_ sql: String) throws -> [[String]] {
      let queue = try DatabaseQueue(path: path)
      defer { try? queue.close() }
      return try queue.read { db in
        try Row.fetchAll(db, sql: sql).map { row in row.map { "\($1)" } }
      }
    }
  }

  private func rows(_ model: ClientModel?) -> [[String]] {
    guard let model else { return [["nothing"]] }
    return model.rows.map { row in
      model.columns.map { column in
        switch row?[column] {
        case .string(let text)?: "\"\(text)\""
        case .integer(let number)?: "\(number)"
        case .null?: "NULL"
        case let other: "\(String(describing: other))"
        }
      }
    }
  }

  private func compare(_ place: Place, _ client: LiveClient, _ what: String) throws {
    for (id, query) in Self.queries {
      let expected = try place.rows(query.sql)
      let held = rows(client.models[id])
      #expect(held == expected, "FRESHET_SEED=\(Self.seed), \(id), \(what), \(client.line(id))")
    }
  }

  @Test func `A client goes on after a restart, where its tables have not changed`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let client = try place.connect()
    for (id, query) in Self.queries { try client.subscribe(id, query.query) }
    try place.writer.run("UPDATE a SET n = n + 1 WHERE id = 2")
    try client.catchUp(Array(Self.queries.keys))
    place.stop()
    try place.writer.run("UPDATE c SET v = 7 WHERE k = 'p'")
    try place.start()
    let again = try place.connect()
    #expect(again.epoch == client.epoch)
    for (id, query) in Self.queries { try again.resume(id, query.query, try #require(client.models[id])) }
    for id in Self.queries.keys {
      #expect(again.change(id) == (id == "c" ? "snapshot" : "patch"), "\(id)")
    }
    let numbers = Set(again.models.values.map(\.commit))
    #expect(numbers.count == 1 && numbers.min()! > client.models["a"]!.commit)
    try compare(place, again, "after the restart")
    try place.writer.run("UPDATE a SET n = 0; UPDATE b SET a = 2")
    try again.catchUp(Array(Self.queries.keys))
    try compare(place, again, "after a commit")
  }

  @Test func `ETags are honoured`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let target = "/v1/snapshot?from=a"
    let first = try RawSocket(port: place.server!.port).request("GET", target)
    let tag = try #require(first.headers["etag"])
    place.stop()
    try place.writer.run("UPDATE c SET v = 7")
    try place.start()
    let second = try RawSocket(port: place.server!.port).request("GET", target, headers: ["If-None-Match: \(tag)"])
    #expect(second.status == 304)
    place.stop()
    try place.writer.run("UPDATE a SET n = 7")
    try place.start()
    let third = try RawSocket(port: place.server!.port).request("GET", target, headers: ["If-None-Match: \(tag)"])
    #expect(third.status == 200)
  }

  @Test func `A process that was killed gives no number twice`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let client = try place.connect()
    try client.subscribe("a", Self.queries["a"]!.query)
    while try FileManager.default.contentsOfDirectory(atPath: place.states).filter({ $0.hasSuffix(".state") }).count < 2
    { usleep(10_000) }
    let copy = try place.copyStates()
    // The client sees this change, but no kept state does; it is undone before the next server starts.
    try place.writer.run("UPDATE a SET n = 99 WHERE id = 1")
    try client.catchUp(["a"])
    place.killed(with: copy)
    try place.writer.run("UPDATE a SET n = 10 WHERE id = 1")
    try place.start()
    let again = try place.connect()
    #expect(again.epoch == client.epoch)
    try again.resume("a", Self.queries["a"]!.query, try #require(client.models["a"]))
    #expect(again.change("a") == "snapshot")
    #expect(again.models["a"]!.commit > client.models["a"]!.commit + 1 << 32)
    #expect(rows(again.models["a"]) == (try place.rows(Self.queries["a"]!.sql)))
  }

  @Test func `Metrics have what a state remembers, and what changed while no server ran`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let client = try place.connect()
    try client.subscribe("a", Self.queries["a"]!.query)
    try client.catchUp(["a"])
    place.stop()
    try place.writer.run("UPDATE a SET n = 99 WHERE id = 1")
    try place.start()
    let metric = { (name: String) in
      try #require(try RawSocket(port: place.server!.port).request("GET", "/metrics").samples[name])
    }
    #expect(try comesTrue { try metric("freshet_changes_total") == 1 })
    #expect(try metric("freshet_capture_bytes") > 0)
  }

  @Test func `A second server of the file keeps nothing`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let first = try place.connect()
    let other = try Place(Self.schema)
    _ = other
    var configuration = ServerConfiguration(database: place.path)
    configuration.listening.port = 0
    configuration.state.folder = place.states
    let second = try FreshetServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    defer { second.stop() }
    let client = try LiveClient(port: second.port)
    #expect(client.epoch != first.epoch)
  }

  @Test func `Another file under the name begins another epoch`() throws {
    let place = try Place(Self.schema)
    try place.start()
    let first = try place.connect()
    try first.subscribe("a", Self.queries["a"]!.query)
    place.stop()
    try SQLiteShell(path: place.path).run("VACUUM INTO '\(place.folder.path("u.sqlite"))'")
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + suffix) }
    try FileManager.default.moveItem(atPath: place.folder.path("u.sqlite"), toPath: place.path)
    try place.start()
    #expect(try place.connect().epoch != first.epoch)
  }

  @Test(arguments: 0..<4)
  func `What clients hold is right after any number of restarts`(run: UInt64) throws {
    var random = SeededGenerator(seed: Self.seed &+ run)
    let place = try Place(Self.schema)
    func commit() throws {
      let id = Int.random(in: 1...6, using: &random)
      let value = Int.random(in: 0..<4, using: &random)
      try place.writer.run(
        [
          "INSERT OR REPLACE INTO a VALUES (\(id), 'v\(value)', \(value))",
          "UPDATE a SET n = \(value) WHERE id = \(id)",
          "DELETE FROM a WHERE id = \(id)", "INSERT OR REPLACE INTO b VALUES (\(id), \(value), 'w\(value)')",
          "UPDATE b SET a = \(value) WHERE id = \(id)", "INSERT OR REPLACE INTO c VALUES ('k\(id)', \(value))",
          "UPDATE c SET v = \(value) WHERE k = 'k\(id)'", "PRAGMA wal_checkpoint(TRUNCATE)",
        ].randomElement(using: &random)!)
    }
    func commits(_ most: Int) throws { for _ in 0..<Int.random(in: 0...most, using: &random) { try commit() } }
    var held: [String: ClientModel] = [:]
    var changes: [String: Int] = [:]
    var epochs: [String] = []
    for round in 0..<20 {
      try place.start(followers: Int.random(in: 0..<10, using: &random) == 0 ? 1 : 2)
      let client = try place.connect()
      if epochs.last != client.epoch { epochs.append(client.epoch) }
      try commits(1)
      for (id, query) in Self.queries {
        if let model = held[id] {
          try client.resume(id, query.query, model)
          changes[client.change(id), default: 0] += 1
        } else {
          try client.subscribe(id, query.query)
        }
      }
      try client.catchUp(Array(Self.queries.keys))
      try compare(place, client, "round \(round), run \(run)")
      try commits(4)
      try client.catchUp(Array(Self.queries.keys))
      if Bool.random(using: &random) { usleep(UInt32.random(in: 0..<60_000, using: &random)) }
      let copy = try place.copyStates()
      try commits(3)
      try client.catchUp(Array(Self.queries.keys))
      held = client.models
      if Int.random(in: 0..<3, using: &random) == 0 { place.killed(with: copy) } else { place.stop() }
      if Bool.random(using: &random) { try place.reopenWriter() }
      try commits(3)
    }
    // Some lists resume with a patch. On a busy machine there are fewer of them.
    #expect(changes["patch", default: 0] > 3, "\(changes)")
    print(changes, epochs.count)
  }
}
