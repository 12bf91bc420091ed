import Following
import Foundation
import LiveQuery
import Requests
import TestSupport
import Testing

/// Lists that are updated from the pages that commits wrote, and lists that look their rows up. (Debug builds do both
/// and compare, in every test.)
@Suite struct CapturedRowsTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, n INT, r REAL, loose);
    CREATE INDEX t_n ON t(n);
    CREATE TABLE bare(name TEXT, n INT);
    CREATE TABLE w(a TEXT COLLATE NOCASE, b INT, n INT, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TABLE k(a TEXT PRIMARY KEY, n INT);
    CREATE TABLE any_of(a ANY PRIMARY KEY, n ANY) STRICT;
    CREATE TABLE computed(id INTEGER PRIMARY KEY, n INT, m AS (n + 1));
    CREATE TABLE kept(id INTEGER PRIMARY KEY, n INT, m AS (n + 1) STORED);
    """

  private static func query(
    _ from: String, select: [String] = [], filter: String? = nil, change: (inout Query) -> Void = { _ in }
  ) -> Query {
    var query = Query(from: from)
    query.select = select
    query.filter = filter
    change(&query)
    return query
  }

  private static let evaluated: [Query] = [
    query("t"), query("t AS x", select: ["x.name", "x.r"], filter: "x.n > 1"), query("main.t x", filter: "n = '2'"),
    query("main.t", select: ["t.name", "rowid + 0 AS r", "oid || 1 AS o"]), query("bare", select: ["name", "_rowid_"]),
    query("w", select: ["n"], filter: "a = 'B'"), query("k"), query("any_of", select: ["typeof(n)"]),
    query("any_of", filter: "n IS NOT '3'"), query("kept"),
    query("t", filter: "name = 'A' AND r = 1 AND typeof(r) = 'real' AND loose = '1'"),
    query("t", select: ["name"], filter: "n IN (1, 2)") { $0.orderBy = ["name DESC", "n"] },
    query("t", select: ["name"]) {
      $0.sectionBy = .init("n % 2", name: "'n ' || (n % 2)")
      $0.alongside = ["most": "SELECT max(n) FROM t"]
    },
    query("t", filter: "n > :least") { $0.parameters = .named(["least": .integer(0)]) },
  ]

  private static let lookedUp: [Query] = [
    query("t JOIN k ON k.n = t.n"), query("t", filter: "n IN (SELECT n FROM k)"), query("computed"),
    query("t", select: ["main.t.name"]), query("t NOT INDEXED"),
    query("t", select: ["n", "group_concat(id) AS c"]) { $0.groupBy = ["n"] },
    query("t", select: ["name"]) { $0.key = ["name"] },
  ]

  private static let commits = [
    "INSERT INTO t VALUES (1, 'a', 1, 1, 1), (2, 'b', 2, 2.5, '1'), (3, 'c', 3, NULL, x'01');",
    "INSERT INTO bare VALUES ('x', 1), ('y', 2); INSERT INTO k VALUES ('k', 1), ('l', 2);",
    "INSERT INTO w VALUES ('b', 1, 1), ('B', 2, 2), ('c', 3, 3); INSERT INTO any_of VALUES ('1', '1'), (2, 2.0);",
    "INSERT INTO computed(id, n) VALUES (1, 1), (2, 2); INSERT INTO kept(id, n) VALUES (1, 1), (2, 2);",
    "UPDATE t SET n = n + 1, name = upper(name); UPDATE bare SET n = 3; UPDATE w SET a = 'B' WHERE b = 1; UPDATE k SET n = 5;",
    "UPDATE any_of SET n = 3; UPDATE computed SET n = 7; UPDATE kept SET n = 7;",
    "UPDATE t SET r = 1, loose = '1' WHERE id = 1; UPDATE k SET a = 'm' WHERE a = 'k'; DELETE FROM w WHERE b = 2;",
    "DELETE FROM t WHERE id = 2; DELETE FROM bare; DELETE FROM any_of; DELETE FROM computed; DELETE FROM kept;",
  ]

  private func statistics(_ query: Query, _ commits: [String] = commits) throws -> FollowerStatistics {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(SubscriptionKey(session: 1, id: "a", number: 1), query)
    fixture.snapshot(query)
    for commit in commits {
      try fixture.writer.run("BEGIN; \(commit); COMMIT;")
      fixture.snapshot(query)
    }
    #expect(fixture.recorder.sent.allSatisfy { !$0.delivery.contains("error") && !$0.delivery.contains("fatal") })
    return fixture.statistics
  }

  @Test(arguments: evaluated) func rowsOfOneTableAreEvaluated(query: Query) throws {
    let statistics = try statistics(query)
    #expect(statistics.evaluatedUnits > 0 && statistics.lookedUpUnits == 0, "\(query.from)")
  }

  @Test(arguments: lookedUp) func whatReadsMoreIsLookedUp(query: Query) throws {
    let statistics = try statistics(query)
    #expect(statistics.evaluatedUnits == 0 && statistics.lookedUpUnits > 0, "\(query.from)")
  }

  /// There are so many lists of one shape that a statement finds the lists that a row concerns. They too are updated
  /// from the pages.
  @Test(arguments: ["n = :p", "n > :p AND ifnull(name, '') <> 'x'", "name = :p", "typeof(n) = typeof(:p) AND n = :p"])
  func routedListsAreEvaluated(filter: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    let keys = (1...12).map { SubscriptionKey(session: UInt64($0), id: "a", number: UInt64($0)) }
    for (number, key) in keys.enumerated() {
      var query = Self.query("t", select: ["name", "n"], filter: filter)
      query.parameters = .named(["p": .integer(Int64(number))])
      fixture.subscribe(key, query)
      fixture.snapshot(query)
    }
    let deliveries = { keys.reduce(0) { $0 + fixture.recorder.deliveries($1).count } }
    let frameTicks = fixture.statistics.frameTicks
    for step in 1...24 {
      let before = deliveries()
      try fixture.writer.run("INSERT OR REPLACE INTO t(id, name, n) VALUES (1, \(step % 12), \(step % 12))")
      // No requests are sent to the follower meanwhile, because a request is read in a transaction.
      _ = comesTrue { deliveries() != before }
      #expect(deliveries() > before)
    }
    let statistics = fixture.statistics
    #expect(statistics.evaluatedUnits >= 24 && statistics.lookedUpUnits == 0, "\(statistics)")
    #expect(statistics.frameTicks >= frameTicks + 20, "\(statistics)")
  }

  /// The key of a row changes, so it is a different row, although the value that routes it to a list is the same.
  @Test(arguments: ["k", "w", "any_of"]) func aRowOfAnotherKeyLeavesItsList(table: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    let queries = (0..<12).map { number in
      Self.query(table, select: ["a"], filter: "n = :p") { $0.parameters = .named(["p": .integer(number)]) }
    }
    for (number, query) in queries.enumerated() {
      fixture.subscribe(SubscriptionKey(session: UInt64(number), id: "a", number: UInt64(number)), query)
      fixture.snapshot(query)
    }
    try fixture.writer.run(
      "INSERT INTO \(table)(\(table == "w" ? "a, b, n" : "a, n")) VALUES ('alpha', \(table == "w" ? "1, 1" : "1"))")
    #expect(fixture.snapshot(queries[1]).contains("alpha"))
    try fixture.writer.run("UPDATE \(table) SET a = 'omega'")
    let now = fixture.snapshot(queries[1])
    #expect(now.contains("omega") && !now.contains("alpha"), "\(now)")
  }

  /// Each table has a doubt of its own, and no other test has its rows.
  @Test(
    arguments: [
      // A key with NULL may belong to several rows.
      ("k", ["INSERT INTO k VALUES ('a', 1)", "INSERT INTO k VALUES (NULL, 1)"]),
      // The row is larger than what a tick keeps.
      ("bare", ["INSERT INTO bare VALUES (1, 1)", "INSERT INTO bare VALUES (zeroblob(1200000), 1)"]),
    ])
  func doubtsAreLookedUp(from: String, commits: [String]) throws {
    let statistics = try statistics(Self.query(from), commits)
    #expect(statistics.lookedUpUnits > 0)
  }

  /// A tick that has read frames alone needs a row that an earlier commit changed, and meanwhile another commit has
  /// come: the patch then leads to the next state, and clients do not notice. (Half of these ticks look their rows up,
  /// to compare: then nothing is missing.)
  @Test func commitsMayComeBeforeATransactionIsNeeded() throws {
    // After a tick that missed a state, the next ones have transactions for a while.
    let clock = ManualClock()
    let fixture = try FollowerFixture(Self.schema, clock: clock)
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    let query = Self.query("t", select: ["n"])
    try fixture.writer.run(Self.commits[0])
    fixture.subscribe(key, query)
    fixture.snapshot(query)
    for _ in 0..<50 where fixture.statistics.lostStates == 0 {
      fixture.recorder.setDrained(false, session: 1)
      try fixture.writer.run("UPDATE t SET n = n + 10 WHERE id = 1")
      fixture.settle()
      let before = fixture.recorder.deliveries(key).count
      fixture.recorder.setDrained(true, session: 1)
      fixture.recorder.whenAsked { [path = fixture.path] in
        _ = try? SQLiteShell(path: path).run("UPDATE t SET n = n + 10 WHERE id = 3")
      }
      try fixture.writer.run("UPDATE t SET n = n + 10 WHERE id = 2")
      // No requests are sent to the follower meanwhile, because a request is read in a transaction.
      _ = comesTrue { fixture.recorder.deliveries(key).count != before }
      #expect(fixture.recorder.deliveries(key).count > before)
      fixture.settle()
    }
    #expect(fixture.statistics.frameTicks > 0 && fixture.statistics.lostStates > 0, "\(fixture.statistics)")
    #expect(fixture.recorder.deliveries(key).dropFirst().allSatisfy { $0.hasPrefix("patch -0 +0 >0 *") })
  }

  /// After a change of the columns, the same places hold other values.
  @Test func columnsComeAndGo() throws {
    let statistics = try statistics(
      Self.query("t", select: ["*"]),
      Self.commits.prefix(1) + [
        "ALTER TABLE t ADD COLUMN more DEFAULT 'x'", "UPDATE t SET n = 9 WHERE id = 1",
        "ALTER TABLE t DROP COLUMN loose",
        "UPDATE t SET n = 8 WHERE id = 2", "ALTER TABLE t RENAME COLUMN more TO less", "UPDATE t SET less = n",
      ])
    #expect(statistics.evaluatedUnits > 0)
  }
}
