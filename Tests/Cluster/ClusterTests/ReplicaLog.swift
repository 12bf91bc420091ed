import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport

/// The commits of a writer, and the results of queries at each; two copies of its file follow it.
final class ReplicaLog {
  struct Position: Hashable, CustomStringConvertible {
    var epoch: String
    var commit: Int64
    var description: String { "\(epoch):\(commit)" }
  }

  static let schema = """
    CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, n INT, note TEXT);
    CREATE TABLE kind(name TEXT PRIMARY KEY, label TEXT);
    -- Every commit writes something.
    CREATE TABLE counter(n INT);
    INSERT INTO counter VALUES (0);
    INSERT INTO kind VALUES ('a', 'first'), ('b', 'second'), ('c', 'third');
    WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 30)
      INSERT INTO item SELECT x, substr('abc', x % 3 + 1, 1), x * 7 % 11, 'note ' || x FROM i;
    """
  /// The additional table of a replica's file.
  static let positionTable = """
    CREATE TABLE _freshet_replica(id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, batch INTEGER NOT NULL,
      "commit" INTEGER NOT NULL, hash BLOB NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL);
    """

  static func position(_ position: Position) -> String {
    """
    INSERT OR REPLACE INTO _freshet_replica VALUES (1, '\(position.epoch)', 1, \(position.commit), x'00', 1, 0);
    """
  }

  private let queries: [OracleQuery]
  private let writer: DatabaseQueue
  private var random: SeededGenerator
  /// A statement that undoes the last commit.
  private var undo: String?
  private(set) var entries: [(position: Position, sql: String)] = []
  private var answers: [Position: [OracleQuery.Answer]] = [:]

  init(_ queries: [OracleQuery], seed: UInt64) throws {
    self.queries = queries
    random = SeededGenerator(seed: seed)
    writer = try DatabaseQueue()
    try add("one", 0, Self.schema)
  }

  var last: Position { entries[entries.count - 1].position }

  var positions: [Position] { entries.map(\.position) }

  func answer(_ query: Int, at position: Position) -> OracleQuery.Answer? { answers[position]?[query] }

  /// The writer commits.
  func commit() throws { try add(last.epoch, last.commit + 1, statements() + "UPDATE counter SET n = n + 1;") }

  /// The writer's file was replaced: numbers that were used mean other states.
  func beginEpoch(_ epoch: String) throws {
    try add(epoch, Int64.random(in: 0...last.commit, using: &random), "UPDATE item SET n = n + 2 WHERE id % 2 = 0;")
  }

  private func add(_ epoch: String, _ commit: Int64, _ sql: String) throws {
    let position = Position(epoch: epoch, commit: commit)
    try writer.inDatabase { try $0.execute(sql: sql) }
    answers[position] = try writer.read { db in try queries.map { try $0.answer(db) } }
    entries.append((position, sql))
  }

  private func statements() -> String {
    if let undo, Bool.random(using: &random) {
      self.undo = nil
      return undo
    }
    undo = nil
    let id = Int.random(in: 1...40, using: &random)
    let number = Int.random(in: 0...10, using: &random)
    let kind = ["a", "b", "c", "d"].randomElement(using: &random)!
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "DELETE FROM item WHERE id = \(id);"
    case 1: return "INSERT OR REPLACE INTO item VALUES (\(id), '\(kind)', \(number), 'new \(number)');"
    case 2: return "UPDATE item SET kind = '\(kind)' WHERE id = \(id);"
    case 3: return "UPDATE kind SET label = 'label \(number)' WHERE name = '\(kind)';"
    case 4, 5:
      undo = "UPDATE item SET n = n - 5 WHERE id % 3 = \(id % 3);"
      return "UPDATE item SET n = n + 5 WHERE id % 3 = \(id % 3);"
    default:
      undo = "UPDATE item SET note = replace(note, 'x', '') WHERE id % 5 = \(id % 5);"
      return "UPDATE item SET note = note || 'x' WHERE id % 5 = \(id % 5);"
    }
  }
}

/// A server over a copy of the writer's file, into which the test writes rows and position; or a server over the
/// writer's own file, whose commits it counts.
// @unchecked: while a thread advances it, no other thread touches its state.
final class Replica: @unchecked Sendable {
  let live: LiveServer
  private let log: ReplicaLog
  private let queries: [OracleQuery]
  private let isWriters: Bool
  /// Keeps the lists open.
  private let watcher: LiveClient
  /// How much of the log the file has.
  private(set) var applied = 1
  /// Positions that its lists have certainly shown, in the present epoch.
  private(set) var seen: Set<ReplicaLog.Position> = []

  init(_ log: ReplicaLog, _ queries: [OracleQuery], followers: Int, isWriters: Bool = false) throws {
    self.isWriters = isWriters
    self.log = log
    self.queries = queries
    live = try LiveServer(
      ReplicaLog.schema + ReplicaLog.positionTable + ReplicaLog.position(log.entries[0].position)
    ) {
      $0.state.readsPosition = !isWriters
      $0.state.epoch = isWriters ? log.entries[0].position.epoch : nil
      $0.state.sharesEpochs = true
      $0.limits.followers = followers
    }
    watcher = try live.connect()
    for (id, query) in queries.enumerated() { try watcher.subscribe("\(id)", query.json) }
    try settle()
  }

  var position: ReplicaLog.Position { log.entries[applied - 1].position }
  var lag: Int { log.entries.count - applied }

  /// Applies commits to the file; to a copy, in one transaction.
  func apply(_ count: Int) throws {
    let entries = log.entries[applied..<(applied + count)]
    guard let last = entries.last else { return }
    if last.position.epoch != position.epoch { seen = [] }
    applied += count
    if isWriters {
      for entry in entries {
        try live.queue.inTransaction { db in
          try db.execute(sql: entry.sql)
          return .commit
        }
      }
      return
    }
    try live.queue.inTransaction { db in
      for entry in entries { try db.execute(sql: entry.sql) }
      try db.execute(sql: ReplicaLog.position(last.position))
      return .commit
    }
  }

  /// Applies the rest of the log on a thread of its own, as fast as possible.
  ///
  /// - Returns: a semaphore that is signaled at the end.
  func applyAll(seed: UInt64) -> DispatchSemaphore {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      var random = SeededGenerator(seed: seed)
      while lag > 0 {
        do { try apply(min(lag, [1, 1, 2, 5].randomElement(using: &random)!)) } catch { fatalError("\(error)") }
        if Int.random(in: 0..<8, using: &random) == 0 { usleep(useconds_t.random(in: 0...3_000, using: &random)) }
      }
      done.signal()
    }
    return done
  }

  /// Commits to the file, which is not a commit of the writer's.
  func touch() throws {
    if isWriters { return }
    try live.queue.write { try $0.execute(sql: "UPDATE _freshet_replica SET time = time + 1") }
  }

  /// Returns when all lists show the file's state.
  func settle() throws {
    try watcher.catchUp(queries.indices.map { "\($0)" })
    seen.insert(position)
  }
}
