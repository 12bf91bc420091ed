import Foundation
import GRDB
import ServerSupport
import TestSupport
import Testing
import Wire

/// One file with all kinds of followers: lists on two followers, a reader of the feed, and a publisher with its
/// replica. At each quiet point all agree with SQLite, also after the server was killed, or stopped and resumed, and
/// the file locked or replaced.
@Suite(.serialized) struct AllFollowersTests {
  @Test(arguments: ["wal", "delete", "truncate", "persist"])
  func `All who follow one file agree`(mode: String) throws {
    let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)
    print("all followers, \(mode): FRESHET_SEED=\(seed)")
    if !BrokerProcess.isInstalled { print("no publisher: nats-server is not installed") }
    var run = try FollowersRun(mode: mode, seed: seed)
    try run.agree()
    for _ in 0..<TestDepth.count(6, long: 200) {
      try run.step()
      try run.agree()
    }
    run.end()
  }

  /// While the publisher waits, changes are kept for it up to a bound; beyond that it compares tables.
  @Test(.enabled(if: BrokerProcess.isInstalled, "nats-server is not installed"))
  func `A publisher that waits for its broker costs bounded memory, and catches up`() throws {
    var run = try FollowersRun(mode: "wal", seed: 1, changeHistory: 4 << 20)
    try run.agree()
    let before = run.residentBytes
    run.broker?.signal(SIGSTOP)
    let end = Date(timeIntervalSinceNow: Double(TestDepth.count(3, long: 60)))
    while Date() < end { try run.writeMuch() }
    #expect(run.residentBytes - before < 256 << 20, "\(before >> 20) MiB, then \(run.residentBytes >> 20)")
    run.broker?.signal(SIGCONT)
    try run.agree()
    run.end()
  }
}

private struct FollowersRun {
  private static let schema = """
    PRAGMA page_size = 1024;
    CREATE TABLE turn(id INTEGER PRIMARY KEY, n INT);
    INSERT INTO turn VALUES (1, 0);
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price REAL);
    CREATE TABLE named(name TEXT PRIMARY KEY, v, w INT UNIQUE);
    CREATE TABLE pair(p INT, q TEXT, r, PRIMARY KEY (q, p)) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200)
      INSERT INTO item SELECT i, 'item ' || i, char(97 + i % 3), i % 7 FROM n;
    """
  private static let keys = ["turn": ["id"], "item": ["id"], "named": ["name"], "pair": ["q", "p"]]

  /// Queries of several shapes, so that both followers get some.
  private static let queries: [String: OracleQuery] = [
    "turn": OracleQuery(table: "turn", keys: ["id"], select: ["n"], orderBy: []),
    "items": OracleQuery(
      table: "item", keys: ["id"], select: ["name", "price"], section: ("kind", false), orderBy: ["price"]),
    "few": OracleQuery(table: "item", keys: ["id"], select: ["name"], filter: "price > 3", orderBy: ["name"], limit: 9),
    "kinds": OracleQuery(
      table: "item", keys: ["kind"], select: ["count(*) AS n", "sum(price) AS s"], orderBy: ["kind"], groupBy: ["kind"]),
    "joined": OracleQuery(
      table: "item JOIN named ON named.w = item.id", keys: ["item.id AS id"], select: ["v"], orderBy: ["v"],
      tellsKey: true),
    "pairs": OracleQuery(table: "pair", keys: ["q", "p"], select: ["r"], orderBy: []),
  ]

  private var random: SeededGenerator
  private var mode: String
  private let folder: TemporaryFolder
  private let path: String
  private let changeHistory: Int
  let broker: BrokerProcess?
  private let replica: Program?
  private var program: Program
  private var writer: SQLiteSession
  private var lists: LiveClient
  private var feed: LiveClient
  private var copy: ChangedCopy
  private var position: String
  /// Whether the feed has reported a gap.
  private var mustRead = false
  /// Whether the feed may report a gap.
  private var mayLose = false
  private var turn = 0

  var residentBytes: Int { program.residentBytes }

  /// - Parameter changeHistory: bytes that the feed remembers.
  init(mode: String, seed: UInt64, changeHistory: Int = 64 << 20) throws {
    random = SeededGenerator(seed: seed)
    self.mode = mode
    folder = try TemporaryFolder()
    path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = \(mode); \(Self.schema)")
    writer = try SQLiteSession(path: path)
    broker = BrokerProcess.isInstalled ? try BrokerProcess(storage: folder.path("broker")) : nil
    replica = try broker.map { [folder] broker in
      try Program(["serve", folder.path("copy.sqlite"), "--port", "0", "--replicate", broker.url("test")])
    }
    program = try Self.serve(path, folder, broker, changeHistory)
    self.changeHistory = changeHistory
    (lists, feed) = try Self.connect(program)
    try feed.send(#"{"type":"changes","id":"c"}"#)
    position = try feed.receive("changes").required("position").text()
    copy = try Self.contents(path)
    for (id, query) in Self.queries { try lists.subscribe(id, query.json) }
  }

  private static func serve(
    _ path: String, _ folder: TemporaryFolder, _ broker: BrokerProcess?, _ changeHistory: Int
  ) throws -> Program {
    try Program(
      ["serve", path, "--port", "0", "--state", folder.path("states")]
        + (broker.map { ["--publish", $0.url("test")] } ?? []),
      environment: ["FRESHET_CHANGE_HISTORY": "\(changeHistory)"])
  }

  private static func connect(_ program: Program) throws -> (LiveClient, LiveClient) {
    let port = try program.port()
    return (try LiveClient(port: port), try LiveClient(port: port))
  }

  private static func contents(_ path: String) throws -> ChangedCopy {
    var settings = Configuration()
    settings.busyMode = .timeout(10)
    return try DatabaseQueue(path: path, configuration: settings).read { try ChangedCopy($0, keys: keys) }
  }

  func end() {
    program.stop()
    replica?.stop()
  }

  // MARK: - What happens

  mutating func step() throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: try restart(SIGKILL)
    case 1: try restart(SIGTERM)
    case 2: try replace()
    case 3: try restore()
    case 4: try writer.run("BEGIN EXCLUSIVE;\n\(statement());\n.shell sleep 0.3\nCOMMIT")
    case 5:
      program.signal(SIGSTOP)
      // The stopped server may hold a lock on a file without a WAL.
      try writer.run(".timeout 50")
      try write()
      program.signal(SIGCONT)
      try writer.run(".timeout 10000")
    case 6: try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    default: try write()
    }
  }

  private mutating func write() throws {
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let statements = (0..<Int.random(in: 1...4, using: &random)).map { _ in statement() }
      try writer.run((["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";\n"))
    }
  }

  /// Writes some MiB in a few commits.
  mutating func writeMuch() throws {
    // The changes are more than is remembered for readers of the feed, and this reader does not read.
    mayLose = true
    for _ in 0..<5 {
      turn += 1
      try writer.run(
        "BEGIN; UPDATE item SET name = hex(randomblob(4000)); UPDATE turn SET n = \(turn); COMMIT")
    }
  }

  private mutating func statement() -> String {
    let (a, b) = (Int.random(in: 0..<220, using: &random), Int.random(in: 0..<9, using: &random))
    return switch Int.random(in: 0..<9, using: &random) {
    case 0: "INSERT OR REPLACE INTO item VALUES (\(a), 'new \(b)', char(97 + \(b % 4)), \(b).5)"
    case 1: "DELETE FROM item WHERE id = \(a)"
    case 2: "UPDATE item SET price = price + 1 WHERE id % 40 = \(a % 40)"
    case 3: "UPDATE OR IGNORE item SET id = \(a) WHERE id = \(a * 7 % 220)"
    case 4: "INSERT OR REPLACE INTO named VALUES ('k\(b)', printf('%.*c', \(a * 20), 'z'), \(a))"
    case 5: "DELETE FROM named WHERE name = 'k\(b)'"
    case 6: "INSERT OR REPLACE INTO pair VALUES (\(b % 3), 'q\(a % 5)', \(a))"
    case 7: "DELETE FROM pair WHERE q = 'q\(a % 5)'"
    default: "UPDATE item SET name = name || '!', kind = 'b' WHERE id = \(a)"
    }
  }

  /// Ends the server; after writes to the file, and perhaps a change of the journal mode, a new process continues.
  private mutating func restart(_ signal: Int32) throws {
    program.signal(signal)
    program.stop()
    lists.socket.close()
    feed.socket.close()
    try write()
    if Bool.random(using: &random) {
      mode = ["wal", "delete", "persist"].randomElement(using: &random)!
      try writer.run("PRAGMA journal_mode = \(mode)")
    }
    program = try Self.serve(path, folder, broker, changeHistory)
    let models = lists.models
    (lists, feed) = try Self.connect(program)
    for (id, query) in Self.queries { try lists.resume(id, query.json, models[id] ?? ClientModel()) }
    try feed.send(#"{"type":"changes","id":"c","since":"\#(position)"}"#)
  }

  /// Replaces the file.
  private mutating func replace() throws {
    let other = folder.path("other.sqlite")
    try SQLiteShell(path: path).run("VACUUM INTO '\(other)'")
    try SQLiteShell(path: other).run("PRAGMA journal_mode = \(mode); UPDATE item SET kind = 'r' WHERE id % 9 = 1")
    try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    writer = try SQLiteSession(path: other)
    for suffix in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    _ = rename(other, path)
    writer = try SQLiteSession(path: path)
    mayLose = true
  }

  /// Has the shell restore a backup into the file, in one transaction.
  private mutating func restore() throws {
    let backup = folder.path("backup.sqlite")
    try SQLiteShell(path: path).run("VACUUM INTO '\(backup)'")
    try SQLiteShell(path: backup).run("DELETE FROM item WHERE id % 11 = 3")
    try write()
    try SQLiteShell(path: path).run(".restore '\(backup)'")
    try FileManager.default.removeItem(atPath: backup)
    mayLose = true
  }

  // MARK: - What they see

  /// Waits until all followers have seen the last commit, and compares their contents with the file.
  mutating func agree() throws {
    try count()
    while mustRead || copy.tables["turn"]?.values.first?["n"] != .integer(Int64(turn)) { try take(try feed.receive()) }
    try expectLists()
    let expected = try Self.contents(path)
    #expect(copy == expected, "the feed")
    if replica != nil { try expectReplica(expected) }
    mayLose = false
  }

  private mutating func count() throws {
    turn += 1
    try writer.run("UPDATE turn SET n = \(turn)")
  }

  private func expectLists() throws {
    let end = Date(timeIntervalSinceNow: 20)
    var difference: String?
    repeat {
      try lists.catchUp(Self.queries.keys.sorted())
      difference = try DatabaseQueue(path: path).read { db in
        for (id, query) in Self.queries {
          guard let model = lists.models[id] else { return "\(id) ended: \(lists.ended[id] ?? "")" }
          if let problem = model.difference(from: try query.answer(db)) { return "\(id): \(problem)" }
        }
        return nil
      }
    } while difference != nil && Date() < end
    #expect(difference == nil)
  }

  private mutating func take(_ message: JSONValue) throws {
    switch message["type"] {
    case .string("gap"):
      #expect(mayLose, "\(message)")
      try read(message)
    case .string("changes"):
      position = try message.required("position").text()
      guard message["changes"] != nil else { return }
      if mustRead {
        let changes = try message.list("changes", { $0 })
        guard changes.contains(where: { $0["table"] == .string("turn") && $0["new"]?["n"] == .integer(Int64(turn)) })
        else { return }
        copy = try Self.contents(path)
        mustRead = false
        return
      }
      try copy.apply(message)
      if !copy.unknown.isEmpty { try read(message) }
    case .string("error"): throw ChangedCopy.Failure(description: "\(message)")
    default: break
    }
  }

  /// Reads unknown tables again, in the state after the next commit.
  private mutating func read(_ message: JSONValue) throws {
    position = try message.required("position").text()
    mustRead = true
    copy.unknown = []
    try count()
  }

  private func expectReplica(_ expected: ChangedCopy) throws {
    let path = folder.path("copy.sqlite")
    var copied: ChangedCopy?
    _ = comesTrue {
      if FileManager.default.fileExists(atPath: path) { copied = try? Self.contents(path) }
      return copied?.tables["turn"] == expected.tables["turn"]
    }
    #expect(copied == expected, "the replica")
  }
}
