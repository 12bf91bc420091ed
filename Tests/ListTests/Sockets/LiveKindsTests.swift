import Foundation
import ServerSupport
import TestSupport
import Testing

/// Queries of every kind, over files of every kind, full and windowed, through random commits of another process: after
/// each commit the client's rows equal SQLite's own answer. (`LivePropertyTests` does so for one table in every form.)
///
/// `FRESHET_SEED=n swift test --filter LiveKindsTests` repeats a failure.
@Suite(.serialized) struct LiveKindsTests {
  enum File: String, CaseIterable, CustomTestStringConvertible {
    /// WAL mode; WAL mode with small pages; with so little memory that tables are followed by pages; a rollback
    /// journal.
    case wal, smallPages, largeTables, rollbackJournal
    var testDescription: String { rawValue }
  }

  private static let commits = 20
  static let kinds: [(name: String, queries: [OracleQuery])] = [
    ("joins", LiveLibrary.joins), ("groups", LiveLibrary.groups), ("others", LiveLibrary.others),
    ("whole", LiveLibrary.whole),
  ]

  @Test(arguments: PropertySeeds.kept("kinds.json"), File.allCases)
  func clientsAgreeWithSQLite(seed: UInt64, file: File) throws {
    for (name, queries) in Self.kinds {
      var generator = SeededGenerator(seed: seed &+ 2)
      let problem = try Self.run(queries.map { vary($0, &generator) }, seed, file).report(
        "\(name)-\(file.rawValue)-\(seed)")
      #expect(problem == nil, "FRESHET_SEED=\(seed), \(file.rawValue), \(name)")
    }
  }

  /// Queries over the library, compared after every commit.
  static func run(
    _ queries: [OracleQuery], _ seed: UInt64, _ file: File, schema: RandomSchema = LiveLibrary.schema
  ) -> ListRun {
    var statements = StatementGenerator(schema: schema, seed: seed)
    let pages = file == .smallPages ? "PRAGMA page_size = 512;\n" : ""
    let mode = file == .rollbackJournal ? "" : "\nPRAGMA journal_mode = WAL;"
    let preparation = [statements.pragmas()] + (0..<10).map { _ in statements.commit() }
    let steps = (0..<commits).flatMap { step -> [RunStep] in
      [.commit(step == 12 ? "VACUUM;" : statements.commit()), .compare]
    }
    return ListRun(
      .sockets, setUp: pages + schema.sql + mode, preparation: preparation.joined(separator: "\n"),
      captureBytes: file == .largeTables ? 0 : nil, queries, steps: steps)
  }

  /// The query with some order, sections, limit and window.
  private func vary(_ query: OracleQuery, _ generator: inout SeededGenerator) -> OracleQuery {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    var query = query
    // A window function divides SQLite's own answer into sections, so the query itself must not have one.
    let names = query.select.map { $0.components(separatedBy: " AS ")[0] }.filter { !$0.contains("OVER") }
    if pick([true, true, false]) { query.orderBy = [pick(names) + pick(["", " DESC", " NULLS LAST"])] }
    if pick([true, false]) { query.section = (pick(names), pick([true, false])) }
    let limit = pick([nil, nil, nil, 3])
    if query.totals.isEmpty { query.limit = limit }
    query.window = pick([nil, nil, (0, 2), (2, 3)])
    return query
  }
}
