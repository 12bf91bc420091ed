import Following
import Foundation
import LiveQuery
import Requests
import TestSupport
import Testing

/// Views, whose tables are followed as if the query were written over them.
@Suite struct ViewTests {
  private static let schema = """
    CREATE TABLE author(id INTEGER PRIMARY KEY, name, born INT);
    CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT REFERENCES author(id), title, year INT);
    CREATE INDEX book_author ON book(author_id);
    CREATE VIEW shelf AS SELECT b.id, b.title, a.name AS author, b.year FROM book b JOIN author a ON a.id = b.author_id;
    CREATE VIEW years AS SELECT year, count(*) AS n FROM book GROUP BY year;
    CREATE VIEW two AS SELECT id FROM author UNION SELECT id FROM book;
    CREATE VIEW newest AS SELECT id, title FROM book ORDER BY year DESC LIMIT 1;
    CREATE VIEW byAuthor AS SELECT a.id, b.id AS book FROM book b JOIN author a ON a.id = b.author_id;
    INSERT INTO author VALUES (1, 'Ada', 1815), (2, 'Bob', 1900);
    INSERT INTO book VALUES (10, 1, 'x', 1), (11, 1, 'y', 2), (12, 2, 'z', 2);
    """

  @Test(arguments: [
    ("shelf", "id", Explanation.Maintenance.incremental), ("years", "year", .incremental), ("two", "id", .incremental),
    ("newest", "id", .refetch), ("byAuthor", "id", .incremental), ("byAuthor", "book", .incremental),
  ])
  func saysHowItIsFollowed(view: String, key: String, maintenance: Explanation.Maintenance) throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: view)
    query.key = [key]
    let explanation = try fixture.explain(query).get()
    #expect(explanation.maintenance == maintenance)
    // The definition of a view is hidden from roles that may only read it.
    #expect(explanation.sql.contains("FROM \(view)") && !explanation.sql.contains("book b"))
  }

  @Test func `What is run again tells the changed columns alone`() throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: "book")
    query.filter = "id <= (SELECT max(id) FROM book)"
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, query)
    fixture.snapshot(query)
    // id, author_id, title, year.
    try fixture.writer.run(
      "UPDATE book SET title = 'new' WHERE id = 10; UPDATE book SET year = 9, author_id = 2 WHERE id = 11")
    fixture.snapshot(query)
    let patches = fixture.recorder.sent.filter { $0.delivery.hasPrefix("patch") }
    #expect(patches.flatMap(\.changed).sorted() == ["1,3", "2"])
  }

  @Test func `A change that the view does not show is no tick of its list, and one that it does tells its columns`()
    throws
  {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: "shelf")
    query.key = ["id"]
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, query)
    fixture.snapshot(query)
    try fixture.writer.run("UPDATE author SET born = 1")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(key) == ["snapshot 3"])
    try fixture.writer.run("UPDATE author SET name = 'Ann' WHERE id = 1")
    fixture.snapshot(query)
    try fixture.writer.run("DELETE FROM book WHERE id = 11")
    fixture.snapshot(query)
    #expect(fixture.recorder.deliveries(key) == ["snapshot 3", "patch -0 +0 >0 *2", "patch -1 +0 >0 *0"])
    #expect(fixture.statistics.refetches == 0)
    // id, title, author, year.
    #expect(fixture.recorder.sent.first { $0.delivery.contains("*2") }?.changed == ["2", "2"])
  }
}
