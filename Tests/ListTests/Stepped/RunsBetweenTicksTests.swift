import Following
import Foundation
import GRDB
import Lists
import ServerSupport
import TestSupport
import Testing

/// Readers run queries in states of the file that no tick sees: a row that was changed before such a state, and changed
/// back after it, shows the changed values to that reader.
///
/// `FRESHET_SEED=n swift test --filter RunsBetweenTicksTests` repeats a failure.
@Suite(.serialized) struct RunsBetweenTicksTests {
  private static let rows = 60
  private static let schema = """
    CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, n INT, note TEXT);
    CREATE INDEX item_kind ON item(kind);
    CREATE TABLE kind(name TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID;
    INSERT INTO kind VALUES ('a', 'first'), ('b', 'second'), ('c', 'third'), ('d', 'fourth');
    WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < \(rows))
      INSERT INTO item SELECT x, substr('abc', x % 3 + 1, 1), x * 7 % 11, 'note ' || x FROM i;
    """

  private static let queries =
    OracleQuery.overItems + [
      OracleQuery(
        table: "kind LEFT JOIN item ON item.kind = kind.name", keys: ["kind.name AS name"],
        select: ["label", "count(item.id) AS count", "sum(n) AS sum"], orderBy: ["sum DESC"],
        groupBy: ["kind.name"], tellsKey: true),
      OracleQuery(table: "item", keys: ["id"], select: ["n", "note"], filter: "n > 100", orderBy: ["n"]),
      OracleQuery(
        table: "item", keys: ["id"], select: ["note"], filter: "EXISTS (SELECT 1 FROM kind WHERE label = note)",
        orderBy: []),
    ]

  /// How many of the queries are always run again.
  private static let runAgain = 2

  /// Pairs of a commit and the one that undoes it.
  private static let commits = [
    ("UPDATE item SET n = n + 200 WHERE id % 20 = 7", "UPDATE item SET n = n - 200 WHERE id % 20 = 7"),
    ("INSERT INTO item VALUES (5000, 'd', 150, 'fourth')", "DELETE FROM item WHERE id = 5000"),
    (
      "UPDATE item SET kind = 'd' WHERE id % 20 = 3",
      "UPDATE item SET kind = substr('abc', id % 3 + 1, 1) WHERE id % 20 = 3"
    ),
    ("UPDATE kind SET label = 'note 9' WHERE name = 'b'", "UPDATE kind SET label = 'second' WHERE name = 'b'"),
    ("UPDATE kind SET name = 'e' WHERE name = 'c'", "UPDATE kind SET name = 'c' WHERE name = 'e'"),
    ("UPDATE item SET note = printf('%05000d', id) WHERE id = 77", "UPDATE item SET note = 'note 77' WHERE id = 77"),
  ]
  private final class Lists {
    private let folder: ProgramFolder
    private let queue: DatabaseQueue
    let lists: SteppedLists

    init(isWAL: Bool = true, isLarge: Bool = false) throws {
      folder = try ProgramFolder((isWAL ? "PRAGMA journal_mode = WAL;" : "") + schema)
      queue = try DatabaseQueue(path: folder.database)
      lists = try SteppedLists(path: folder.database, queries) {
        $0.refetchInterval = .zero
        $0.retryInterval = .zero
        if isLarge { $0.captureBytes = 0 }
      }
    }

    func open(_ index: Int) throws {
      lists.unsubscribe(index)
      try lists.subscribe(index, queries[index])
    }

    func run(_ sql: String) throws { try lists.writer.run(sql) }

    func compare(_ context: String) throws {
      for _ in 0..<3 { lists.step() }
      let models = lists.output.models
      for (index, query) in queries.enumerated() {
        let answer = try queue.read { try query.answer($0) }
        let difference = try #require(models["\(index)"], "list \(index) has no rows, \(context)").difference(
          from: answer)
        #expect(difference == nil, "\(query.json), \(context)")
      }
      #expect(lists.output.troubles == [], "\(context)")
    }
  }

  @Test(arguments: commits.indices, [true, false])
  func whatWasReadBetweenTwoTicksIsMended(commit: Int, isLarge: Bool) throws {
    let (change, undo) = Self.commits[commit]
    let test = try Lists(isLarge: isLarge)
    // Lists that were opened in one state are run again in another.
    test.lists.tick()
    test.lists.runReaders()
    try test.run("UPDATE item SET n = n + 1, note = note || id; UPDATE kind SET label = label || 1")
    for _ in 0..<2 { test.lists.tick() }
    let runs = test.lists.runs
    #expect(runs == Self.queries.count)
    try test.run(change)
    test.lists.runReaders()
    try test.run(undo)
    try test.compare("after \(change)")
    // The results of the other lists were joined.
    #expect(test.lists.runs - runs <= Self.runAgain)
  }

  /// Every order of a few events in a small world: commits, ticks, readers' work, and lists that are opened again.
  @Test(arguments: [true, false])
  func everyOrderOfFewEvents(isWAL: Bool) throws {
    let length = ProcessInfo.processInfo.environment["FRESHET_DEPTH"].flatMap(Int.init) ?? TestDepth.count(3, long: 5)
    let test = try Lists(isWAL: isWAL)
    try test.compare("at first")
    let (change, undo) = Self.commits[0]
    let events = 4
    let orders = (0..<length).reduce(1) { count, _ in count * events }
    for order in 0..<orders {
      var (rest, isChanged) = (order, false)
      for _ in 0..<length {
        switch rest % events {
        case 0:
          try test.run(isChanged ? undo : change)
          isChanged.toggle()
        case 1: test.lists.tick()
        case 2: test.lists.runReaders()
        default: for index in Self.queries.indices where index % 2 == order % 2 { try test.open(index) }
        }
        rest /= events
      }
      try test.compare("order \(order) of \(length), \(isWAL ? "WAL" : "rollback journal")")
      if isChanged { try test.run(undo) }
    }
  }

  @Test(arguments: PropertySeeds.kept("runs.json"))
  func whereverReadersRun(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var undo: String?
    var steps: [RunStep] = []
    for step in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        if let taken = undo {
          undo = nil
          steps.append(.commit(taken))
        } else {
          let (change, back) = Self.commits.randomElement(using: &random)!
          undo = back
          steps.append(.commit(change))
        }
      case 4, 5: steps.append(.readers)
      case 6:
        // Lists that were opened in one state are run again in another.
        for index in Self.queries.indices where Bool.random(using: &random) { steps.append(.open(index)) }
      default: steps.append(.tick)
      }
      if step % 20 == 19 { steps.append(.compare) }
    }
    let run = ListRun(
      .stepped, setUp: (seed % 4 == 2 ? "" : "PRAGMA journal_mode = WAL;") + Self.schema,
      captureBytes: seed % 4 == 3 ? 0 : nil, Self.queries, steps: steps)
    let problem = try run.report("runs-\(seed)")
    #expect(problem == nil, "FRESHET_SEED=\(seed)")
  }
}
