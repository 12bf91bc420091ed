import Foundation
import Freshet
import GRDB
import TestSupport
import Testing

/// Lists in this process: queries of every kind, over files of every kind, through random commits of another process.
/// After each commit a list equals SQLite's own answer, and each patch leads from the former results to the new ones.
///
/// `FRESHET_SEED=n swift test --filter EmbeddedPropertyTests` repeats a failure.
@Suite(.serialized) struct EmbeddedPropertyTests {
  private static let commits = 12

  @Test(arguments: PropertySeeds.kept("embedded.json"), LiveKindsTests.File.allCases)
  func listsAgreeWithSQLite(seed: UInt64, file: LiveKindsTests.File) async throws {
    var random = RandomQueries(seed: seed)
    let queries = LiveKindsTests.kinds.flatMap(\.queries) + (0..<8).map { _ in random.query() }
    var statements = StatementGenerator(schema: LiveLibrary.schema, seed: seed)
    let folder = try TemporaryFolder()
    let path = folder.path("library.sqlite")
    let writer = try SQLiteSession(path: path)
    if file == .smallPages { try writer.run("PRAGMA page_size = 512") }
    if file != .rollbackJournal { try writer.run("PRAGMA journal_mode = WAL") }
    try writer.run(LiveLibrary.schema.sql + ";" + statements.pragmas())
    for _ in 0..<10 { try writer.run(statements.commit()) }

    var configuration = LiveDatabase.Configuration()
    configuration.followers = Int(seed % 2) + 1
    if file == .largeTables { configuration.captureMemory = 0 }
    let database = try LiveDatabase(path: path, configuration: configuration)
    let oracle = try DatabaseQueue(path: path)
    var lists = try WatchedLists(queries) { database.results($0, window: $1).updates }
    for step in 0..<Self.commits {
      let commit = step == 7 ? "VACUUM;" : statements.commit()
      try writer.run(commit)
      let difference = try await lists.difference(from: oracle)
      #expect(difference == nil, "FRESHET_SEED=\(seed), \(file.rawValue), step \(step), after:\n\(commit)")
      if difference != nil { return }
    }
    lists.stop()
    database.close()
  }
}
