import Foundation
import LiveQuery
import Store
import TestSupport
import Testing

@testable import Controllers
@testable import Lists
@testable import Requests

/// Work of readers does not delay lists, and its results become followed lists.
@Suite struct ReaderTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT); CREATE TABLE u(id INTEGER PRIMARY KEY);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t SELECT i, 'x', i % 7 FROM n;
    """
  private static let endless =
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n)"

  private func list(_ filter: String) -> Query {
    var query = Query(from: "t")
    query.filter = filter
    return query
  }

  private func endless(_ number: Int) -> Query {
    var query = Query(from: "\(Self.endless) AS e\(number)")
    query.key = ["c"]
    return query
  }

  @Test func `Lists are followed while every reader is busy`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let key = SubscriptionKey(session: 1, id: "list", number: 1)
    fixture.subscribe(key, list("id < 3"))
    fixture.snapshot(list("id < 3"))
    // Requests come from more sessions than the readers' number.
    for number in 2..<7 {
      fixture.subscribe(SubscriptionKey(session: UInt64(number), id: "e", number: 1), endless(number))
    }
    #expect(comesTrue { fixture.readers.counts.running >= 2 })
    for value in 1...20 {
      try fixture.writer.run("UPDATE t SET a = \(value) WHERE id = 1")
      #expect(fixture.snapshot(list("id < 3")) == "1,\(value),1 2,'x',2")
    }
    #expect(fixture.recorder.deliveries(key).first == "snapshot 2")
    for number in 2..<7 { fixture.follower.post(.sessionClosed(UInt64(number))) }
    // Its clients have left, so nothing may still run.
    _ = comesTrue { fixture.readers.counts == (0, 0) }
    #expect(fixture.readers.counts == (0, 0))
  }

  @Test func `A short query waits for long ones no longer than their first half second`() throws {
    let fixture = try FollowerFixture(Self.schema)
    for number in 2..<9 {
      fixture.subscribe(SubscriptionKey(session: UInt64(number), id: "e", number: 1), endless(number))
    }
    #expect(comesTrue { fixture.readers.counts.running >= 2 })
    #expect(fixture.snapshot(list("id = 5")) == "5,'x',5")
    for number in 2..<9 { fixture.follower.post(.sessionClosed(UInt64(number))) }
  }

  @Test func `What changes while a query runs is looked up when it joins`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let path = fixture.path
    // Another process commits without a pause while lists are opened one after the other.
    let commits = (1...4_000).map { "UPDATE t SET b = \($0), a = \($0 % 3) WHERE id % 5 = \($0 % 5);" }
    let writer = DispatchQueue(label: "writer")
    writer.async { _ = try? SQLiteShell(path: path).run(".timeout 5000\n" + commits.joined(separator: "\n")) }
    let queries = (1...25).map { limit in
      var query = list("id <= \(limit * 2)")
      query.orderBy = ["b DESC"]
      query.sectionBy = limit % 2 == 0 ? Query.SectionBy("a") : nil
      return query
    }
    for (index, query) in queries.enumerated() {
      fixture.subscribe(SubscriptionKey(session: UInt64(index + 1), id: "q", number: 1), query)
    }
    for query in queries { fixture.snapshot(query) }
    writer.sync {}
    for query in queries {
      let order = query.sectionBy == nil ? "b DESC, id" : "a, b DESC, id"
      let rows = try SQLiteShell(path: fixture.path).run(
        "SELECT id || ',' || quote(a) || ',' || b FROM t WHERE \(query.filter!) ORDER BY \(order)")
      #expect(fixture.snapshot(query) == rows.split(separator: "\n").joined(separator: " "))
    }
  }

  @Test func `A query whose look-ups are slow is run again by readers`() throws {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n"
    let fixture = try FollowerFixture(Self.schema + "INSERT INTO u \(rows);")
    // No index leads from a row of t to the rows that it sums up, so each look-up reads a product of u with itself.
    var slow = Query(from: "t")
    slow.select = ["a", "(SELECT count(*) FROM u, u AS v WHERE u.id + v.id = t.b) AS n"]
    slow.filter = "id < 3"
    fixture.snapshot(slow)
    #expect(try fixture.explain(slow).get().maintenance == .incremental)
    try fixture.writer.run("UPDATE t SET a = 'y' WHERE id = 1")
    #expect(fixture.snapshot(slow) == "1,'y',0 2,'x',1")
    let explanation = try fixture.explain(slow).get()
    #expect(explanation.maintenance == .refetch)
    let reason = "looking up the rows that a change concerns takes too long"
    #expect(explanation.reason == "The query is run again after a change: \(reason).")
    try fixture.writer.run("UPDATE t SET a = 'z' WHERE id = 2")
    #expect(fixture.snapshot(slow) == "1,'y',0 2,'z',1")
  }
}
