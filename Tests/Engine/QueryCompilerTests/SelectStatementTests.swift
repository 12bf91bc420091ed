import Foundation
import GRDB
import LiveQuery
import TestSupport
import Testing

@testable import QueryCompiler

/// SELECTs that are parsed and written again, and the query that is made from one.
@Suite struct SelectStatementTests {
  private static let selects = [
    "SELECT 1", "select a, b from t;", "SELECT ALL a FROM t",
    "SELECT DISTINCT a, b FROM t WHERE a IS NOT DISTINCT FROM b",
    "SELECT * FROM t -- all of them\n WHERE a > 1 /* and */ AND b < 2",
    "SELECT count(*) FILTER (WHERE a > 1) AS n FROM t GROUP BY b, c HAVING n > 1 ORDER BY 1 DESC LIMIT 3",
    "SELECT a FROM t ORDER BY b LIMIT 3 OFFSET 4", "SELECT a FROM t LIMIT 4, 3", "VALUES (1, 2), (3, 4)",
    "SELECT a FROM t UNION SELECT n FROM u UNION ALL VALUES (1) EXCEPT SELECT x FROM v ORDER BY 1 LIMIT 2",
    "SELECT a FROM t INTERSECT SELECT n FROM u", "SELECT \"desc\" AS [order by], 'FROM' AS \"limit\" FROM t",
    "WITH c AS (SELECT a FROM t), d(x, y) AS NOT MATERIALIZED (SELECT a, b FROM t WHERE a) SELECT * FROM c, d WHERE c.a = d.x",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n ORDER BY i",
    "SELECT window FROM (SELECT a AS window FROM t)",
    "SELECT sum(a) OVER w, rank() OVER (w ORDER BY c) FROM t WINDOW w AS (PARTITION BY b), o AS (ORDER BY a) ORDER BY 1",
    "SELECT CASE WHEN a THEN (SELECT max(n) FROM u WHERE k = b ORDER BY n LIMIT 1) END FROM t LEFT JOIN u ON k = b",
    "SELECT a FROM t AS offset ORDER BY offset.a LIMIT 1",
    "SELECT x'00ff', ?1, :name FROM (t JOIN u ON 1) WHERE b IN v",
    "SELECT 1 WHERE 1 GROUP BY 1 HAVING 1",
  ]

  /// The bytecode program that SQLite would run.
  private func program(_ db: Database, _ sql: String) throws -> [[String]] {
    try Row.fetchAll(db, sql: "EXPLAIN " + sql, arguments: .init([:])).map { row in
      row.databaseValues.prefix(7).map(\.description)
    }
  }

  private func checkSame(_ db: Database, _ sql: String) throws {
    let statement = try #require(SelectStatement(sql), "\(sql)")
    let plain = sql.replacing("?1", with: "1").replacing(":name", with: "2")
    let again = statement.text.replacing("?1", with: "1").replacing(":name", with: "2")
    #expect(try program(db, plain) == program(db, again), "\(sql) became \(statement.text)")
    let names = { (sql: String) in try Array(db.makeStatement(sql: sql).columnNames) }
    #expect(try names(plain) == names(again), "\(sql)")
  }

  @Test func `Put together again it is the same program`() throws {
    let queue = try DatabaseQueue()
    try queue.write { db in
      try db.execute(sql: CompilerFixture.schema)
      for sql in Self.selects { try checkSame(db, sql) }
    }
  }

  /// Words are left out, doubled and swapped: every text that SQLite still accepts as one SELECT must be parsed, and
  /// give the same program.
  @Test(arguments: PropertySeeds.kept("selects.json")) func `So it is for mutilated ones`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let queue = try DatabaseQueue()
    try queue.write { db in
      try db.execute(sql: CompilerFixture.schema)
      var count = 0
      for round in 0..<6_000 {
        let text = Self.selects[round % Self.selects.count]
        let tokenizer = SQLTokenizer(text)
        var words = tokenizer.filter { $0.kind != .comment }.map { tokenizer.text(of: $0) }
        for _ in 0...Int.random(in: 0...2, using: &random) where words.count > 1 {
          let place = words.indices.randomElement(using: &random)!
          switch Int.random(in: 0..<3, using: &random) {
          case 0: words.remove(at: place)
          case 1: words.insert(words.randomElement(using: &random)!, at: place)
          default: words.swapAt(place, words.indices.randomElement(using: &random)!)
          }
        }
        let sql = words.joined(separator: " ")
        let plain = sql.replacing("?1", with: "1").replacing(":name", with: "2")
        guard let known = try? db.makeStatement(sql: plain), known.isReadonly, known.columnCount > 0,
          ["SELECT", "WITH", "VALUES"].contains(words[0].uppercased())
        else { continue }
        try checkSame(db, sql)
        count += 1
      }
      #expect(count > 100, "FRESHET_SEED=\(seed)")
    }
  }

  /// The queries of SQLite's own tests of joins, aggregates and expressions.
  @Test func `So it is for the queries of sqllogictest`() throws {
    let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let archive = root.deletingLastPathComponent().path + "/shared/data/sqllogictest.tar.xz"
    guard FileManager.default.fileExists(atPath: archive) else { return print("skipped: there is no \(archive)") }
    let folder = try TemporaryFolder()
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tar.arguments = ["tar", "-xJf", archive, "-C", folder.path(".")]
    try tar.run()
    tar.waitUntilExit()
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path(".")).filter { $0.hasSuffix(".test") }
      .sorted()
    #expect(!files.isEmpty)
    var count = 0
    for file in files {
      let records = try String(contentsOfFile: folder.path(file), encoding: .utf8).components(separatedBy: "\n\n")
      let queue = try DatabaseQueue()
      try queue.write { db in
        var queries: [String] = []
        for record in records {
          let lines = record.split(separator: "\n").filter { !$0.hasPrefix("#") }
          guard let first = lines.first(where: { $0.hasPrefix("statement ok") || $0.hasPrefix("query ") }) else {
            continue
          }
          let sql = lines.drop { $0 != first }.dropFirst().prefix { $0 != "----" }.joined(separator: "\n")
          if first.hasPrefix("query ") { queries.append(sql) } else { try? db.execute(sql: sql) }
        }
        // A sample is enough, because the queries are alike.
        for sql in queries.enumerated().filter({ $0.offset % max(1, queries.count / 100) == 0 }).map(\.element)
        where (try? db.makeStatement(sql: sql)) != nil {
          try checkSame(db, sql)
          count += 1
        }
      }
    }
    #expect(count > 500)
  }

  @Test(arguments: [
    "", "SELECT", "SELECT a FROM", "DELETE FROM t", "SELECT 1; SELECT 2", "SELECT (1", "SELECT 1)", "SELECT 'a",
    "SELECT a FROM t LIMIT", "SELECT a FROM t ORDER BY", "SELECT a,, b FROM t", "WITH c AS SELECT 1 SELECT 2",
    "WITH c(a AS (SELECT 1) SELECT 2", "SELECT 1 UNION", "EXPLAIN SELECT 1",
  ])
  func `What is no SELECT is refused`(_ sql: String) {
    #expect(SelectStatement(sql) == nil)
    #expect(throws: FreshetError.self) { try Query(sql: sql) }
  }

  @Test func `A plain SELECT becomes the parts of a query`() throws {
    let query = try Query(
      sql:
        "SELECT b.state AS s, count(*) n, max(id) FROM bank AS b WHERE id > ? GROUP BY 1 HAVING n > 1 ORDER BY n DESC, 3, s LIMIT 9",
      parameters: [2], limit: 20)
    #expect(query.from == "bank AS b" && query.select == ["b.state AS s", "count(*) n", "max(id)"])
    #expect(query.filter == "id > ?" && query.groupBy == ["b.state"] && query.having == "n > 1" && query.limit == 9)
    #expect(query.orderBy == ["(count(*)) DESC", "(max(id))", "b.state"])
  }

  /// The other members of the query use columns of its result.
  @Test func `Order, sections, key and totals are over the result`() throws {
    let query = try Query(
      sql: "SELECT upper(name) AS name, o.id AS id, total FROM orders o ORDER BY total",
      orderBy: ["name COLLATE NOCASE DESC", "total"], sectionBy: .init("substr(name, 1, 1)", name: "orders.name"),
      key: ["id"], totals: ["n": "max(length(name))"])
    #expect(query.orderBy == ["(upper(name)) COLLATE NOCASE DESC", "total"] && query.key == ["o.id AS id"])
    #expect(query.sectionBy?.expression == "substr((upper(name)), 1, 1)" && query.sectionBy?.name == "orders.name")
    #expect(query.totals == ["n": "max(length((upper(name))))"])
  }

  @Test func `What the parts cannot say stands in the place of a table`() throws {
    let distinct = try Query(sql: "SELECT DISTINCT a, b AS c FROM t ORDER BY c DESC, 1 COLLATE NOCASE")
    #expect(distinct.from == "(SELECT DISTINCT a, b AS c FROM t) AS result")
    #expect(distinct.orderBy == ["\"c\" DESC", "\"a\" COLLATE NOCASE"] && distinct.select.isEmpty)
    let places = try Query(sql: "SELECT id, rank() OVER w FROM t WINDOW w AS (ORDER BY b) ORDER BY id", key: ["id"])
    #expect(places.from.hasPrefix("(SELECT id, rank() OVER w FROM t WINDOW w") && places.orderBy == ["\"id\""])
    // If it were written twice, the second `?` would be another parameter.
    let counted = try Query(sql: "SELECT id, a + ? AS n FROM t WHERE b = ? ORDER BY n", parameters: [1, 2])
    #expect(counted.from == "(SELECT id, a + ? AS n FROM t WHERE b = ?) AS result" && counted.orderBy == ["\"n\""])
    let crossed = try Query(sql: "SELECT upper(b) AS b, b AS c, id FROM t", orderBy: ["c"])
    #expect(crossed.from == "(SELECT upper(b) AS b, b AS c, id FROM t) AS result" && crossed.orderBy == ["c"])
    let page = try Query(sql: "SELECT * FROM t ORDER BY b DESC, id LIMIT 10 OFFSET 20")
    #expect(page.from == "(SELECT * FROM t ORDER BY b DESC, id LIMIT 10 OFFSET 20) AS result")
    #expect(page.orderBy == ["\"b\" DESC", "\"id\""])
    // The order determines which rows the limit leaves.
    let some = try Query(sql: "SELECT a, b FROM t ORDER BY b LIMIT 3", sectionBy: "a", key: ["a"])
    #expect(
      some.from == "(SELECT a, b FROM t ORDER BY b LIMIT 3) AS result" && some.orderBy == ["\"b\""]
        && some.sectionBy?.expression == "a")
    let error = #expect(throws: FreshetError.self) { try Query(sql: "SELECT DISTINCT a FROM t ORDER BY lower(a)") }
    #expect(error?.message == "orderBy is needed: sql is sorted by lower(a), which is no column of its result")
  }

  @Test func `Its rows have a key where the statement tells them apart`() throws {
    for sql in [
      "SELECT DISTINCT a, b FROM t", "SELECT a FROM t UNION SELECT n FROM u",
      "WITH g AS (SELECT a FROM t) SELECT a, count(*) AS n FROM g GROUP BY a",
      "SELECT b, t.id FROM t, u WHERE n = a ORDER BY b LIMIT 2 OFFSET 1", "SELECT * FROM t LIMIT 1, 2",
    ] {
      #expect(try CompilerFixture.refusal(Query(sql: sql)).hasPrefix("accepted"))
    }
    for sql in [
      "SELECT a FROM t UNION ALL SELECT n FROM u", "SELECT id + 1 AS id FROM t LIMIT 1, 2",
      "SELECT id FROM u, t LIMIT 1, 2",
      "WITH t(id) AS (VALUES (1), (1)) SELECT id FROM t",
    ] {
      #expect(try CompilerFixture.refusal(Query(sql: sql)) == "bad_query: key is needed: result has no key of its own")
    }
  }
}
