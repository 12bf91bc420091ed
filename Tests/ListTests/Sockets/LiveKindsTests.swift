import Controllers
import Foundation
import GRDB
import Server
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// Queries of every kind, over files of every kind, full and windowed, through random commits of another process: what the
/// client holds after each is what SQLite answers itself. (`LivePropertyTests` does so for one table in every form.)
///
/// `FRESHET_SEED=n swift test --filter LiveKindsTests` repeats a failure.
@Suite(.serialized) struct LiveKindsTests {
  enum File: String, CaseIterable, CustomTestStringConvertible {
    /// In WAL mode; the same with small pages; with so little memory that tables are followed by pages; in a rollback journal.
    case wal, smallPages, largeTables, rollbackJournal
    var testDescription: String { rawValue }
  }

  private static let commits = 20
  static let kinds: [(name: String, queries: [OracleQuery])] = [
    ("joins", LiveLibrary.joins), ("groups", LiveLibrary.groups), ("others", LiveLibrary.others),
  ]

  @Test(arguments: PropertySeeds.kept("kinds.json"), File.allCases)
  func clientsAgreeWithSQLite(seed: UInt64, file: File) throws {
    for (name, queries) in Self.kinds {
      var generator = SeededGenerator(seed: seed &+ 2)
      try Self.follow(queries.map { vary($0, &generator) }, name, seed, file)
    }
  }

  /// Subscribes to queries over the library, and compares what the client holds after every commit.
  static func follow(
    _ queries: [OracleQuery], _ kind: String, _ seed: UInt64, _ file: File, schema: RandomSchema = LiveLibrary.schema
  )
    throws
  {
    var statements = StatementGenerator(schema: schema, seed: seed)
    let pages = file == .smallPages ? "PRAGMA page_size = 512;" : ""
    let live = try LiveServer(pages + schema.sql, isWAL: file != .rollbackJournal) {
      $0.selfCheck = .always
      if file == .largeTables { $0.captureMemory = 0 }
    }
    try live.writer.run(statements.pragmas())
    for _ in 0..<10 { try live.writer.run(statements.commit()) }
    let client = try live.connect()
    let asked = queries.enumerated().map { (id: "\(kind) \($0)", query: $1) }
    for (id, query) in asked {
      try client.subscribe(id, query.json, window: query.window)
      let isRefused = client.ended[id].map { $0 != "duplicate_key" } ?? false
      #expect(!isRefused, "\(client.line(id)): \(query.json)")
      if isRefused { return }
    }
    var before: [String: OracleQuery.Answer] = [:]
    for step in 0..<commits {
      let commit = step == 12 ? "VACUUM;" : statements.commit()
      try live.writer.run(commit)
      try client.catchUp(asked.map(\.id))
      for (id, query) in asked {
        let answer = try live.queue.read { try query.answer($0) }
        let context =
          "FRESHET_SEED=\(seed), \(file.rawValue), \(id), step \(step), \(query.json) \(String(describing: query.window)) "
          + "after:\n\(commit)"
        let hadDuplicates = answer.hasDuplicates || before[id]?.hasDuplicates ?? true
        before[id] = answer
        if client.ended[id] != nil {
          #expect(client.ended[id] == "duplicate_key" && hadDuplicates, "\(client.line(id)): \(context)")
          try client.subscribe(id, query.json, window: query.window)
          continue
        }
        #expect(!answer.hasDuplicates, "\(context)")
        let difference = client.models[id]?.difference(from: answer)
        #expect(difference == nil, "\(context)")
        if difference != nil { return }
      }
    }
    live.stop()
  }

  /// The query with some order, sections, limit and window.
  private func vary(_ query: OracleQuery, _ generator: inout SeededGenerator) -> OracleQuery {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    var query = query
    // SQLite's own answer is cut into sections by a window function, which takes no other.
    let names = query.select.map { $0.components(separatedBy: " AS ")[0] }.filter { !$0.contains("OVER") }
    if pick([true, true, false]) { query.orderBy = [pick(names) + pick(["", " DESC", " NULLS LAST"])] }
    if pick([true, false]) { query.section = (pick(names), pick([true, false])) }
    query.limit = pick([nil, nil, nil, 3])
    query.window = pick([nil, nil, (0, 2), (2, 3)])
    return query
  }
}
