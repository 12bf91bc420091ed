import Following
import Foundation
import LiveQuery
import Requests
import TestSupport
import Testing

/// The messages after changes of joined tables and groups, and whether these are followed row by row or by running the
/// query again. (`LiveKindsTests` says that the results are right.)
@Suite struct JoinTests {
  private static let schema = """
    CREATE TABLE author(id INTEGER PRIMARY KEY, name, country, born INT);
    CREATE INDEX author_country ON author(country);
    CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT REFERENCES author(id), title, genre, year INT);
    CREATE INDEX book_author ON book(author_id);
    CREATE TABLE genre(code PRIMARY KEY, label);
    INSERT INTO author VALUES (1, 'Ada', 'uk', 1815), (2, 'Bob', 'us', 1900), (3, 'Cid', 'us', 1920);
    INSERT INTO book VALUES (10, 1, 'x', 'f', 1), (11, 1, 'y', 'g', 2), (12, 2, 'z', 'f', 2);
    INSERT INTO genre VALUES ('f', 'fiction'), ('g', 'gardens');
    """

  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case inner, left, byLabel, count, byCountry, exists
    var testDescription: String { rawValue }

    var query: Query {
      var query = Query(from: "book JOIN author ON author.id = book.author_id")
      query.select = ["title", "author.name"]
      switch self {
      case .inner: break
      case .left:
        query.from = "author LEFT JOIN book ON book.author_id = author.id"
        query.key = ["author.id", "book.id AS book"]
      case .byLabel:
        query.from = "book LEFT JOIN genre ON genre.label = book.genre || 'iction'"
        query.select = ["title", "label"]
      case .count:
        query.from = "author LEFT JOIN book ON book.author_id = author.id"
        query.select = ["name", "count(book.id) AS n"]
        query.groupBy = ["author.id"]
      case .byCountry:
        query.from = "author"
        query.select = ["country", "count(*) AS n"]
        query.groupBy = ["country"]
      case .exists:
        query.from = "author"
        query.select = ["name"]
        query.filter = "EXISTS (SELECT 1 FROM book WHERE author_id = author.id)"
      }
      return query
    }
  }

  /// A query, a commit, the messages that it causes, and how often the query is run again.
  @Test(
    arguments: [
      (Kind.inner, "UPDATE author SET name = 'Ann' WHERE id = 1", "patch -0 +0 >0 *2", 0),
      (.inner, "UPDATE author SET born = 1", "", 0),
      (.inner, "UPDATE book SET author_id = 3 WHERE id = 10", "patch -0 +0 >0 *1", 0),
      (.inner, "DELETE FROM author WHERE id = 1", "patch -2 +0 >0 *0", 0),
      (.inner, "UPDATE book SET author_id = 9 WHERE id = 12; ", "patch -1 +0 >0 *0", 0),
      (
        .inner, "BEGIN; UPDATE author SET id = 7 WHERE id = 1; UPDATE book SET author_id = 7 WHERE id = 11; COMMIT",
        "patch -1 +0 >0 *0", 0
      ),
      (
        .inner, "BEGIN; DELETE FROM author; INSERT INTO author VALUES (2, 'Bob', 'us', 1); COMMIT", "patch -2 +0 >0 *0",
        0
      ),
      (.left, "DELETE FROM book WHERE id = 12", "patch -1 +1 >0 *0", 0),
      (.left, "INSERT OR REPLACE INTO book VALUES (12, 3, 'z', 'f', 2)", "patch -2 +2 >0 *0", 0),
      (.left, "INSERT INTO author(id, name) VALUES (4, 'Dan')", "patch -0 +1 >0 *0", 0),
      (.byLabel, "INSERT INTO genre VALUES ('h', 'giction')", "patch -0 +0 >0 *1", 0),
      (.byLabel, "DELETE FROM genre WHERE code = 'f'", "patch -0 +0 >0 *2", 0),
      (.count, "DELETE FROM book WHERE id = 12", "patch -0 +0 >0 *1", 0),
      (.count, "UPDATE book SET author_id = 3", "patch -0 +0 >0 *3", 0),
      (.count, "UPDATE book SET title = 'other'", "", 0),
      (.byCountry, "UPDATE author SET country = 'uk' WHERE id = 3", "patch -0 +0 >0 *2", 0),
      (.byCountry, "DELETE FROM author WHERE country = 'us'", "patch -1 +0 >0 *0", 0),
      (.byCountry, "UPDATE author SET name = 'x'", "", 0),
      (.exists, "DELETE FROM book WHERE id = 12", "patch -1 +0 >0 *0", 0),
      (.exists, "UPDATE author SET name = 'Ann' WHERE id = 1", "patch -0 +0 >0 *1", 0),
      (.exists, "UPDATE book SET title = 'other'", "", 0),
    ] as [(Kind, String, String, Int)])
  func sendsWhatAChangeConcerns(kind: Kind, commit: String, delivery: String, refetches: Int) throws {
    let fixture = try FollowerFixture(Self.schema)
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, kind.query)
    fixture.snapshot(kind.query)
    let before = fixture.recorder.deliveries(key)
    try fixture.writer.run(commit)
    fixture.snapshot(kind.query)
    #expect(fixture.recorder.deliveries(key).dropFirst(before.count) == (delivery.isEmpty ? [] : [delivery]))
    #expect(fixture.statistics.refetches == refetches)
  }

  /// Join conditions are used wherever they stand. Otherwise the product of the tables would be millions of rows.
  @Test(arguments: [
    ("s, l, o", "l.sid = s.id AND o.id = l.oid AND o.n > 0"), ("s JOIN l JOIN o", "(o.id = l.oid) AND (l.sid = s.id)"),
    ("s, l JOIN o ON o.id = l.oid", "s.id = l.sid"), ("s JOIN l ON l.sid = s.id JOIN o ON o.id = l.oid", "1"),
  ])
  func joinsByWhere(from: String, filter: String) throws {
    let fixture = try FollowerFixture(
      """
      CREATE TABLE s(id INTEGER PRIMARY KEY, name); CREATE TABLE o(id INTEGER PRIMARY KEY, n INT);
      CREATE TABLE l(id INTEGER PRIMARY KEY, sid INT, oid INT, late INT);
      CREATE INDEX l_o ON l(oid); CREATE INDEX l_s ON l(sid);
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000) INSERT INTO s SELECT i, i % 50 FROM r;
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000) INSERT INTO o SELECT i, i FROM r;
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000) INSERT INTO l SELECT i, i % 1000, i, i % 2 FROM r;
      """)
    let late = "NOT EXISTS (SELECT 1 FROM l x WHERE x.oid = l.oid AND x.late > l.late)"
    let queries = [(["s.name"], ["count(*) AS n"]), ([], ["s.name", "o.n AS m", "l.id AS lid"])].map { groups, select in
      var query = Query(from: from)
      (query.groupBy, query.select, query.filter) = (groups, select, "\(filter) AND \(late)")
      if groups.isEmpty { query.key = ["s.id", "l.id AS k"] }
      return query
    }
    for (index, query) in queries.enumerated() {
      fixture.subscribe(SubscriptionKey(session: UInt64(index + 1), id: "a", number: 1), query)
      fixture.snapshot(query)
    }
    for commit in [
      "BEGIN; UPDATE o SET n = n + 1 WHERE id < 3; UPDATE l SET late = 1 - late WHERE oid < 3; COMMIT",
      "UPDATE l SET sid = 7 WHERE id = 9", "UPDATE o SET id = 4000 WHERE id = 10", "DELETE FROM s WHERE id = 7",
    ] {
      try fixture.writer.run(commit)
      for query in queries { fixture.snapshot(query) }
    }
    // If two tables have changed in one commit, the rows that matched before are unknown, however the tables are
    // joined. Counted aggregates are kept.
    #expect(fixture.statistics.refetches == 1)
  }

  /// If a row of the result is made of different rows than before, columns that were not written may differ too.
  @Test(
    arguments: [
      ("author JOIN book ON book.author_id = author.id", ["book.title", "book.year"], "book.year > 0", []),
      ("author JOIN book ON book.author_id = author.id", ["book.title", "book.year"], "book.year > author.born", []),
      ("book", ["max(title) AS t", "sum(year) AS y"], "year > 0", ["author_id"]),
      ("shown", [], nil, []),
    ] as [(String, [String], String?, [String])])
  func sendsColumnsThatAFilterChoseAnew(
    from: String, select: [String], filter: String?, groups: [String]
  ) throws {
    let fixture = try FollowerFixture(
      """
      CREATE TABLE author(id INTEGER PRIMARY KEY, born INT);
      CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT, title TEXT, year INT);
      CREATE VIEW shown AS SELECT author.id, book.title, book.year FROM author JOIN book ON book.author_id = author.id
        WHERE book.year > 0;
      INSERT INTO author VALUES (1, 0);
      INSERT INTO book VALUES (10, 1, 'old', 1), (11, 1, 'new', -1);
      """)
    var query = Query(from: from)
    query.select = select
    query.filter = filter
    query.groupBy = groups
    if from == "shown" { query.key = ["id"] }
    let key = SubscriptionKey(session: 1, id: "a", number: 1)
    fixture.subscribe(key, query)
    // After the first commit, the pages' former images are known, and thus the changed columns.
    for change in ["UPDATE book SET year = 2 * year", "UPDATE book SET year = 2 * year"] {
      fixture.snapshot(query)
      try fixture.writer.run(change)
    }
    fixture.snapshot(query)
    try fixture.writer.run("UPDATE book SET year = -year")
    fixture.snapshot(query)
    let sent = try #require(fixture.recorder.sent.last { $0.goes(to: key) })
    #expect(sent.delivery == "patch -0 +0 >0 *1")
    #expect(sent.changed == ["0,1,2"])
  }
}
