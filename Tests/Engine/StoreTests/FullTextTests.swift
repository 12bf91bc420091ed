import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Store

/// Freshet's own snippet and highlight, compared with FTS5's.
@Suite struct FullTextTests {
  private final class Connection {
    let handle: OpaquePointer

    init(isOurs: Bool) throws {
      var handle: OpaquePointer?
      sqlite3_open(":memory:", &handle)
      self.handle = try #require(handle)
      if isOurs { try ConnectionLimits.apply(to: self.handle) }
      try PreparedStatement.run(self.handle, "CREATE VIRTUAL TABLE f USING fts5(a, b)")
    }

    deinit { sqlite3_close(handle) }

    func values(_ sql: String) -> [String] {
      var result: [String] = []
      do throws(SQLiteFailure) {
        let statement = try PreparedStatement(handle, sql, isPersistent: false)
        while try statement.step() { result.append(statement.text(0) ?? "NULL") }
      } catch { result.append("error: \(error.message)") }
      return result
    }
  }

  private static let words = ["x", "y", "z", "xy", "x.", "y:", "X", "word", "z. ", "ä", "x-y", "  "]

  private static let searches = [
    "x", "x y", "x OR y", "\"x y\"", "\"x x\" OR x", "a:x", "xy* OR \"y z\" OR \"z x\"",
    "x OR \"x x\" OR \"x x x\"", "\"x y\" OR \"y x\"", "word NOT z",
  ]

  @Test func giveWhatSQLiteGives() throws {
    let seed = PropertySeeds.repeated ?? .random(in: 0...9_999)
    var generator = SeededGenerator(seed: seed)
    let connections = try [Connection(isOurs: false), Connection(isOurs: true)]
    for row in 0..<200 {
      let texts = (0..<2).map { _ in
        (0..<Int.random(in: 0...(row % 10 == 0 ? 300 : 20), using: &generator)).map { _ in
          Self.words.randomElement(using: &generator)! + (Int.random(in: 0..<9, using: &generator) == 0 ? "" : " ")
        }.joined()
      }
      for connection in connections {
        try PreparedStatement.run(connection.handle, "INSERT INTO f VALUES ('\(texts[0])', '\(texts[1])')")
      }
    }
    for search in Self.searches {
      let calls =
        (0..<2).map { "highlight(f, \($0), '[', ']')" }
        + [-1, 0, 1].flatMap { column in
          [-1, 0, 1, 2, 5, 10, 64].map { "snippet(f, \(column), '[', ']', '...', \($0))" }
        }
      for call in calls {
        let sql = "SELECT \(call) FROM f WHERE f MATCH '\(search)'"
        let expected = connections[0].values(sql)
        if connections[1].values(sql) != expected { Issue.record("seed \(seed): \(sql)") }
      }
    }
  }

  @Test(arguments: ["highlight(f, 0, '[', ']')", "snippet(f, -1, '[', ']', '...', 10)"])
  func aRowThatIsTooLongIsRefused(call: String) throws {
    let connection = try Connection(isOurs: true)
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT"
    try PreparedStatement.run(
      connection.handle, "INSERT INTO f \(rows) 100000) SELECT group_concat('x', ' '), 'y' FROM n")
    let sql = "SELECT length(\(call)) FROM f WHERE f MATCH 'x'"
    #expect(connection.values(sql).allSatisfy { Int($0) != nil }, "far from the bound")
    try PreparedStatement.run(
      connection.handle, "INSERT INTO f \(rows) 1100000) SELECT group_concat('x', ' '), 'y' FROM n")
    #expect(connection.values(sql).last == "error: snippet or highlight has a row that is too long")
  }
}
