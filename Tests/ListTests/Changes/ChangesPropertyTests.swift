import Foundation
import GRDB
import LiveQuery
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Random transactions of another process, and a reader of the feed that leaves and comes back: its messages, applied
/// to its copy, lead to the file's contents at every position.
///
/// Each transaction counts itself in the table `turn`, so that each message says to which of the states it leads. The
/// states are those of a database in memory that runs the same statements.
@Suite struct ChangesPropertyTests {
  static let schema = """
    PRAGMA page_size = 1024;
    CREATE TABLE turn(id INTEGER PRIMARY KEY, n INT);
    INSERT INTO turn VALUES (1, 0);
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, price REAL, data);
    CREATE TABLE named(name TEXT PRIMARY KEY, v, w INT UNIQUE);
    CREATE TABLE pair(p INT, q TEXT, r, PRIMARY KEY (q, p)) WITHOUT ROWID;
    CREATE TABLE loose(x, y);
    CREATE TABLE child(id INTEGER PRIMARY KEY, item INT REFERENCES item ON DELETE CASCADE, n INT, twice AS (n * 2));
    CREATE TRIGGER trail AFTER UPDATE ON named BEGIN INSERT INTO loose VALUES (new.name, 'trail'); END;
    """
  static let keys = [
    "turn": ["id"], "item": ["id"], "named": ["name"], "pair": ["q", "p"], "loose": ["rowid"], "child": ["id"],
  ]

  @Test(arguments: PropertySeeds.freshOrKept("changes.json"))
  func `The feed applied to a copy is the file at every position`(seed: UInt64) throws {
    print("changes: FRESHET_SEED=\(seed)")
    var run = try ChangesRun(seed: seed, restarts: false)
    try run.perform(turns: TestDepth.count(60, long: 3_000))
  }

  /// Some of the servers are killed.
  @Test(arguments: PropertySeeds.freshOrKept("changes.json"))
  func `So it is over restarts of the server`(seed: UInt64) throws {
    print("changes over restarts: FRESHET_SEED=\(seed)")
    var run = try ChangesRun(seed: seed, restarts: true)
    try run.perform(turns: TestDepth.count(30, long: 400))
  }
}

private struct ChangesRun {
  private var random: SeededGenerator
  private let live: LiveServer
  private let shadow: DatabaseQueue
  /// The states of each turn. There may be several, because VACUUM may give rows of `loose` other rowids.
  private var states: [Int: [ChangedCopy]] = [:]
  private var last = 0
  private var client: LiveClient
  private var copy: ChangedCopy
  /// Alternatives after a gap: a turn has several states if VACUUM came after it.
  private var others: [ChangedCopy] = []
  private var position = ""
  private var mustCatchUp = false
  private var addedColumns = 0
  /// Whether VACUUM is run. Not together with changes of the schema: then the turn does not determine the contents of
  /// `loose`.
  private let vacuums: Bool
  /// A server in a process of its own.
  private var program: Program?
  private var port: Int
  private let kept: TemporaryFolder
  /// How many gaps there were.
  private var gaps = 0

  init(seed: UInt64, restarts: Bool) throws {
    random = SeededGenerator(seed: seed)
    let isSmall = Bool.random(using: &random)
    vacuums = Bool.random(using: &random)
    let schema = ChangesPropertyTests.schema
    live = try LiveServer(schema, isWAL: UInt8.random(in: 0..<8, using: &random) > 0) {
      if isSmall { $0.limits.changeHistory = 20_000 }
    }
    var settings = Configuration()
    settings.foreignKeysEnabled = true
    shadow = try DatabaseQueue(configuration: settings)
    try shadow.inDatabase { try $0.execute(sql: schema) }
    try live.writer.run("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = OFF; PRAGMA wal_autocheckpoint = 40")
    copy = try shadow.read { try ChangedCopy($0, keys: ChangesPropertyTests.keys) }
    states = [0: [copy]]
    kept = try TemporaryFolder()
    port = live.server.port
    if restarts {
      program = try Self.start(live.path, kept)
      port = try program!.port()
    }
    client = try LiveClient(port: port)
    try client.send(#"{"type":"changes","id":"c"}"#)
    position = try client.receive("changes").required("position").text()
    // From here on the server may be killed at any time.
  }

  mutating func perform(turns: Int) throws {
    for _ in 0..<turns {
      var batch: [String] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let sql = transaction()
        try shadow.inDatabase { db in
          for statement in sql { try? db.execute(sql: statement) }
          note(try ChangedCopy(db, keys: ChangesPropertyTests.keys))
        }
        batch += sql
      }
      try live.writer.run(batch.joined(separator: ";\n"))
      switch UInt8.random(in: 0..<10, using: &random) {
      case 0..<6: try catchUp()
      case 6: try leave(andCatchUp: true)
      case 7: try leave(andCatchUp: false)
      case 8 where program != nil: try restart()
      default: break
      }
    }
    try catchUp()
    live.stop()
    program?.stop()
    // A table that was altered meanwhile is a gap.
    if program != nil, vacuums { #expect(gaps == 0) }
  }

  private mutating func note(_ state: ChangedCopy) {
    last = turn(state) ?? last
    if states[last]?.last != state { states[last, default: []].append(state) }
  }

  /// The turn to which a state belongs.
  private func turn(_ copy: ChangedCopy) -> Int? {
    guard case .integer(let turn)? = copy.tables["turn"]?.values.first?["n"] else { return nil }
    return Int(turn)
  }

  /// Ends the connection, at a position that the reader remembers.
  private mutating func leave(andCatchUp: Bool) throws {
    client.socket.close()
    if andCatchUp { try write() }
    client = try LiveClient(port: port)
    try client.send(#"{"type":"changes","id":"c","since":"\#(position)"}"#)
  }

  private static func start(_ path: String, _ kept: TemporaryFolder) throws -> Program {
    try Program(["serve", path, "--port", "0", "--state", kept.path("states")])
  }

  /// Stops or kills the server, writes to the file, and starts a new server that continues.
  private mutating func restart() throws {
    let isKilled = Bool.random(using: &random)
    if isKilled { program?.signal(SIGKILL) }
    program?.stop()
    client.socket.close()
    for _ in 0..<Int.random(in: 0...3, using: &random) { try write() }
    program = try Self.start(live.path, kept)
    port = try program!.port()
    client = try LiveClient(port: port)
    try client.send(#"{"type":"changes","id":"c","since":"\#(position)"}"#)
  }

  private mutating func write(counted: Bool = false) throws {
    let sql = counted ? ["BEGIN"] + end() : transaction()
    try shadow.inDatabase { db in
      for statement in sql { try? db.execute(sql: statement) }
      note(try ChangedCopy(db, keys: ChangesPropertyTests.keys))
    }
    try live.writer.run(sql.joined(separator: ";\n"))
  }

  private mutating func catchUp() throws {
    // This write always changes `turn`, so that the reader learns the turn even if the last transactions changed
    // nothing.
    try write(counted: true)
    while mustCatchUp || turn(copy) != last { try take(try client.receive()) }
    #expect(([copy] + others).contains { $0 == states[last]?.last })
  }

  private mutating func take(_ message: JSONValue) throws {
    switch message["type"] {
    case .string("gap"):
      position = try message.required("position").text()
      gaps += 1
      // The next change of `turn` says which state the reader has reached; its tables are then read again.
      mustCatchUp = true
      try write(counted: true)
    case .string("changes"):
      position = try message.required("position").text()
      guard message["changes"] != nil else { return }
      if mustCatchUp {
        // VACUUM does not change the turn.
        guard let turn = try self.turn(in: message) else { return }
        others = try #require(states[turn])
        copy = others.removeLast()
        mustCatchUp = false
        return
      }
      try apply(message)
    case .string("error"): throw ChangedCopy.Failure(description: "\(message)")
    default: break
    }
  }

  private mutating func apply(_ message: JSONValue) throws {
    let before = [copy] + others
    var failure: (any Error)?
    var possible: [ChangedCopy] = []
    for other in before {
      copy = other
      do {
        try copy.apply(message)
        try compare(message)
        if !possible.contains(copy) { possible.append(copy) }
      } catch { failure = failure ?? error }
    }
    guard let first = possible.first else { throw failure ?? ChangedCopy.Failure(description: "no copy") }
    (copy, others) = (first, Array(possible.dropFirst()))
  }

  /// Compares the copy with the states of the turn, and reads tables again that a change of the schema has made
  /// unknown.
  private mutating func compare(_ message: JSONValue) throws {
    guard let turn = turn(copy) else { throw ChangedCopy.Failure(description: "no turn in \(message)") }
    for state in states[turn] ?? [] {
      var read = copy
      for table in copy.unknown { read.tables[table] = state.tables[table] }
      guard read == state else { continue }
      read.unknown = []
      copy = read
      return
    }
    let state = states[turn]?.last
    let differing = copy.tables.keys.filter { copy.tables[$0] != state?.tables[$0] && !copy.unknown.contains($0) }
    let texts = differing.map { "\($0): \(copy.tables[$0] ?? [:]) instead of \(state?.tables[$0] ?? [:])" }
    throw ChangedCopy.Failure(
      description: "turn \(turn): \(texts) after \(message)".replacing("Wire.JSONValue", with: ""))
  }

  private func turn(in message: JSONValue) throws -> Int? {
    for change in try message.list("changes", { $0 }) where change["table"] == .string("turn") {
      if case .integer(let turn)? = change["new"]?["n"] { return Int(turn) }
    }
    return nil
  }

  // MARK: - What the writer does

  private mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
  private mutating func number(_ count: Int = 24) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func value() -> String {
    pick([
      "NULL", "\(number())", "\(number()).5", "'t\(number())'", "x'00ff\(10 + number())'", "9007199254740993",
      "'ü\(number())€'", "printf('%.*c', \(number(3_000)), 'z')", "zeroblob(\(number(2_000)))", "''", "1e300", "-0.25",
    ])
  }

  private mutating func transaction() -> [String] {
    switch number(40) {
    case 0 where vacuums: return ["VACUUM"]
    case 1: return ["PRAGMA wal_checkpoint(\(pick(["PASSIVE", "RESTART", "TRUNCATE"])))"]
    case 2 where !vacuums && addedColumns < 6:
      addedColumns += 1
      let table = pick(["item", "named", "pair", "loose"])
      return ["BEGIN", "ALTER TABLE \(table) ADD COLUMN c\(addedColumns) DEFAULT \(pick(["NULL", "7", "'d'"]))"] + end()
    default:
      let statements = (0..<pick([1, 1, 1, 2, 3, 8])).map { _ in statement() }
      if number(12) == 0 { return ["BEGIN"] + statements + ["ROLLBACK"] }
      return ["BEGIN"] + statements + end()
    }
  }

  private func end() -> [String] { ["UPDATE turn SET n = n + 1", "COMMIT"] }

  private mutating func statement() -> String {
    let (a, b) = (number(), number())
    return switch number(22) {
    case 0, 1: "INSERT OR IGNORE INTO item(id, name, price, data) VALUES (\(a), \(value()), \(value()), \(value()))"
    case 2: "REPLACE INTO item(id, name, price, data) VALUES (\(a), \(value()), \(b), \(value()))"
    case 3, 4: "UPDATE item SET \(pick(["name", "price", "data"])) = \(value()) WHERE id = \(a)"
    case 5: "UPDATE OR IGNORE item SET id = \(b) WHERE id = \(a)"
    case 6: "DELETE FROM item WHERE id = \(a)"
    case 7: "INSERT OR IGNORE INTO named(name, v, w) VALUES ('k\(a)', \(value()), \(b))"
    case 8: "REPLACE INTO named(name, v, w) VALUES ('k\(a)', \(value()), \(b))"
    case 9: "UPDATE OR REPLACE named SET name = 'k\(b)' WHERE name = 'k\(a)'"
    case 10: "DELETE FROM named WHERE name = 'k\(a)'"
    case 11: "INSERT OR REPLACE INTO pair(p, q, r) VALUES (\(a % 5), 'q\(b)', \(value()))"
    case 12: "UPDATE OR REPLACE pair SET p = \(b % 5), r = \(value()) WHERE q = 'q\(a)'"
    case 13: "DELETE FROM pair WHERE q = 'q\(a)'"
    case 14, 15: "INSERT INTO loose(x, y) VALUES (\(value()), \(value()))"
    case 16: "DELETE FROM loose WHERE rowid % 7 = \(a % 7)"
    case 17: "UPDATE loose SET y = \(value()) WHERE rowid = \(a)"
    case 18: "INSERT OR IGNORE INTO child(id, item, n) SELECT \(a), id, \(b) FROM item LIMIT 1"
    case 19: "UPDATE child SET n = \(b) WHERE id % 3 = \(a % 3)"
    case 20: "UPDATE item SET price = price + 1"
    default:
      "INSERT OR IGNORE INTO item(id, name) WITH RECURSIVE c(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM c LIMIT \(a * 5)) SELECT i, 'r' || i FROM c"
    }
  }
}
