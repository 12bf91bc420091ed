import ServerSupport
import TestSupport

/// A schema with all kinds of relations between tables, and a query of every kind over it.
enum LiveLibrary {
  static let schema = RandomSchema(
    description: "library",
    sql: """
      CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country TEXT, mentor INT REFERENCES author(id));
      CREATE INDEX author_country ON author(country);
      CREATE TABLE book(id INTEGER PRIMARY KEY, author_id INT REFERENCES author(id) ON DELETE CASCADE, title TEXT, year INT,
        genre TEXT);
      CREATE INDEX book_author ON book(author_id);
      CREATE TABLE sale(book_id INT, region TEXT, amount REAL, PRIMARY KEY (book_id, region)) WITHOUT ROWID;
      CREATE TABLE genre(code TEXT PRIMARY KEY, label TEXT, id INT);
      CREATE VIEW shelf AS SELECT b.id, b.title, a.name AS author, b.year FROM book b JOIN author a ON a.id = b.author_id;
      CREATE VIEW lonely(id, who, mentor) AS SELECT a.id, upper(a.name) who, m.name FROM author AS a
        LEFT JOIN author m ON m.id = a.mentor WHERE NOT EXISTS (SELECT 1 FROM book WHERE author_id = a.id) ORDER BY a.name;
      CREATE VIEW everything AS SELECT * FROM book WHERE year IS NOT NULL;
      CREATE VIRTUAL TABLE note USING fts5(body);
      CREATE TRIGGER noted AFTER INSERT ON genre BEGIN INSERT INTO note VALUES (NEW.label || ' a'); END;
      """,
    tables: [
      ("author", ["id", "name", "country", "mentor"]), ("book", ["id", "author_id", "title", "year", "genre"]),
      ("book", ["author_id", "genre"]), ("sale", ["book_id", "region", "amount"]), ("genre", ["code", "label", "id"]),
      ("author", ["country", "name"]),
    ])

  private static func query(
    _ from: String, keys: [String] = ["author.id"], _ select: [String], where filter: String? = nil,
    groupBy: [String] = [], having: String? = nil, tellsKey: Bool = false, alongside: [String: String] = [:],
    parameters: [String: Int] = [:]
  ) -> OracleQuery {
    OracleQuery(
      table: from, keys: keys, select: select, filter: filter, section: nil, orderBy: [], limit: nil, window: nil,
      groupBy: groupBy, having: having, tellsKey: tellsKey, alongside: alongside, parameters: parameters)
  }

  private static let bookOfAuthor = "book JOIN author ON author.id = book.author_id"

  static let joins: [OracleQuery] = [
    query(bookOfAuthor, keys: ["book.id"], ["title", "author.name", "year"]),
    query(
      "book b LEFT JOIN author AS a ON a.id = b.author_id", keys: ["b.id"], ["a.name AS author", "b.title"],
      where: "a.country IS NOT 'a'"),
    query(
      "author LEFT JOIN book ON book.author_id = author.id", keys: ["author.id", "book.id AS bid"], ["title", "name"],
      tellsKey: true),
    query("author LEFT JOIN book ON book.author_id = author.id", ["name"], where: "book.id IS NULL"),
    query(
      "book, author", keys: ["book.id"], ["title", "name"],
      where: "author.id = book.author_id AND author.country > 'A'"),
    query(
      "author a JOIN author AS m ON m.id = a.mentor", keys: ["a.id"], ["a.name", "m.name AS mentor"]),
    query(
      "author LEFT JOIN author m ON m.id = author.mentor LEFT JOIN author g ON g.id = m.mentor",
      ["m.name AS m", "g.name AS g"]),
    query(
      "book LEFT JOIN author ON author.id = book.author_id JOIN genre ON genre.id = ifnull(author.mentor, 1)",
      keys: ["book.id", "genre.code"], ["title", "label", "author.name AS who"], tellsKey: true),
    query("book LEFT JOIN genre ON genre.code = book.genre", keys: ["book.id"], ["title", "label"]),
    query("book JOIN genre USING (id)", keys: ["book.id"], ["title", "label"], where: "year IS NOT NULL"),
    query("author NATURAL JOIN genre", keys: ["author.id", "genre.code"], ["name", "label"], tellsKey: true),
    query(
      "sale JOIN book ON book.id = sale.book_id LEFT JOIN author ON author.id = book.author_id",
      keys: ["sale.book_id", "sale.region"], ["amount", "title", "name"]),
    query("genre CROSS JOIN author", keys: ["genre.code", "author.id"], ["label", "name"], tellsKey: true),
    query(
      "author JOIN book ON book.author_id = author.id AND book.year > :low", keys: ["author.id", "book.id AS bid"],
      ["title"], tellsKey: true, parameters: ["low": 1]),
    query(
      "author FULL JOIN book ON book.author_id = author.id", keys: ["author.id", "book.id AS bid"], ["name", "title"],
      tellsKey: true),
    query(
      "book JOIN shelf ON shelf.id = book.author_id", keys: ["book.id"], ["book.title", "shelf.author AS other"]),
    query(
      "author JOIN (SELECT author_id AS aid, count(*) AS n FROM book GROUP BY 1) AS c ON c.aid = author.id",
      ["name", "n"]),
    query(
      "author, json_each('[1,2]') AS j", keys: ["author.id", "j.value"], ["name"], where: "j.value <> 1 OR mentor > 1",
      tellsKey: true),
  ]

  static let groups: [OracleQuery] = [
    query(
      "author LEFT JOIN book ON book.author_id = author.id", ["name", "count(book.id) AS n", "max(year) AS newest"],
      groupBy: ["author.id"]),
    query(
      "author LEFT JOIN book ON book.author_id = author.id LEFT JOIN sale ON sale.book_id = book.id",
      ["name", "total(amount) AS sold"], groupBy: ["author.id"], having: "count(*) > 1"),
    query("author", keys: ["country"], ["count(*) AS n", "min(name) AS first"], groupBy: ["country"]),
    query("book", keys: ["genre"], ["count(*) AS n", "sum(year) AS years"], where: "year > 0", groupBy: ["genre"]),
    query("author", keys: ["name"], ["count(*) AS n"], groupBy: ["name"], having: "count(*) < 3"),
    query(
      "book JOIN author ON author.id = book.author_id", keys: ["author.country"], ["count(*) AS n"],
      groupBy: ["author.country"]),
    query(
      "author JOIN book ON book.author_id = author.id", keys: ["author.country", "author.mentor"],
      ["count(DISTINCT book.id) AS n"], groupBy: ["author.country", "author.mentor"]),
    query(
      "author JOIN book ON book.author_id = author.id", keys: ["author.id", "book.genre"], ["count(*) AS n"],
      groupBy: ["author.id", "book.genre"], tellsKey: true),
    query("book", keys: ["year % 2"], ["count(*) AS n"], groupBy: ["year % 2"]),
  ]

  /// Whole SELECTs.
  static let whole: [OracleQuery] = [
    whole("SELECT id, name, country FROM author WHERE mentor IS NOT NULL", keys: ["id"], ["name", "country"]),
    // A name in the result is that of another column of the table.
    whole("SELECT upper(name) AS name, name AS country, id FROM author", keys: ["id"], ["name", "country"]),
    whole(
      "SELECT b.id AS bid, a.id, title FROM author AS a JOIN book AS b ON b.author_id = a.id", keys: ["id", "bid"],
      ["title"], tellsKey: true),
    whole("SELECT genre, count(*) n FROM book GROUP BY 1 HAVING n > 1", keys: ["genre"], ["n"]),
    whole("SELECT genre, count(*) AS n FROM book GROUP BY genre", keys: ["genre"], ["n"], totals: ["most": "max(n)"]),
    whole("SELECT id, name FROM author WHERE country IS NOT DISTINCT FROM 'a'", keys: ["id"], ["name"]),
    whole("SELECT DISTINCT country, mentor FROM author", keys: ["country", "mentor"], ["country"]),
    whole("SELECT country AS x FROM author UNION SELECT genre FROM book", keys: ["x"], ["x"]),
    whole("SELECT id FROM author INTERSECT SELECT author_id FROM book", keys: ["id"], ["id"]),
    whole(
      "SELECT id FROM author UNION ALL SELECT id FROM book EXCEPT SELECT author_id FROM book", keys: ["id"], ["id"]),
    whole(
      "SELECT 'a' AS side, id FROM author UNION ALL SELECT 'b', id FROM book", keys: ["side", "id"], ["side"],
      tellsKey: true),
    whole(
      "WITH n(aid, books) AS (SELECT author_id, count(*) FROM book GROUP BY 1) SELECT aid, sum(books) AS books FROM n GROUP BY aid",
      keys: ["aid"], ["books"]),
    whole(
      "WITH RECURSIVE c(n) AS MATERIALIZED (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 4) SELECT n FROM c",
      keys: ["n"], ["n"], tellsKey: true),
    whole(
      "SELECT title, id AS number FROM book ORDER BY 1 DESC, id LIMIT 3 OFFSET 1", keys: ["number"], ["title"],
      order: ["title DESC", "number"]),
    whole(
      "SELECT * FROM genre ORDER BY label, code LIMIT 1, 4", keys: ["code"], ["label", "id"], order: ["label", "code"]),
    whole(
      "SELECT id, row_number() OVER w AS place FROM book WINDOW w AS (ORDER BY title, id)", keys: ["id"], ["place"]),
  ]

  private static func whole(
    _ sql: String, keys: [String], _ select: [String], tellsKey: Bool = false, totals: [String: String] = [:],
    order: [String] = []
  ) -> OracleQuery {
    var query = OracleQuery(
      table: "(\(sql)) AS result", keys: keys, select: select, orderBy: [], tellsKey: tellsKey, totals: totals)
    (query.sql, query.ownOrder) = (sql, order)
    return query
  }

  static let others: [OracleQuery] = [
    query("author", ["name"], where: "EXISTS (SELECT 1 FROM book WHERE book.author_id = author.id)"),
    query("author", ["name"], where: "id NOT IN (SELECT author_id FROM book WHERE author_id IS NOT NULL)"),
    query("author", ["name", "(SELECT count(*) FROM book WHERE author_id = author.id) AS n"]),
    query("author", ["name", "(SELECT count(*) FROM author x WHERE x.country = author.country) AS peers"]),
    query("book", keys: ["book.id"], ["title", "row_number() OVER (ORDER BY title, id) AS n"]),
    query("book", keys: ["book.id"], ["title", "sum(year) OVER (PARTITION BY genre) AS s"], where: "year IS NOT NULL"),
    query("book", keys: ["1 AS one"], ["count(*) AS n", "max(year) AS newest"], tellsKey: true),
    query("(SELECT genre, count(*) AS n FROM book GROUP BY genre) AS g", keys: ["g.genre"], ["n"], tellsKey: true),
    query("(WITH c AS (SELECT id, title FROM book) SELECT * FROM c) AS c", keys: ["c.id"], ["title"], tellsKey: true),
    query(
      "(WITH RECURSIVE up(id, depth) AS (SELECT id, 0 FROM author WHERE mentor IS NULL UNION SELECT a.id, depth + 1 FROM "
        + "author a JOIN up ON up.id = a.mentor WHERE depth < 5) SELECT id, max(depth) AS depth FROM up GROUP BY id) AS up",
      keys: ["up.id"], ["depth"], tellsKey: true),
    query("shelf", keys: ["shelf.id"], ["title", "author"], tellsKey: true),
    query("lonely AS l", keys: ["l.id"], ["who", "mentor"], tellsKey: true),
    query("everything", keys: ["everything.id"], ["title", "year"], where: "year > 0", tellsKey: true),
    query("shelf", keys: ["shelf.author", "shelf.id"], ["title"], tellsKey: true),
    query("note", keys: ["note.rowid"], ["body"], where: "note MATCH 'a'"),
    query(
      "author", ["name"],
      alongside: ["books": "SELECT count(*) FROM book", "newest": "SELECT max(year) FROM book WHERE year < :top"],
      parameters: ["top": 4]),
    query("author", ["name"], where: "country = 'a' OR mentor = :m", parameters: ["m": 2]),
  ]
}
