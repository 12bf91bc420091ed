import Following
import Foundation
import GRDB
import LiveQuery
import Requests
import TestSupport
import Testing

/// How a query is kept up to date, and what would make it cheaper, in words that an operator can act on.
@Suite struct ExplanationTests {
  private static let schema = """
    CREATE TABLE author(id INTEGER PRIMARY KEY, name, country);
    CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT, title, genre);
    CREATE TABLE genre(code PRIMARY KEY, label);
    CREATE INDEX genre_label ON genre(label);
    """

  struct Case: Sendable, CustomTestStringConvertible {
    var from: String
    var groupBy: [String] = []
    var filter: String?
    var maintenance = Explanation.Maintenance.incremental
    var reason: String
    var advice: [String] = []

    var testDescription: String { "\(from) \(filter ?? "") \(groupBy)" }
  }

  static let cases = [
    Case(from: "author", reason: "A changed row is read from the pages that its commit wrote."),
    Case(
      from: "book JOIN author ON author.id = book.author_id",
      reason: "A changed row is looked up by its key; one of a joined table leads to the rows that it joins.",
      advice: ["A change of author reads all of book: CREATE INDEX book_author_id ON book(author_id)."]),
    Case(
      from: "author LEFT JOIN book ON book.author_id = author.id", groupBy: ["author.id"],
      reason: "A change is added to its group.",
      advice: ["Looking up a changed row reads all of book: CREATE INDEX book_author_id ON book(author_id)."]),
    Case(from: "author", groupBy: ["country"], reason: "A change is added to its group."),
    Case(
      from: "author", filter: "EXISTS (SELECT 1 FROM book WHERE author_id = author.id)",
      reason: "A changed row is looked up by its key; one of a joined table leads to the rows that it joins."),
    Case(
      from: "author", filter: "id IN (SELECT max(id) FROM author)", maintenance: .refetch,
      reason:
        "The query is run again after a change: a subquery reads author as well, so any row can depend on a changed one."
    ),
    Case(
      from: "author FULL JOIN book ON book.author_id = author.id FULL JOIN book AS b ON b.id = book.id",
      maintenance: .refetch,
      reason:
        "The query is run again after a change: a RIGHT or FULL JOIN gives rows that the first table does not have."),
  ]

  @Test func `What a query is made of, what it keeps, and what following it has cost`() throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: "(SELECT country, count(*) AS n FROM author GROUP BY country) AS c")
    query.groupBy = ["n"]
    query.select = ["n", "count(*) AS m"]
    let relation = try fixture.explain(query).get().relation
    #expect(relation?.kind == .groups && relation?.key == ["n"])
    #expect(relation?.parts.map(\.kind) == [.rows] && relation?.parts.first?.isKept == true)
    #expect(relation?.parts.first?.parts.map(\.kind) == [.groups])
    #expect(relation?.parts.first?.parts.first?.tables == ["author"])

    fixture.subscribe(SubscriptionKey(session: 1, id: "a", number: 1), query)
    fixture.snapshot(query)
    try fixture.writer.run("INSERT INTO author(id, country) VALUES (901, 'x'), (902, 'x'), (903, 'y')")
    fixture.snapshot(query)
    let list = try #require(try fixture.explain(query).get().list)
    #expect(list.cost.changes > 0 && list.cost.units > 0 && list.cost.longest > 0)
    #expect(list.cost.longest <= list.cost.milliseconds)
    #expect(list.groups == 2 && list.rows == 2 && list.keptBytes > 0)
  }

  /// Lists of groups over groups, which keep the rows under their groups.
  private static let counts = ["n", "n + 1", "-n"].map { group in
    var query = Query(from: "(SELECT country, count(*) AS n FROM author GROUP BY country) AS c")
    query.groupBy = [group]
    query.select = ["count(*) AS m"]
    return query
  }

  private static func insert(_ ids: ClosedRange<Int>) -> String {
    "INSERT INTO author(id, country) VALUES \(ids.map { "(\($0), 'country \($0 / 2)')" }.joined(separator: ", "));"
  }

  /// Lists over `author`, in a follower that keeps at most so many bytes of the groups' rows.
  private static func open(_ queries: [Query], keptRowBytes: Int) throws -> FollowerFixture {
    let fixture = try FollowerFixture(schema + insert(1...80)) { $0.keptRowBytes = keptRowBytes }
    for (index, query) in queries.enumerated() {
      fixture.subscribe(SubscriptionKey(session: 1, id: "\(index)", number: 1), query)
      fixture.snapshot(query)
    }
    return fixture
  }

  @Test func `Rows under groups that take too much are not kept`() throws {
    func keptBytes(_ fixture: FollowerFixture, _ query: Query) throws -> Int {
      let explanation = try fixture.explain(query).get()
      let list = try #require(explanation.list)
      #expect((list.keptBytes > 0) == (explanation.relation?.parts.first?.isKept == true))
      return list.keptBytes
    }
    let first = try Self.open([Self.counts[0]], keptRowBytes: 1 << 20)
    let bytes = try keptBytes(first, Self.counts[0])
    #expect(bytes > 0)

    let fixture = try Self.open(Self.counts, keptRowBytes: 5 * bytes / 2)
    #expect(try Self.counts.map { try keptBytes(fixture, $0) > 0 } == [true, true, false], "together")
    for step in [Self.insert(81...82), Self.insert(101...160), "DELETE FROM author WHERE id < 20"] {
      try fixture.writer.run(step)
      for query in Self.counts {
        let group = query.groupBy[0]
        let answer = try fixture.queue.read { database in
          try String.fetchAll(
            database,
            sql: "SELECT (\(group)) || ',' || count(*) FROM \(query.from) GROUP BY \(group)")
        }
        #expect(Set(fixture.snapshot(query).split(separator: " ").map(String.init)) == Set(answer))
      }
    }
    #expect(try Self.counts.map { try keptBytes(fixture, $0) } == [0, 0, 0], "each by itself")
  }

  @Test(arguments: cases)
  func explains(expected: Case) throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: expected.from)
    query.groupBy = expected.groupBy
    query.filter = expected.filter
    query.select = expected.groupBy.isEmpty ? [] : ["count(*) AS n"]
    let explanation = try fixture.explain(query).get()
    #expect(explanation.maintenance == expected.maintenance)
    #expect(explanation.reason == expected.reason)
    let advice = explanation.advice.filter { !$0.hasPrefix("Looking up") || !expected.from.contains("JOIN") }
    #expect(advice == expected.advice.filter { !$0.hasPrefix("Looking up") || !expected.from.contains("JOIN") })
    #expect(!explanation.plan.isEmpty && explanation.sql.hasPrefix("SELECT "))
  }
}
