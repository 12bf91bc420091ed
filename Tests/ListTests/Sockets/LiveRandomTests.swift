import Foundation
import TestSupport
import Testing

/// Random queries through random commits: joins of two to four tables by anything, filters with subqueries, groups,
/// orders, sections, limits, windows and keys; SQLite is the oracle.
///
/// `FRESHET_SEED=n swift test --filter LiveRandomTests` repeats a failure; `FRESHET_SEEDS=200` tries 200 fresh seeds.
/// Seeds that failed once are in `Fixtures/random.json`, and run first.
@Suite(.serialized) struct LiveRandomTests {
  private static let seeds = PropertySeeds.freshOrKept("random.json")

  /// The name lets texts be generated that sort differently in UTF-16 and by code point.
  private static let utf16 = RandomSchema(
    description: "UTF-16", sql: "PRAGMA encoding = 'UTF-16';\n" + LiveLibrary.schema.sql,
    tables: LiveLibrary.schema.tables)

  @Test(arguments: seeds)
  func clientsAgreeWithSQLite(seed: UInt64) throws {
    var random = RandomQueries(seed: seed)
    let queries = (0..<16).map { _ in random.query() }
    let files = LiveKindsTests.File.allCases
    let file = seed % 2 == 0 ? .wal : files[Int(seed / 2 % UInt64(files.count))]
    let schema = seed % 6 == 0 ? Self.utf16 : LiveLibrary.schema
    let problem = try LiveKindsTests.run(queries, seed, file, schema: schema).report("random-\(seed)")
    #expect(problem == nil, "FRESHET_SEED=\(seed), \(file.rawValue)")
  }
}
