import Controllers
import Following
import Foundation
import LiveQuery
import Requests
import TestSupport
import Testing

/// Clients that reconnect, request another query, or look for a row.
@Suite struct ResumeTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INT);
    INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 3);
    """
  private let query: Query = {
    var query = Query(from: "t")
    query.orderBy = ["n"]
    return query
  }()
  private let first = SubscriptionKey(session: 1, id: "a", number: 1)
  private let second = SubscriptionKey(session: 2, id: "b", number: 1)

  private func lastVersion(_ fixture: FollowerFixture, _ key: SubscriptionKey) -> String {
    fixture.recorder.sent.last { $0.goes(to: key) }?.version ?? ""
  }

  private func subscribe(
    _ fixture: FollowerFixture, _ key: SubscriptionKey, _ query: Query, window: Window? = nil, since: String
  ) {
    fixture.follower.post(
      .subscribe(.init(key: key, query: query, window: window, since: since, minInterval: .zero, shape: .arrays)))
  }

  // MARK: - since

  @Test func `A client that comes back gets one patch from the version that it has`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    let version = lastVersion(fixture, first)
    fixture.follower.post(.sessionClosed(1))
    try fixture.writer.run("UPDATE t SET a = 'w' WHERE id = 2")
    fixture.snapshot(query)
    try fixture.writer.run("DELETE FROM t WHERE id = 3")
    subscribe(fixture, second, query, since: version)
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(second) == ["patch -1 +0 >0 *1"])
    #expect(fixture.recorder.sent.last { $0.goes(to: second) }?.from == version)
  }

  @Test func `A client that missed nothing gets a patch without changes`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    let version = lastVersion(fixture, first)
    subscribe(fixture, second, query, window: Window(offset: 0, limit: 2), since: version)
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(second) == ["patch -0 +0 >0 *0"])
    #expect(lastVersion(fixture, second) == version)
  }

  @Test(arguments: ["", "x.1", "1", "a.b.c"])
  func unknownVersionsGetASnapshot(since: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    subscribe(fixture, first, query, since: since)
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 3"])
  }

  @Test func `A version of another query's result gets a snapshot`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    var other = query
    other.filter = "n > 1"
    subscribe(fixture, second, other, since: lastVersion(fixture, first))
    fixture.snapshot(other)
    #expect(fixture.recorder.deliveries(second) == ["snapshot 2"])
  }

  @Test(arguments: [(0, 3, 3), (9, 3, 10), (60, 3, 20), (60, 1_000, 20)])
  func versionsAreHeldByAgeAndCount(age: Int, count: Int, held: Int) throws {
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock()) {
      $0.historyAge = .seconds(age)
      $0.historyCount = count
    }
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    for number in 0..<19 {
      fixture.advance(by: .seconds(1))
      try fixture.writer.run("UPDATE t SET a = 'v\(number)' WHERE id = 1")
      fixture.snapshot(query)
    }
    #expect(fixture.statistics.versions == held)
  }

  @Test func `Versions beyond the memory bound are let go`() throws {
    let fixture = try FollowerFixture(Self.schema) { $0.historyBytes = 20_000 }
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    let version = lastVersion(fixture, first)
    for number in 0..<20 {
      try fixture.writer.run("UPDATE t SET a = 'v\(number)' WHERE id = 1")
      fixture.snapshot(query)
    }
    #expect((1...5).contains(fixture.statistics.versions))
    subscribe(fixture, second, query, since: version)
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(second) == ["snapshot 3"])
  }

  // MARK: - requery

  @Test(
    arguments: [
      ("n DESC", nil, "patch -0 +0 >2 *0"), ("n", "n > 1", "patch -1 +0 >0 *0"),
      ("a DESC", "n < 3", "patch -1 +0 >1 *0"),
      ("n", nil, "patch -0 +0 >0 *0"),
    ] as [(String, String?, String)])
  func requeryIsAPatch(order: String, filter: String?, delivery: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    var other = query
    other.orderBy = [order]
    other.filter = filter
    fixture.follower.post(.request(first, .requery(other, nil)))
    fixture.snapshot(other)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 3", delivery])
    // From now on the new query is followed.
    try fixture.writer.run("UPDATE t SET a = 'new' WHERE id = 2")
    fixture.snapshot(other)
    #expect(fixture.recorder.deliveries(first).last?.contains("*1") == true || order.hasPrefix("a"))
  }

  @Test func `Another select is a snapshot, a query that is refused leaves the subscription as it is`() throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    var other = query
    other.select = ["a"]
    fixture.follower.post(.request(first, .requery(other, Window(offset: 1, limit: 1))))
    fixture.snapshot(other)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 3", "snapshot 3"])
    fixture.follower.post(.request(first, .requery(Query(from: "nosuch"), nil)))
    #expect(fixture.snapshot(Query(from: "nosuch")) == "no_such_table")
    try fixture.writer.run("UPDATE t SET a = 'new' WHERE id = 2")
    fixture.snapshot(other)
    #expect(
      fixture.recorder.deliveries(first) == ["snapshot 3", "snapshot 3", "error no_such_table", "patch -0 +0 >0 *1"])
  }

  // MARK: - locate

  @Test(arguments: [
    ([SQLValue.integer(2)], "located 0,1 1"), ([.integer(9)], "located null"), ([.real(3)], "located 0,2 2"),
    ([.text("2")], "located null"), ([], "error bad_message"), ([.integer(1), .integer(2)], "error bad_message"),
  ])
  func locates(key: [SQLValue], answer: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(first, query, window: Window(offset: 0, limit: 0))
    fixture.follower.post(.request(first, .locate(key)))
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 3", answer])
  }

  @Test func `A row beyond the limit is not in the result`() throws {
    let fixture = try FollowerFixture(Self.schema)
    var limited = query
    limited.limit = 2
    fixture.subscribe(first, limited)
    fixture.follower.post(.request(first, .locate([.integer(3)])))
    fixture.follower.post(.request(first, .locate([.integer(2)])))
    fixture.snapshot(limited)
    #expect(fixture.recorder.deliveries(first) == ["snapshot 2", "located null", "located 0,1 1"])
  }

  // MARK: - Waiting

  @Test func `A snapshot that waits is answered when there is another version, and when time is up`() throws {
    let fixture = try FollowerFixture(Self.schema, clock: ManualClock())
    fixture.subscribe(first, query)
    fixture.snapshot(query)
    let version = lastVersion(fixture, first)
    let changed = fixture.wait(query, unless: version, for: .seconds(60))
    let timedOut = fixture.wait(query, unless: version, for: .seconds(20))
    fixture.advance(by: .seconds(19))
    #expect(timedOut.resultSoFar == nil)
    fixture.advance(by: .seconds(1))
    #expect(timedOut.result() == "unchanged \(version)")
    #expect(changed.resultSoFar == nil)
    try fixture.writer.run("DELETE FROM t WHERE id > 1")
    #expect(changed.result() == "1,'x',1")
  }
}
