import Foundation
import GRDB
import TestSupport
import Testing

@testable import Import

/// What an import with `--replace` does to a table that is there.
@Suite struct MergeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes the table, and triggers that write down every row that is touched.
  private func prepare(_ schema: String) throws {
    let names = try DatabaseQueue().write { db in
      try db.execute(sql: schema)
      return try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('t')")
    }
    func values(_ row: String) -> String { names.map { "quote(\(row).\"\($0)\")" }.joined(separator: " || ' ' || ") }
    _ = try SQLiteShell(path: folder.path("db.sqlite")).run(
      """
      \(schema); CREATE TABLE touched(change);
      CREATE TRIGGER i AFTER INSERT ON t BEGIN INSERT INTO touched VALUES ('+ ' || \(values("NEW"))); END;
      CREATE TRIGGER u AFTER UPDATE ON t BEGIN INSERT INTO touched VALUES ('* ' || \(values("NEW"))); END;
      CREATE TRIGGER d AFTER DELETE ON t BEGIN INSERT INTO touched VALUES ('- ' || \(values("OLD"))); END;
      """)
  }

  private func merge(_ text: String, _ configure: (inout CSVImport.Options) -> Void = { _ in }) throws -> ImportSummary
  {
    try folder.importing(text) {
      $0.replaces = true
      configure(&$0)
    }
  }

  /// Those since the last time, in the order of texts.
  private func touched() throws -> [String] {
    let changes = try folder.rows("SELECT change FROM touched ORDER BY change").map {
      String($0.dropFirst().dropLast())
    }
    try DatabaseQueue(path: folder.path("db.sqlite")).write { try $0.execute(sql: "DELETE FROM touched") }
    return changes
  }

  @Test func `By the primary key, rows that differ are touched, and no others`() throws {
    try prepare(
      """
      CREATE TABLE t(cert INTEGER PRIMARY KEY, name TEXT, assets REAL);
      INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', NULL), (3, 'c', 3), (4, '', 4), (5, NULL, 5)
      """)
    let summary = try merge("name,CERT,assets\na,1,1.5\nB,2,\n\"\",4,4\n,5,5.5\nnew,6,6\n")
    #expect(try touched() == ["* 2 'B' NULL", "* 5 NULL 5.5", "+ 6 'new' 6.0", "- 3 'c' 3.0"])
    #expect(
      summary.description
        == "5 rows into t: 1 inserted, 2 updated, 1 deleted, 2 as they were (cert INTEGER, name TEXT, assets REAL)")
    #expect(try merge("cert,name,assets\n6,new,6\n1,a,1.5\n2,B,\n4,\"\",4\n5,,5.5\n").updated == 0)
    #expect(try touched() == [])
  }

  @Test func `By a column that the user names`() throws {
    try prepare(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, a TEXT); INSERT INTO t VALUES (7, 'x', 1), (9, 'y', 2)")
    _ = try merge("name,a\ny,3\nz,4\n") { $0.key = "NAME" }
    #expect(try touched() == ["* 9 'y' '3'", "+ 10 'z' '4'", "- 7 'x' '1'"])
    _ = try SQLiteShell(path: folder.path("db.sqlite")).run("INSERT INTO t VALUES (11, 'z', 5), (12, NULL, 6);")
    #expect(
      folder.message { _ = try merge("name,a\nz,4\n") { $0.key = "name" } }
        == "the table t has several rows with the key name z")
    _ = try SQLiteShell(path: folder.path("db.sqlite")).run("DELETE FROM t WHERE id = 11; DELETE FROM touched;")
    _ = try merge("name,a\nz,4\n") { $0.key = "name" }
    #expect(try touched() == ["- 12 NULL '6'", "- 9 'y' '3'"])
  }

  @Test func `By a key of several columns, and without rowids`() throws {
    try prepare(
      """
      CREATE TABLE t(a TEXT, b INTEGER, v TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
      INSERT INTO t VALUES ('x', 1, 'p'), ('x', 2, 'q'), ('y', 1, 'r')
      """)
    _ = try merge("a,b,v\nx,1,p\ny,1,R\ny,2,s\n")
    #expect(try touched() == ["* 'y' 1 'R'", "+ 'y' 2 's'", "- 'x' 2 'q'"])
    #expect(
      folder.message { _ = try merge("a,b,v\nx,1,p\nx,1,q\n") } == "list.csv:3: a second row with the key b 1, a x")
    #expect(folder.message { _ = try merge("a,b,v\nx,,p\n") } == "list.csv:2: the key b is empty")
  }

  @Test func `Without a key of its own the file tells rows apart by all they have`() throws {
    let first = "a,b\nx,1\nx,1\ny,\nz,3\n"
    try folder.importing(first)
    try prepare("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER)")
    #expect(try merge(first).inserted == 0)
    #expect(try touched() == [])
    let summary = try merge("a,b\nz,3\nx,1\ny,\ny,\nz,4\n")
    #expect(try touched() == ["+ 5 'y' NULL", "+ 6 'z' 4", "- 2 'x' 1"])
    #expect((summary.inserted, summary.updated, summary.deleted) == (2, 0, 1))
  }

  @Test func `Texts that a collation takes for one are two`() throws {
    try prepare(
      """
      CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v TEXT COLLATE NOCASE, w);
      INSERT INTO t VALUES ('a', 'x', 1), ('b', 'y', 2), ('c', 'z', '3')
      """)
    _ = try merge("k,v,w\nA,x,1\nb,Y,2\nc,z,3\n")
    #expect(try touched() == ["* 'b' 'Y' 2", "* 'c' 'z' 3", "+ 'A' 'x' 1", "- 'a' 'x' 1"])
  }

  @Test func `What is unique besides the key passes from one row to another`() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, u TEXT UNIQUE); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    _ = try merge("k,u\n2,y\n3,x\n")
    #expect(try touched() == ["+ 3 'x'", "- 1 'x'"])
  }

  @Test func `Types are those of the table`() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, zip TEXT, r REAL, n NUMERIC, x, g AS (k + 1))")
    _ = try merge("k,zip,r,n,x\n1,98765,2,3,4\n2,1,2.5,3.5,5\n")
    #expect(try folder.rows("SELECT * FROM t") == ["1 '98765' 2.0 3 4 2", "2 '1' 2.5 3.5 5 3"])
  }

  @Test func `A strict table`() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, i INT, a ANY, s TEXT) STRICT")
    _ = try merge("k,i,a,s\n1,2,3,4\n2,,5,\n")
    #expect(try folder.rows("SELECT * FROM t") == ["1 2 3 '4'", "2 NULL 5 NULL"])
    _ = try touched()
    _ = try merge("k,i,a,s\n1,2,3,4\n2,,5.5,\n")
    // The column has another kind in this file: 3 is 3.0 now.
    #expect(try touched() == ["* 1 2 3.0 '4'", "* 2 NULL 5.5 NULL"])
  }

  private static let faults: [(String, String, String)] = [
    (
      "k INTEGER PRIMARY KEY, a INTEGER", "k,a\n1,2\n2,N/A\n",
      "list.csv:3: \"N/A\" in the column a, which is INTEGER in t"
    ),
    ("k INTEGER PRIMARY KEY, a INT", "k,a\n1,2.5\n", "list.csv:2: \"2.5\" in the column a, which is INTEGER in t"),
    ("k INTEGER PRIMARY KEY, a REAL", "k,a\n1,2\n\n2,x\n", "list.csv:4: \"x\" in the column a, which is REAL in t"),
    ("k INTEGER PRIMARY KEY, a", "k,b\n1,2\n", "the table t has no column b"),
    ("k INTEGER PRIMARY KEY, a, b", "k,a\n1,2\n", "list.csv has no column b, which the table t has"),
    ("k TEXT PRIMARY KEY, a", "a\n1\n", "list.csv does not have the key of the table t (k); --key names another"),
    ("k INTEGER PRIMARY KEY, a CHECK (a > 0)", "k,a\n1,-2\n", "cannot write db.sqlite: CHECK constraint failed: a > 0"),
    ("k INTEGER PRIMARY KEY, a NOT NULL", "k,a\n1,\n", "cannot write db.sqlite: NOT NULL constraint failed: t.a"),
  ]

  @Test(arguments: faults)
  func `What does not agree is refused, and the table stays`(columns: String, text: String, expected: String) throws {
    try prepare("CREATE TABLE t(\(columns))")
    #expect(folder.message { _ = try merge(text) } == expected)
    #expect(try touched() == [])
  }

  @Test func `A view or a virtual table is no table to be replaced`() throws {
    _ = try SQLiteShell(path: folder.path("db.sqlite")).run(
      "CREATE TABLE u(a); CREATE VIEW t AS SELECT a FROM u; CREATE VIRTUAL TABLE v USING fts5(a);")
    #expect(folder.message { _ = try merge("a\n1\n") } == "t is no ordinary table with a key")
  }

  @Test func `Dates stay dates`() throws {
    try folder.importing("k,d\n1,5/18/2012\n2,5/4/2012\n") { $0.key = "k" }
    #expect(try merge("k,d\n1,18-May-12\n2,5-May-12\n").updated == 1)
    #expect(try folder.rows("SELECT d FROM t") == ["'2012-05-18'", "'2012-05-05'"])
    let column = "the column d, whose dates are stored as 2012-05-18 in t"
    #expect(folder.message { _ = try merge("k,d\n1,18-May-12\n2,soon\n") } == "list.csv:3: \"soon\" in \(column)")
    let ambiguous = "list.csv does not tell whether month or day comes first in \(column): no day is above 12"
    #expect(folder.message { _ = try merge("k,d\n1,5/4/2012\n2,5/6/2012\n") } == ambiguous)
    #expect(try folder.rows("SELECT d FROM t") == ["'2012-05-18'", "'2012-05-05'"])
    _ = try merge("k,d\n1,5/4/2012\n2,\n") { $0.keepsDates = true }
    #expect(try folder.rows("SELECT d FROM t") == ["'5/4/2012'", "NULL"])
    #expect(try merge("k,d\n1,x\n2,y\n").updated == 2)
  }

  @Test func `A table that is not there is made`() throws {
    #expect(try merge("a\n1\n").isNew)
    _ = try SQLiteShell(path: folder.path("other.sqlite")).run("CREATE TABLE u(a);")
    #expect(try folder.importing("a\n1\n", into: "other.sqlite") { $0.replaces = true }.isNew)
  }

  /// By key and by whole rows: afterwards the table is what the file is, and what was the same was not touched.
  @Test(arguments: [true, false])
  func `Random editions of a file`(hasKey: Bool) throws {
    var generator = SeededGenerator(seed: hasKey ? 11 : 12)
    let texts = ["", "\"\"", "a", "A", "\"a,b\"", "1", "é", "\"x\ny\"", "01"]
    func edition(_ generator: inout SeededGenerator) -> String {
      let rows = (1...40).shuffled(using: &generator).prefix(Int.random(in: 0...30, using: &generator)).map { key in
        let value = "\(texts.randomElement(using: &generator)!),\(["", "1", "2.5"].randomElement(using: &generator)!)"
        return hasKey ? "\(key),\(value)\n" : "\(value)\n"
      }
      return (hasKey ? "k,t,r\n" : "t,r\n") + rows.joined()
    }
    try prepare("CREATE TABLE t(\(hasKey ? "k" : "id") INTEGER PRIMARY KEY, t TEXT, r REAL)")
    let columns = hasKey ? "k, t, r" : "t, r"
    for round in 0..<60 {
      let text = edition(&generator)
      let before = try folder.rows("SELECT \(columns) FROM t")
      let summary = try merge(text)
      // What an import into a table without a row gives.
      try? FileManager.default.removeItem(atPath: folder.path("fresh.sqlite"))
      let types = hasKey ? "k INTEGER, t TEXT, r REAL" : "t TEXT, r REAL"
      _ = try SQLiteShell(path: folder.path("fresh.sqlite")).run("CREATE TABLE t(\(types));")
      try folder.importing(text, into: "fresh.sqlite") { $0.replaces = true }
      let after = try folder.rows("SELECT \(columns) FROM t")
      #expect(
        after.sorted() == (try folder.rows("SELECT * FROM t", of: "fresh.sqlite")).sorted(), "round \(round): \(text)")
      var rest = before
      let kept = after.count { row in rest.firstIndex(of: row).map { rest.remove(at: $0) } != nil }
      #expect(summary.rows - summary.inserted - summary.updated == kept, "round \(round): \(text)")
      #expect(try touched().count == summary.inserted + summary.updated + summary.deleted)
    }
  }
}
