import Foundation
import LiveQuery
import Requests
import TestSupport
import Testing

/// How a query is kept up to date, and what would make it cheaper, in words that a person can act on.
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
