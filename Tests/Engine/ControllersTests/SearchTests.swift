import LiveQuery
import TestSupport
import Testing

@testable import Following
@testable import Requests

/// Full-text search: its results are followed row by row if the search depends only on each row by itself.
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

  /// The triggers from SQLite's manual.
  private static let triggers = """
    CREATE TRIGGER page_inserted AFTER INSERT ON page BEGIN INSERT INTO found(rowid, text) VALUES (new.id, new.text); END;
    CREATE TRIGGER page_deleted AFTER DELETE ON page BEGIN
      INSERT INTO found(found, rowid, text) VALUES ('delete', old.id, old.text);
    END;
    CREATE TRIGGER page_updated AFTER UPDATE ON page BEGIN
      INSERT INTO found(found, rowid, text) VALUES ('delete', old.id, old.text);
      INSERT INTO found(rowid, text) VALUES (new.id, new.text);
    END;
    """

  private static let searches: [Query] = [
    ("found", "found MATCH :word"), ("page JOIN found ON found.rowid = page.id", "found MATCH :word"),
    ("found f JOIN page ON f.rowid = page.id", "found MATCH :word AND length(page.text) > 1"),
    ("page", "id IN (SELECT rowid FROM found WHERE found MATCH :word)"),
    ("page p", "p.id > 0 AND p.id IN (SELECT rowid FROM found WHERE text MATCH :word AND rowid < 100) AND text <> 'x'"),
    ("page LEFT JOIN found ON found.rowid = page.id", "found.text IS NOT NULL"),
  ].map { from, filter in
    var query = Query(from: from, where: filter, parameters: filter.contains(":word") ? ["word": "red"] : [:])
    let table = from == "found" ? from : from == "page p" ? "p" : "page"
    query.select = ["\(table).text AS shown"]
    query.key = [from == "found" ? "rowid" : "\(table).id"]
    query.orderBy = ["shown DESC"]
    return query
  }

  @Test(arguments: searches)
  func `A search of another table's rows is followed row by row where triggers see to it`(query: Query) throws {
    let fixture = try FollowerFixture(Self.schema + Self.triggers)
    fixture.subscribe(Self.key, query)
    fixture.snapshot(query)
    #expect(try fixture.explain(query).get().tables.allSatisfy { $0.following != .refetch })
    for commit in [
      "INSERT INTO page VALUES (3, 'red and blue'), (4, 'green')", "UPDATE page SET text = 'rot' WHERE id = 1",
      "UPDATE page SET text = 'red' WHERE id = 2", "UPDATE page SET text = 'hen red' WHERE id = 4",
      "UPDATE page SET text = 'red hen' WHERE id = 4", "UPDATE page SET text = 'two hen' WHERE id = 4",
      "DELETE FROM page WHERE id = 3", "UPDATE page SET id = 9 WHERE id = 2",
      "INSERT INTO found(found) VALUES ('optimize')",
      // A change of the index alone.
      "INSERT INTO found(found, rowid, text) VALUES ('delete', 9, 'red')",
      "INSERT INTO found(found) VALUES ('rebuild')",

      "DELETE FROM page; INSERT INTO page VALUES (1, 'blue'), (7, 'red')",
    ] {
      try fixture.writer.run("BEGIN; \(commit); COMMIT")
      let filter = query.filter!.replacing(":word", with: "'red'")
      let answer = try SQLiteShell(path: fixture.path).run(
        "SELECT group_concat(k || ',' || quote(shown), ' ') FROM (SELECT \(query.key[0]) AS k, \(query.select[0]) FROM \(query.from) "
          + "WHERE \(filter) ORDER BY shown DESC, 1)")
      #expect(fixture.snapshot(query) == answer, "\(commit)")
    }
    #expect(fixture.statistics.refetches == 0)
  }

  @Test func `The rank of a row that is joined depends on all others`() throws {
    let fixture = try FollowerFixture(Self.schema)
    var query = Query(from: "page JOIN note ON note.rowid = page.id", where: "note MATCH 'red OR fox'")
    query.select = ["round(rank * 1e7) AS r"]
    fixture.subscribe(Self.key, query)
    let before = fixture.snapshot(query)
    try fixture.writer.run("INSERT INTO note VALUES ('red', 'red red red')")
    let after = fixture.snapshot(query)
    #expect(after != before)
    // A snapshot reads contents again, so it cannot show the change. The number of runs shows that the query was run.
    #expect(fixture.statistics.refetches > 0)
    let rows = try SQLiteShell(path: fixture.path).run(
      "SELECT group_concat(page.id || ',' || round(rank * 1e7), ' ') FROM \(query.from) WHERE \(query.filter!)")
    #expect(after == rows)
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
