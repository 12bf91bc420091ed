import LiveQuery
import TestSupport
import Testing

@testable import Controllers
@testable import Following
@testable import Lists
@testable import Requests

/// The cost of an altered table for lists that do not read it: nothing is compiled on the follower's thread.
@Suite struct SchemaChangeTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y');
    CREATE TABLE u(id INTEGER PRIMARY KEY); INSERT INTO u VALUES (1);
    """
  private let other = SubscriptionKey(session: 1, id: "u", number: 1)

  /// Queries of different shapes, so that each is compiled by itself.
  private let queries = (1...40).map { number in
    var query = Query(from: "t")
    query.filter = "id <> \(number + 10)"
    return query
  }
  private func key(_ number: Int) -> SubscriptionKey {
    SubscriptionKey(session: UInt64(number + 2), id: "t", number: 1)
  }

  private let fixture: FollowerFixture
  private let clock = ManualClock()

  /// Readers do nothing until they are resumed, so all work until then is the follower's.
  init() throws {
    fixture = try FollowerFixture(Self.schema, clock: clock, readers: 0)
    fixture.subscribe(other, Query(from: "u"))
    for (number, query) in queries.enumerated() { fixture.subscribe(key(number), query) }
    fixture.runReaders()
  }

  @Test func `Lists over an altered table keep no other list waiting`() throws {
    try fixture.writer.run("ALTER TABLE t ADD COLUMN b DEFAULT 7; INSERT INTO u VALUES (2)")
    fixture.settle()
    #expect(fixture.recorder.deliveries(other) == ["snapshot 1", "patch -0 +1 >0 *0"])
    #expect(fixture.readers.counts.waiting == queries.count)
    for number in queries.indices { #expect(fixture.recorder.deliveries(key(number)) == ["snapshot 2"]) }
    // Later changes are followed as before, or shown when the lists have been run again.
    try fixture.writer.run("INSERT INTO u VALUES (3); INSERT INTO t VALUES (3, 'z', 8)")
    fixture.settle()
    #expect(fixture.recorder.deliveries(other).count == 3)
    fixture.runReaders()
    for number in queries.indices {
      #expect(fixture.recorder.deliveries(key(number)) == ["snapshot 2", "snapshot 3"])
    }
    try fixture.writer.run("UPDATE t SET b = 9 WHERE id = 1")
    fixture.settle()
    #expect(fixture.readers.counts.waiting == 0, "they are followed row by row again")
    for number in queries.indices { #expect(fixture.recorder.deliveries(key(number)).last == "patch -0 +0 >0 *1") }
  }

  @Test func `Queries that differ in their parameters are compiled once`() throws {
    let many = (1...20).map { number in
      var query = Query(from: "t")
      query.filter = "id < ?"
      query.parameters = .positional([.integer(Int64(number))])
      return query
    }
    for (number, query) in many.enumerated() { fixture.subscribe(key(100 + number), query) }
    fixture.runReaders()
    try fixture.writer.run("ALTER TABLE t ADD COLUMN b DEFAULT 7")
    fixture.settle()
    #expect(fixture.readers.counts.waiting == queries.count + 1)
    fixture.runReaders()
    for number in many.indices { #expect(fixture.recorder.deliveries(key(100 + number)).count == 2) }
  }

  @Test(arguments: ["CREATE TABLE v(a)", "CREATE INDEX i ON t(a)", "VACUUM", "DROP TABLE u"])
  func leavesListsAlone(change: String) throws {
    try fixture.writer.run(change)
    fixture.settle()
    #expect(fixture.readers.counts.waiting == (change == "DROP TABLE u" ? 1 : 0))
    try fixture.writer.run("UPDATE t SET a = 'new' WHERE id = 1")
    fixture.settle()
    for number in queries.indices {
      #expect(fixture.recorder.deliveries(key(number)) == ["snapshot 2", "patch -0 +0 >0 *1"])
    }
  }

  @Test func `A table that takes the name of a function is read instead of it`() throws {
    var query = Query(from: "json_each('[1,2,3]')")
    query.key = ["value"]
    query.select = ["value"]
    let key = key(200)
    fixture.subscribe(key, query)
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key) == ["snapshot 3"])
    try fixture.writer.run("CREATE TABLE json_each(value)")
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key).count == 2)
  }

  @Test func `Several changes of the schema, and queries that end, while readers are busy`() throws {
    try fixture.writer.run("ALTER TABLE t ADD COLUMN b DEFAULT 7")
    fixture.settle()
    fixture.follower.post(.sessionClosed(key(0).session))
    let asked = fixture.wait(queries[1], unless: nil, for: .zero)
    try fixture.writer.run("ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN c DEFAULT 8")
    fixture.settle()
    fixture.runReaders()
    #expect(asked.resultSoFar == "1,'x',8 2,'y',8")
    #expect(fixture.recorder.deliveries(key(1)) == ["snapshot 2", "snapshot 2"])
    try fixture.writer.run("DROP TABLE t")
    fixture.settle()
    let late = fixture.wait(queries[1], unless: nil, for: .zero)
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key(1)).last == "error schema_changed")
    #expect(late.resultSoFar == "no_such_table")
  }

  @Test func `A list waits for the end of a migration in several steps`() throws {
    let waiting = key(1)
    try fixture.writer.run("ALTER TABLE t RENAME TO old; CREATE TABLE unrelated(a)")
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(waiting) == ["snapshot 2", "error schema_changed"])
    // The same error is not reported again; requests are answered with it.
    try fixture.writer.run("INSERT INTO old VALUES (3, 'z'); CREATE TABLE more(a)")
    fixture.settle()
    fixture.runReaders()
    fixture.follower.post(.request(waiting, .fetch(Window(offset: 0, limit: 1))))
    let late = fixture.wait(queries[1], unless: nil, for: .zero)
    fixture.settle()
    fixture.runReaders()
    #expect(late.resultSoFar == "no_such_table")
    #expect(fixture.recorder.deliveries(waiting) == ["snapshot 2", "error schema_changed", "error no_such_table"])
    try fixture.writer.run("ALTER TABLE old RENAME TO t")
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(waiting).last == "snapshot 3")
    try fixture.writer.run("UPDATE t SET a = 'new' WHERE id = 1")
    fixture.settle()
    #expect(fixture.recorder.deliveries(waiting).last == "patch -0 +0 >0 *1")
  }

  @Test func `A list that waits for a schema is let go when nobody subscribes to it`() throws {
    try fixture.writer.run("DROP TABLE t")
    fixture.settle()
    fixture.runReaders()
    for number in queries.indices { fixture.follower.post(.sessionClosed(key(number).session)) }
    fixture.settle()
    clock.advance(by: .seconds(61))
    fixture.settle()
    #expect(fixture.statistics.controllers == 1)
  }

  @Test func `A list whose query does not compile any more takes another query`() throws {
    var query = Query(from: "t")
    query.select = ["a"]
    let key = key(300)
    fixture.subscribe(key, query)
    fixture.runReaders()
    try fixture.writer.run("ALTER TABLE t RENAME COLUMN a TO b")
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key) == ["snapshot 2", "error schema_changed"])
    // Another query that does not compile is refused, and changes nothing.
    fixture.follower.post(.request(key, .requery(query, nil)))
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key).last == "error no_such_column")
    query.select = ["b"]
    fixture.follower.post(.request(key, .requery(query, nil)))
    fixture.settle()
    fixture.runReaders()
    #expect(fixture.recorder.deliveries(key).last == "snapshot 2")
    try fixture.writer.run("INSERT INTO t VALUES (3, 'z')")
    fixture.settle()
    #expect(fixture.recorder.deliveries(key).last == "patch -0 +1 >0 *0")
  }
}
