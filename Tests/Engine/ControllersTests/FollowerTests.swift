import Controllers
import Following
import GRDB
import LiveQuery
import Requests
import Store
import TestSupport
import Testing

@Suite struct FollowerTests {
  @Test func `A request whose rows a reader reads is answered after a resync that overtakes it`() throws {
    let fixture = try FollowerFixture(
      "CREATE TABLE t(id INTEGER PRIMARY KEY); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
        + "INSERT INTO t SELECT i FROM n;", readers: 0)
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, Query(from: "t"), window: Window(offset: 0, limit: 2))
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key) == ["snapshot 40"])
    // This requests more rows than a tick reads itself.
    fixture.follower.post(.request(key, .fetch(Window(offset: 0, limit: 30))))
    fixture.settle()
    fixture.follower.post(.request(key, .resync))
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key) == ["snapshot 40", "snapshot 40", "rows 30"])
  }

  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x');"
  private let query = Query(from: "t")
  private let first = SubscriptionKey(session: 1, id: "a", number: 1)
  private let second = SubscriptionKey(session: 2, id: "b", number: 1)

  @Test func `A session that does not read gets one patch for many commits once it does`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    fixture.recorder.setDrained(false, session: 1)
    for id in 2...30 {
      try fixture.writer.run("INSERT INTO t VALUES (\(id), 'y')")
      fixture.snapshot(query)
    }
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1"])
    fixture.recorder.setDrained(true, session: 1)
    fixture.follower.requestTick()
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1", "patch -0 +29 >0 *0"])
    let versions = fixture.recorder.sent
    #expect(versions[1].from == versions[0].version)
  }

  @Test func `What all subscriptions get is made once`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let keys = (1...50).map { SubscriptionKey(session: UInt64($0), id: "a", number: 1) }
    for key in keys { fixture.subscribe(key, query) }
    fixture.snapshot(query)
    try fixture.writer.run("UPDATE t SET a = 'z'")
    fixture.snapshot(query)
    let patches = fixture.recorder.sent.filter { $0.delivery.hasPrefix("patch") }
    #expect(patches.map { $0.recipients.map(\.sessions.count) } == [[50]])
    for key in keys { #expect(fixture.recorder.deliveries(key) == ["snapshot 1", "patch -0 +0 >0 *1"]) }
  }

  @Test func `A session that falls behind does not hold up another`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.subscribe(second, query)
    fixture.snapshot(query)
    fixture.recorder.setDrained(false, session: 1)
    for value in 1...3 {
      try fixture.writer.run("UPDATE t SET a = \(value)")
      fixture.snapshot(query)
    }
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1"])
    #expect(fixture.recorder.deliveries(second) == ["snapshot 1"] + Array(repeating: "patch -0 +0 >0 *1", count: 3))
  }

  @Test func `A log that was trimmed before it was read costs a query run again, and nothing else`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, i FROM n"
    try fixture.writer.run(rows)
    #expect(fixture.snapshot(query).split(separator: " ").count == 100)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1", "patch -0 +99 >0 *0"])
    try fixture.writer.run("DELETE FROM t WHERE id > 1")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first).last == "patch -99 +0 >0 *0")
  }

  @Test(arguments: [1, 2])
  func `Nothing is lost while another process locks the file`(seconds: Int) throws {
    let fixture = try FollowerFixture(Self.schema, isWAL: false)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    // The shell does not wait for readers by default.
    try fixture.writer.run(".timeout 10000")
    try fixture.writer.run("BEGIN EXCLUSIVE; UPDATE t SET a = 'y'; INSERT INTO t VALUES (2, 'z')")
    fixture.subscribe(second, query)
    try fixture.writer.run(".shell sleep \(seconds)\nCOMMIT")
    #expect(fixture.snapshot(query) == "1,'y' 2,'z'")
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1", "patch -0 +1 >0 *1"])
    #expect(fixture.recorder.deliveries(second) == ["snapshot 2"])
  }

  /// A change of the schema, the answer of a query over all columns afterwards, and the messages of its subscription.
  @Test(arguments: [
    ("ALTER TABLE t ADD COLUMN b DEFAULT 7", "1,'x',7", ["snapshot 1", "snapshot 1"]),
    ("ALTER TABLE t RENAME COLUMN a TO b", "1,'x'", ["snapshot 1", "snapshot 1"]),
    ("ALTER TABLE t RENAME TO u", "no_such_table", ["snapshot 1", "error schema_changed"]),
    ("DROP TABLE t", "no_such_table", ["snapshot 1", "error schema_changed"]),
    (
      "BEGIN; DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'y'); COMMIT",
      "1,'y'", ["snapshot 1", "patch -0 +0 >0 *1"]
    ),
    ("CREATE TABLE other(x); DROP TABLE other", "1,'x'", ["snapshot 1"]),
    ("CREATE INDEX i ON t(a); UPDATE t SET a = 'y'", "1,'y'", ["snapshot 1", "patch -0 +0 >0 *1"]),
  ])
  func followsSchema(change: String, answer: String, deliveries: [String]) throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    try fixture.writer.run(change)
    #expect(fixture.snapshot(query) == answer)
    #expect(fixture.recorder.deliveries(first) == deliveries)
    let again = fixture.snapshot(query)
    let expected = try fixture.queue.read { try $0.tableExists("t") } ? "1," : "no_such_table"
    #expect(again.hasPrefix(expected), "\(again)")
    if deliveries.count == 1 {
      try fixture.writer.run("INSERT INTO t(id) VALUES (5)")
      #expect(fixture.snapshot(query).contains(" 5,"))
      #expect(fixture.recorder.deliveries(first).count == 2 || change.contains("ADD"))
    }
  }

  @Test func `A fetch is answered when another subscription of the query begins in the same turn`() throws {
    let fixture = try FollowerFixture(Self.schema, isWAL: false)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    // The lock delays the follower, so that it finds both in its mailbox.
    try fixture.writer.run("BEGIN EXCLUSIVE")
    fixture.snapshotLater(query)
    fixture.subscribe(second, query)
    fixture.follower.post(.request(first, .fetch(Window(offset: 0, limit: 1))))
    try fixture.writer.run("COMMIT")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1", "rows 1"])
    #expect(fixture.recorder.deliveries(second) == ["snapshot 1"])
  }

  @Test func `Requests made while a snapshot comes in parts are answered after it, in order`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i, i FROM n;"
    let fixture = try FollowerFixture(Self.schema + rows) { $0.chunkBytes = 4_096 }
    fixture.recorder.setDrained(false, session: 1)
    fixture.subscribe(first, query)
    fixture.follower.post(.request(first, .fetch(Window(offset: 0, limit: 3))))
    fixture.follower.post(.request(first, .window(Window(offset: 0, limit: 2))))
    fixture.snapshot(query)
    try fixture.writer.run("INSERT INTO t VALUES (1001, 'late')")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1000"])
    fixture.follower.post(.request(first, .resync))
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1000", "snapshot 1001"])
    fixture.recorder.setDrained(true, session: 1)
    while !fixture.recorder.deliveries(first).contains("rows 2") {
      fixture.follower.requestTick()
      fixture.snapshot(query)
    }
    let deliveries = fixture.recorder.deliveries(first)
    #expect(!deliveries.contains { $0.hasPrefix("patch") })
    #expect(deliveries.suffix(2) == ["rows 3", "rows 2"])
  }

  @Test func `A snapshot in parts that an answer begins with is not lost`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i, i FROM n;"
    let fixture = try FollowerFixture(Self.schema + rows) {
      $0.chunkBytes = 4_096
      // With this limit, every patch is too large, and a snapshot is sent.
      $0.patchBytes = 0
    }
    fixture.subscribe(first, query)
    for _ in 0..<1_000 { fixture.follower.requestTick() }
    fixture.snapshot(query)
    fixture.recorder.setDrained(false, session: 1)
    try fixture.writer.run("UPDATE t SET a = a || 'new'; DELETE FROM t WHERE id > 900")
    fixture.follower.post(.request(first, .fetch(Window(offset: 0, limit: 1))))
    fixture.snapshot(query)
    fixture.recorder.setDrained(true, session: 1)
    while fixture.recorder.deliveries(first).last != "rows 1" {
      fixture.follower.requestTick()
      fixture.snapshot(query)
    }
    let deliveries = fixture.recorder.deliveries(first)
    let start = deliveries.lastIndex { $0.hasPrefix("snapshot") }!
    let parts = deliveries[(start + 1)...].dropLast().compactMap { Int($0.dropFirst("rows ".count)) }
    #expect(deliveries[start] == "snapshot 900")
    #expect(parts.reduce(0, +) > 600, "\(deliveries)")
  }

  @Test func `Clients that read at one pace share every part of a large result`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i, i FROM n;"
    let fixture = try FollowerFixture(Self.schema + rows) { $0.chunkBytes = 4_096 }
    let keys = (1...5).map { SubscriptionKey(session: $0, id: "a", number: 1) }
    for key in keys {
      fixture.recorder.setDrained(false, session: key.session)
      fixture.subscribe(key, query)
    }
    while keys.contains(where: { fixture.recorder.deliveries($0).isEmpty }) { fixture.snapshot(query) }
    let before = fixture.recorder.sent.count
    for key in keys { fixture.recorder.setDrained(true, session: key.session) }
    for _ in 0..<20 {
      fixture.follower.requestTick()
      fixture.snapshot(query)
    }
    // No other client gets anything, so all messages are parts.
    let parts = fixture.recorder.sent.dropFirst(before)
    #expect(parts.count > 1)
    #expect(parts.allSatisfy { $0.recipients.flatMap(\.sessions).count == keys.count })
  }

  @Test func `A follower that follows nothing does not look at commits`() throws {
    let fixture = try FollowerFixture(Self.schema)
    // Its first tick finds out which files are in use.
    #expect(fixture.statistics.controllers == 0)
    let before = fixture.statistics.ticks
    for value in 0..<50 { try fixture.writer.run("UPDATE t SET a = \(value)") }
    // The request itself causes a tick, which handles all commits.
    #expect(fixture.statistics.ticks <= before + 1)
    #expect(fixture.snapshot(query) == "1,49")
  }

  @Test func `An interval is kept to, and its end brings what is due`() throws {
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock())
    fixture.subscribe(first, query, minInterval: .seconds(300))
    fixture.snapshot(query)
    for minute in 1...14 {
      try fixture.writer.run("UPDATE t SET a = \(minute)")
      fixture.snapshot(query)
      fixture.advance(by: .seconds(60))
    }
    // Messages come at minutes 5 and 10.
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1"] + Array(repeating: "patch -0 +0 >0 *1", count: 2))
    try fixture.writer.run("INSERT INTO t VALUES (2, 'last')")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first).count == 3)
    fixture.advance(by: .seconds(60))
    #expect(fixture.recorder.deliveries(first).last == "patch -0 +1 >0 *1", "what the interval holds back")
  }

  @Test func `A query that nobody follows is let go after a while`() throws {
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock()) { $0.linger = .seconds(60) }
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    fixture.advance(by: .seconds(600))
    #expect(fixture.statistics.controllers == 1)
    fixture.follower.post(.unsubscribe(first))
    fixture.advance(by: .seconds(59))
    #expect(fixture.statistics.controllers == 1)
    fixture.advance(by: .seconds(1))
    #expect(fixture.statistics.controllers == 0)
  }

  @Test func `A query that is run again waits for its interval after a run`() throws {
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock(), readers: 0) {
      $0.refetchInterval = .seconds(10)
    }
    var refetched = query
    refetched.select = ["a", "count(*) OVER () AS n"]
    fixture.subscribe(first, refetched)
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(first) == ["snapshot 1"])
    for id in 2...3 {
      try fixture.writer.run("INSERT INTO t VALUES (\(id), 'y')")
      fixture.advance(by: .zero)
      // The first change is followed at once; the next one when the interval has passed.
      if id == 3 {
        #expect(fixture.readers.counts.waiting == 0)
        fixture.advance(by: .seconds(9))
        #expect(fixture.readers.counts.waiting == 0)
        fixture.advance(by: .seconds(1))
      }
      #expect(fixture.readers.counts.waiting == 1)
      fixture.runReaders()
    }
    #expect(fixture.recorder.deliveries(first).count == 3)
  }
}

extension FollowerFixture {
  /// Requests a snapshot, and does not wait for it.
  func snapshotLater(_ query: Query) {
    follower.post(.snapshot(.init(query: query, window: nil) { _ in }))
  }
}
