import Foundation
import GRDB
import TestSupport
import Testing

@testable import Import

/// What the `sqlite3` shell writes as CSV, and what it makes of the same file.
@Suite struct OracleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let pieces = [
    "a", "Z", "0", "7", "-", ".", ",", ";", "\t", "\"", "\"\"", "'", "\n", "\r\n", " ", "é", "東", "😀", "NULL",
    "\u{FEFF}",
  ]

  private func text(_ generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...6, using: &generator)).map { _ in Self.pieces.randomElement(using: &generator)! }.joined()
  }

  /// Values of every kind, written by the shell and read again.
  @Test(arguments: 1...12)
  func `What the shell writes comes back`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var script = "CREATE TABLE source(n INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, u TEXT);\n"
    for row in 1...200 {
      let integer = [0, 1, -1, .max, .min, Int64.random(in: -99...99, using: &generator)].randomElement(
        using: &generator)!
      let real = Double(Int.random(in: -9_999...9_999, using: &generator)) / 8
      let texts = (0..<2).map { _ in "'\(text(&generator).replacing("'", with: "''"))'" }
      let values = (["\(integer)", "\(real)"] + texts).map {
        Int.random(in: 0..<5, using: &generator) == 0 ? "NULL" : $0
      }
      script += "INSERT INTO source VALUES (\(row), \(values.joined(separator: ", ")));\n"
    }
    let shell = SQLiteShell(path: folder.path("source.sqlite"))
    _ = try shell.run(script)
    let written = try shell.run(
      ".headers on\n.mode csv\n.once \(folder.path("shell.csv"))\nSELECT * FROM source ORDER BY n;\n")
    #expect(written == "")
    var options = CSVImport.Options()
    options.textColumns = ["t", "u"]
    options.key = "n"
    let file = try CSVFile(folder.path("shell.csv"))
    let summary = try CSVImport(file, table: "source", options: options).run(into: folder.path("back.sqlite"))
    #expect(summary.rows == 200)
    let all = "SELECT * FROM source ORDER BY n"
    #expect(try folder.rows(all, of: "back.sqlite") == folder.rows(all, of: "source.sqlite"), "seed \(seed)")
  }

  /// Files as other programs write them: quotes where none are needed, either line's end, the last line open.
  @Test(arguments: 1...40)
  func `The shell reads the same`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(1_000 + seed))
    let width = Int.random(in: 2...5, using: &generator)
    let end = Bool.random(using: &generator) ? "\n" : "\r\n"
    func field() -> String {
      let text = text(&generator)
      let needsQuotes = text.contains { $0 == "," || $0 == "\"" || $0.isNewline } || text.contains("\r")
      guard needsQuotes || Bool.random(using: &generator) else { return text }
      return "\"\(text.replacing("\"", with: "\"\""))\""
    }
    var lines = [(1...width).map { "c\($0)" }.joined(separator: ",")]
    for _ in 1...150 { lines.append((0..<width).map { _ in field() }.joined(separator: ",")) }
    let content = lines.joined(separator: end) + (Bool.random(using: &generator) ? end : "")
    _ = try folder.csv(content)
    let definition = "CREATE TABLE t(\((1...width).map { "c\($0) TEXT" }.joined(separator: ", ")));"
    let path = folder.path("list.csv")
    let printed = try SQLiteShell(path: folder.path("shell.sqlite")).run(
      "\(definition)\n.mode csv\n.import --skip 1 \(path) t\n")
    #expect(printed == "")
    try folder.importing(content) { $0.textColumns = (1...width).map { "c\($0)" } }
    // The shell knows no NULL in a file.
    let list = (1...width).map { "coalesce(c\($0), '')" }.joined(separator: ", ")
    let sql = "SELECT \(list) FROM t ORDER BY rowid"
    #expect(try folder.rows(sql) == folder.rows(sql, of: "shell.sqlite"), "seed \(seed): \(content)")
  }
}
