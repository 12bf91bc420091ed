import Foundation
import GRDB
import TestSupport
import Testing

@testable import Import

/// What becomes of a file that makes a table.
@Suite struct NewTableTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var schema: String {
    get throws {
      let quoted = try #require(folder.rows("SELECT sql FROM sqlite_master WHERE name = 't'").first)
      return String(quoted.dropFirst().dropLast())
    }
  }

  @Test(arguments: [
    // All values of a column say what it is, not some.
    ("a,b,c\n1,1,1\n2,2.5,x\n-3,3,3\n", ["1 1 1.0 '1'", "2 2 2.5 'x'", "3 -3 3.0 '3'"]),
    ("zip,n\n01234,0\n98765,10\n", ["1 '01234' 0", "2 '98765' 10"]),
    ("a,b\n\"1\",\"\"\n\"2\",\"3\"\n", ["1 1 NULL", "2 2 3"]),
    ("a,b\n,\n\"\",x\n", ["1 NULL NULL", "2 '' 'x'"]),
    ("a,b\nx,9007199254740993\ny,1.5\n", ["1 'x' '9007199254740993'", "2 'y' '1.5'"]),
    (
      "d,e\n18-May-12,2012-05-18\n,\n1-Jan-70,\"\"\n",
      ["1 '2012-05-18' '2012-05-18'", "2 NULL NULL", "3 '1970-01-01' NULL"]
    ),
    ("d\n5/4/2012\n5/18/2012\n", ["1 '2012-05-04'", "2 '2012-05-18'"]),
    ("d\n5/4/2012\n18/5/2012\n", ["1 '2012-04-05'", "2 '2012-05-18'"]),
    ("d\n5/4/2012\n6/12/2012\n", ["1 '5/4/2012'", "2 '6/12/2012'"]),
    ("d\n5/18/2012\n18/5/2012\n", ["1 '5/18/2012'", "2 '18/5/2012'"]),
    ("d\n18-May-12\n2012-05-18\n", ["1 '18-May-12'", "2 '2012-05-18'"]),
    ("d\n18-May-12\nsoon\n", ["1 '18-May-12'", "2 'soon'"]),
    // Lines without a character are rows where there is one column alone.
    ("a,b\n\n1,2\n\r\n3,4\n\n", ["1 1 2", "2 3 4"]), ("\n\na\n1\n\n2\n", ["1 1", "2 NULL", "3 2"]),
    ("a;b\n1;x,y\n", ["1 1 'x,y'"]), ("a,b\n", []), ("a", []),
  ])
  func `Values are stored as what all of their column are`(text: String, expected: [String]) throws {
    let summary = try folder.importing(text)
    #expect(try folder.rows("SELECT * FROM t") == expected)
    #expect(summary.rows == expected.count && summary.isNew)
  }

  @Test func `Types and names are told, and the file is whole and in WAL mode`() throws {
    let summary = try folder.importing("Bank Name,assets,cert\nx,1.5,7\ny,2,8\n")
    #expect(summary.description == "2 rows into t (id INTEGER, \"Bank Name\" TEXT, assets REAL, cert INTEGER)")
    let sql = #"CREATE TABLE "t"("id" INTEGER PRIMARY KEY, "Bank Name" TEXT, "assets" REAL, "cert" INTEGER)"#
    #expect(try schema == sql)
    #expect(try folder.rows("PRAGMA journal_mode") == ["'wal'"])
    #expect(try folder.names().filter { !$0.hasPrefix("db.sqlite-") } == ["db.sqlite", "list.csv"])
  }

  @Test(
    arguments: [
      ("id,a\n3,x\n1,y\n", nil, #"("id" INTEGER PRIMARY KEY, "a" TEXT)"#),
      ("a,ID\nx,3\ny,1\n", nil, #"("a" TEXT, "ID" INTEGER PRIMARY KEY)"#),
      ("id,a\n3,x\n3,y\n", nil, #"("row_id" INTEGER PRIMARY KEY, "id" INTEGER, "a" TEXT)"#),
      ("id,a\n3,x\n,y\n", nil, #"("row_id" INTEGER PRIMARY KEY, "id" INTEGER, "a" TEXT)"#),
      ("id,row_id\nx,1\ny,2\n", nil, #"("row_id2" INTEGER PRIMARY KEY, "id" TEXT, "row_id" INTEGER)"#),
      ("id,a\n3,5\n1,4\n", "A", #"("id" INTEGER, "a" INTEGER PRIMARY KEY)"#),
      ("id,a\n3,x\n1,y\n", "a", #"("id" INTEGER, "a" TEXT PRIMARY KEY NOT NULL)"#),
      ("d,a\n18-May-12,x\n19-May-12,y\n", "d", #"("d" TEXT PRIMARY KEY NOT NULL, "a" TEXT)"#),
    ] as [(String, String?, String)])
  func `The key`(text: String, key: String?, columns: String) throws {
    try folder.importing(text) { $0.key = key }
    #expect(try schema == "CREATE TABLE \"t\"\(columns)")
  }

  @Test func `What options ask for`() throws {
    try folder.importing("1,18-May-12\n01,19-May-12\n") {
      $0.hasHeader = false
      $0.keepsDates = true
    }
    #expect(try folder.rows("SELECT column1, column2 FROM t") == ["'1' '18-May-12'", "'01' '19-May-12'"])
    try folder.importing("a|b|c\n1|2012-01-01|5/18/2012\n", into: "text.sqlite") {
      $0.delimiter = UInt8(ascii: "|")
      $0.textColumns = ["A", "c"]
    }
    #expect(try folder.rows("SELECT a, b, c FROM t", of: "text.sqlite") == ["'1' '2012-01-01' '5/18/2012'"])
  }

  private static let faults: [(String, @Sendable (inout CSVImport.Options) -> Void, String)] = [
    ("a,b\n1,2\n1\n", { _ in }, "list.csv:3: expected 2 fields, found 1"),
    ("a,b\n\"1\n\n\",2\n1,2,3\n", { _ in }, "list.csv:5: expected 2 fields, found 3"),
    ("a\n1\n1,2\n", { _ in }, "list.csv:3: expected 1 field, found 2"),
    ("a,b\n1,\"2\n3,4\n", { _ in }, "list.csv:2: a quote that is opened here is never closed"),
    ("a,b\n1,x\n2,y\n1,z\n", { $0.key = "a" }, "list.csv:4: a second row with the key a 1"),
    ("a,b\nx,\"\n\"\ny,2\nx,3\n", { $0.key = "a" }, "list.csv:5: a second row with the key a x"),
    ("a,b\n1,x\n,y\n", { $0.key = "a" }, "list.csv:3: the key a is empty"),
    ("a,b\nx,x\n\"\",y\n", { $0.key = "a" }, "list.csv:3: the key a is empty"),
    ("a,b\n1,x\n", { $0.key = "c" }, "list.csv has no column c; it has a, b"),
    ("a,b c\n1,x\n", { $0.textColumns = ["d"] }, "list.csv has no column d; it has a, \"b c\""),
    ("", { _ in }, "list.csv is empty"), ("\n\r\n\n", { _ in }, "list.csv is empty"),
    ("a,b\r1,2\r", { _ in }, "list.csv:1: lines that end in CR alone: convert the file with tr '\\r' '\\n'"),
    (String(repeating: ",", count: 1_990), { _ in }, "list.csv has 1991 columns; a table has 1990 at most"),
  ]

  @Test(arguments: faults.indices)
  func `A mistake is told, and nothing is left`(index: Int) throws {
    let (text, configure, expected) = Self.faults[index]
    #expect(folder.message { try folder.importing(text, configure: configure) } == expected)
    #expect(try folder.names() == ["list.csv"])
    // In a database that is there, it is as if nobody had tried.
    _ = try SQLiteShell(path: folder.path("db.sqlite")).run("CREATE TABLE other(a); INSERT INTO other VALUES (1);")
    #expect(folder.message { try folder.importing(text, configure: configure) } == expected)
    #expect(try folder.rows("SELECT name FROM sqlite_master") == ["'other'"])
    #expect(try folder.names() == ["db.sqlite", "list.csv"])
  }

  @Test func `A table that is there is left alone, and other tables always`() throws {
    try folder.importing("a\n1\n")
    let message = folder.message { try folder.importing("a\n2\n") }
    #expect(message == "db.sqlite has a table t already; --replace brings it up to date")
    #expect(try folder.rows("SELECT * FROM t") == ["1 1"])
    _ = try CSVImport(try folder.csv("b\nx\n"), table: "u").run(into: folder.path("db.sqlite"))
    #expect(try folder.rows("SELECT * FROM t, u") == ["1 1 1 'x'"])
  }

  @Test(arguments: ["", "sqlite_x", "_freshet_log"])
  func `Names that a table cannot have`(name: String) throws {
    let file = try folder.csv("a\n1\n")
    #expect(throws: ImportError.self) { try CSVImport(file, table: name).run(into: folder.path("db.sqlite")) }
    #expect(try folder.names() == ["list.csv"])
  }

  @Test func `The widest table`() throws {
    let header = (1...1_990).map { "c\($0)" }.joined(separator: ",")
    let row = (1...1_990).map { "\($0)" }.joined(separator: ",")
    let summary = try folder.importing("\(header)\n\(row)\n")
    #expect(summary.description.hasSuffix("c11 INTEGER, and 1979 more columns)"))
    #expect(try folder.rows("SELECT c1, c1990 FROM t") == ["1 1990"])
    let again = try folder.importing("\(header)\n\(row)\n") { $0.replaces = true }
    #expect(again.inserted == 0 && again.deleted == 0)
  }

  @Test(arguments: [false, true])
  func `Whoever does not want it any more gets nothing`(isThere: Bool) throws {
    if isThere { try folder.importing("a\n1\n") }
    let names = try folder.names()
    let rows = (0..<5_000).map { "\($0),x\n" }.joined()
    let file = try folder.csv("a,b\n" + rows)
    // At every point at which it looks.
    for patience in 0..<9 {
      var looks = 0
      let task = CSVImport(
        file, table: "u",
        isCancelled: {
          looks += 1
          return looks > patience
        })
      let message = folder.message { _ = try task.run(into: folder.path("db.sqlite")) }
      #expect(message == "interrupted; nothing was imported", "after \(patience) looks")
      #expect(
        try folder.names().filter { !$0.hasPrefix("db.sqlite-") && $0 != "list.csv" }
          == names.filter { $0 == "db.sqlite" })
      if isThere { #expect(try folder.rows("SELECT name FROM sqlite_master") == ["'t'"]) }
    }
  }

  @Test func `Progress rises to twice the size`() throws {
    var seen: [Int] = []
    let file = try folder.csv("a,b\n" + (0..<3_500).map { "\($0),x\n" }.joined())
    _ = try CSVImport(file, table: "t", progress: { seen.append($0) }).run(into: folder.path("db.sqlite"))
    #expect(seen.count == 8 && seen == seen.sorted() && seen.last == 2 * file.size)
    #expect(seen[2] < file.size && seen[3] > file.size / 2 && seen[4] > file.size)
  }
}
