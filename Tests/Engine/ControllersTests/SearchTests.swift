import LiveQuery
import TestSupport
import Testing

@testable import Following
@testable import Requests

/// Full-text search: what it finds is followed row by row where a search depends on each row alone.
@Suite struct SearchTests {
  private static let schema = """
    CREATE VIRTUAL TABLE note USING fts5(title, body);
    INSERT INTO note(rowid, title, body) VALUES (1, 'one', 'red fox'), (2, 'two', 'blue fox'), (3, 'three', 'red hen');
    CREATE TABLE page(id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO page VALUES (1, 'red'), (2, 'blue');
    CREATE VIRTUAL TABLE found USING fts5(text, content = 'page', content_rowid = 'id');
    INSERT INTO found(found) VALUES ('rebuild');
    """
  private static let key = SubscriptionKey(session: 1, id: "a", number: 1)

  private static func query(_ table: String, orderBy: [String] = ["rowid"]) -> Query {
    var query = Query(from: table)
    query.filter = "\(table) MATCH 'red'"
    query.orderBy = orderBy
    return query
  }

  /// Commits, with how many runs again they cause and what the list then holds.
  @Test(arguments: [
    ("UPDATE note SET body = 'green fox' WHERE rowid = 1", "3,'three','red hen'"),
    (
      "UPDATE note SET body = 'red red fox' WHERE rowid = 2",
      "1,'one','red fox' 2,'two','red red fox' 3,'three','red hen'"
    ),
    ("DELETE FROM note WHERE rowid = 3", "1,'one','red fox'"),
    ("INSERT INTO note VALUES ('red', 'new')", "1,'one','red fox' 3,'three','red hen' 4,'red','new'"),
    ("INSERT INTO note(note) VALUES ('optimize')", "1,'one','red fox' 3,'three','red hen'"),
  ])
  func searchesAreFollowedRowByRow(commit: String, answer: String) throws {
    let fixture = try FollowerFixture(Self.schema)
    fixture.subscribe(Self.key, Self.query("note"))
    fixture.snapshot(Self.query("note"))
    try fixture.writer.run(commit)
    #expect(fixture.snapshot(Self.query("note")) == answer)
    #expect(fixture.statistics.refetches == 0)
    #expect(try fixture.explain(Self.query("note")).get().maintenance == .incremental)
  }

  @Test func `A search by rank is run again, and only when its own tables change`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let query = Self.query("note", orderBy: ["rank"])
    fixture.subscribe(Self.key, query)
    fixture.snapshot(query)
    try fixture.writer.run("UPDATE page SET text = 'other' WHERE id = 2")
    fixture.snapshot(query)
    #expect(fixture.statistics.refetches == 0)
    try fixture.writer.run("UPDATE note SET body = 'red' WHERE rowid = 2")
    #expect(fixture.snapshot(query).hasPrefix("2,"))
    #expect(fixture.statistics.refetches == 1)
  }

  @Test func `A search of another table's rows is run again when either changes`() throws {
    let fixture = try FollowerFixture(Self.schema)
    let query = Self.query("found")
    fixture.subscribe(Self.key, query)
    #expect(fixture.snapshot(query) == "1,'red'")
    try fixture.writer.run(
      """
      BEGIN; INSERT INTO found(found, rowid, text) VALUES ('delete', 2, 'blue');
      UPDATE page SET text = 'red two' WHERE id = 2; INSERT INTO found(rowid, text) VALUES (2, 'red two'); COMMIT
      """)
    #expect(fixture.snapshot(query) == "1,'red' 2,'red two'")
    try fixture.writer.run("UPDATE note SET body = 'red' WHERE rowid = 2")
    let refetches = fixture.statistics.refetches
    fixture.snapshot(query)
    #expect(fixture.statistics.refetches == refetches && refetches > 0)
  }
}
