import LiveQuery
import TestSupport
import Testing

@testable import Controllers
@testable import Following
@testable import Lists
@testable import Requests

/// Clients that leave while a reader has work for them, for each kind of work: none of it is done, and nothing is kept.
@Suite struct LeavingTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t SELECT i, 'x' FROM n;
    """
  /// A query that is run again after each change.
  private static func again(_ number: Int) -> Query {
    var query = Query(from: "t")
    query.filter = "id <> \(-number)"
    query.select = ["a", "count(*) OVER () AS n"]
    return query
  }

  private let clock = ManualClock()
  private let fixture: FollowerFixture
  private let key = SubscriptionKey(session: 1, id: "a", number: 1)

  init() throws { fixture = try FollowerFixture(Self.schema, clock: clock, readers: 0) }

  /// Each way in which a client leaves.
  enum Leaving: CaseIterable { case closed, unsubscribed, ended }

  private func leave(_ how: Leaving, _ key: SubscriptionKey) {
    switch how {
    case .closed: fixture.follower.post(.sessionClosed(key.session))
    case .unsubscribed: fixture.follower.post(.unsubscribe(key))
    case .ended: fixture.follower.post(.end(key, FreshetError(.unauthenticated, "another")))
    }
    fixture.settle()
  }

  private var waiting: Int {
    fixture.settle()
    return fixture.readers.counts.waiting
  }

  @Test(arguments: Leaving.allCases) func `A first run`(how: Leaving) {
    fixture.subscribe(key, Self.again(1))
    #expect(waiting == 1)
    leave(how, key)
    #expect(waiting == 0)
  }

  @Test(arguments: Leaving.allCases) func `A run again`(how: Leaving) throws {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    try fixture.writer.run("UPDATE t SET a = 'y' WHERE id = 1")
    #expect(waiting == 1)
    leave(how, key)
    #expect(waiting == 0)
  }

  @Test(arguments: Leaving.allCases) func `A run again that another client waits for to subscribe`(how: Leaving) throws
  {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    try fixture.writer.run("UPDATE t SET a = 'y' WHERE id = 1")
    let second = SubscriptionKey(session: 2, id: "b", number: 1)
    fixture.subscribe(second, Self.again(1))
    leave(.closed, key)
    #expect(waiting == 1, "the second client waits")
    leave(how, second)
    #expect(waiting == 0)
  }

  @Test(arguments: Leaving.allCases) func `A first run of the query that a subscription is to show next`(how: Leaving) {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    fixture.follower.post(.request(key, .requery(Self.again(2), nil)))
    #expect(waiting == 1)
    leave(how, key)
    #expect(waiting == 0)
  }

  @Test(arguments: Leaving.allCases) func `Contents of many rows`(how: Leaving) {
    fixture.subscribe(key, Query(from: "t"), window: Window(offset: 0, limit: 1))
    fixture.runReaders()
    fixture.follower.post(.request(key, .fetch(Window(offset: 0, limit: 60))))
    #expect(waiting == 1)
    leave(how, key)
    #expect(waiting == 0)
  }

  @Test(arguments: Leaving.allCases) func `Compiling anew after a change of the schema`(how: Leaving) throws {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    try fixture.writer.run("ALTER TABLE t ADD COLUMN b")
    #expect(waiting == 1)
    leave(how, key)
    #expect(waiting == 0)
  }

  @Test func `A change of the schema has nothing compiled for lists without clients`() throws {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    leave(.closed, key)
    try fixture.writer.run("ALTER TABLE t ADD COLUMN b")
    #expect(waiting == 0)
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key).last == "snapshot 60")
  }

  @Test func `An explanation, and the schema for a role`() {
    for number in 1...3 {
      fixture.follower.post(.explain(Self.again(1), request: UInt64(number)) { _ in })
      fixture.follower.post(.schema(Query.Access(role: "a"), request: UInt64(number + 10)) { _ in })
    }
    #expect(waiting == 6)
    for number in 1...3 {
      fixture.follower.post(.abandon(request: UInt64(number)))
      #expect(waiting == 7 - 2 * number)
      fixture.follower.post(.abandon(request: UInt64(number + 10)))
      #expect(waiting == 6 - 2 * number)
    }
  }

  @Test func `A list without clients is not run again, and is up to date for the one who comes back`() throws {
    fixture.subscribe(key, Self.again(1))
    fixture.runReaders()
    let version = fixture.recorder.sent[0].version
    leave(.closed, key)
    for value in 1...5 {
      try fixture.writer.run("UPDATE t SET a = \(value) WHERE id = 1")
      fixture.advance(by: .seconds(2))
      #expect(waiting == 0)
    }
    fixture.follower.post(
      .subscribe(
        .init(key: key, query: Self.again(1), window: nil, since: version, minInterval: .zero, shape: .arrays)))
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key).last?.hasPrefix("patch") == true, "\(fixture.recorder.deliveries(key))")
  }

  @Test func `Lists of a crowd that has left are let go, but for the newest and what is small`() throws {
    for number in 1...300 {
      fixture.subscribe(SubscriptionKey(session: UInt64(number), id: "a", number: 1), Self.again(number))
    }
    fixture.runReaders()
    #expect(fixture.statistics.controllers == 300)
    for number in 1...300 { fixture.follower.post(.sessionClosed(UInt64(number))) }
    fixture.advance(by: .seconds(4))
    #expect(fixture.statistics.controllers == 300)
    fixture.advance(by: .seconds(2))
    #expect((1...30).contains(fixture.statistics.controllers), "\(fixture.statistics.controllers)")
    // Changes meanwhile must not keep it alive.
    for value in 1...6 {
      try fixture.writer.run("UPDATE t SET a = \(value) WHERE id = 1")
      fixture.advance(by: .seconds(10))
    }
    #expect(fixture.statistics.controllers == 0)
  }
}
