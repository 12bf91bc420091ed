import Ground
import LiveQuery
import Logging
import Store
import TestSupport
import Testing

@testable import Requests

@Suite struct SlowQueriesTests {
  private let log = RecordedLog()

  private func make(capacity: Int = 50, names: [Fingerprint: String] = [:], threshold: Duration = .seconds(1))
    -> SlowQueries
  {
    SlowQueries(
      threshold: threshold, names: names, capacity: capacity, logger: log.logger())
  }

  private func counts(_ slow: SlowQueries) -> [String] {
    let names = Dictionary(uniqueKeysWithValues: "abcdef".map { (Fingerprint(of: Query(from: "\($0)")), "\($0)") })
    let (queries, others) = slow.counts
    return queries.map { "\(names[$0.fingerprint]!) \($0.count)" }.sorted() + ["others \(others)"]
  }

  @Test func `Runs that take long are logged with a fingerprint, the published ones with their name`() {
    let query = Query(from: "t")
    let fingerprint = Fingerprint(of: query)
    let slow = make(names: [fingerprint: "all"])
    slow.note(query, .milliseconds(999))
    slow.note(query, .milliseconds(1_000))
    var published = query
    published.access.isPublished = true
    slow.note(published, .milliseconds(2_500))
    #expect(
      log.lines == [
        "warning: a query was slow fingerprint=\(fingerprint) from=t milliseconds=1000",
        "debug: the slow query fingerprint=\(fingerprint) query=SELECT * FROM t",
        "warning: a query was slow fingerprint=\(fingerprint) from=t milliseconds=2500 name=all",
        "debug: the slow query fingerprint=\(fingerprint) query=SELECT * FROM t",
      ])
    #expect(slow.counts.queries.map(\.count) == [2])
  }

  @Test func `Without a threshold nothing is slow`() {
    let slow = make(threshold: .zero)
    slow.note(Query(from: "t"), .milliseconds(100_000))
    #expect(slow.counts.queries.isEmpty && log.lines.isEmpty)
  }

  @Test func `What is slow most often is told apart, and every run is counted`() {
    let slow = make(capacity: 2)
    for name in ["a", "a", "a", "b", "c", "d", "a", "e"] { slow.note(Query(from: name), .milliseconds(1_000)) }
    #expect(counts(slow) == ["a 4", "e 1", "others 3"])
  }

  @Test func `An outline has everything but values`() {
    var query = Query(from: #""orders" JOIN (SELECT id FROM c WHERE n = 'secret' AND k = "secret") USING (id)"#)
    query.select = ["id", "substr(name, 1, 17) AS n"]
    query.filter = #""orders"."total" > 17 AND b <> x'5ec2e7' AND a = :a /* secret */ AND [c d] LIKE 'it''s secret%'"#
    query.groupBy = ["\"orders\".kind"]
    query.having = "count(*) > 17"
    query.sectionBy = .init("state COLLATE NOCASE")
    query.orderBy = ["total + 17e3 DESC", "'unterminated secret"]
    let outline = "\(QueryOutline(query))"
    #expect(!outline.contains("secret") && !outline.contains("17") && !outline.contains("5ec2e7"), "\(outline)")
    #expect(
      outline == #"""
        SELECT id, substr ( name, ?, ? ) AS n FROM "orders" JOIN ( SELECT id FROM c WHERE n = ? AND k = ? ) USING ( id ) \#
        WHERE "orders"."total" > ? AND b <> ? AND a = :a AND [c d] LIKE ? GROUP BY "orders".kind HAVING count ( * ) > ? \#
        ORDER BY state COLLATE NOCASE, total + ? DESC, ?
        """#)
  }
}
