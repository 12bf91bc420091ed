import FreshetClient
import Server
import ServerSupport
import TestSupport
import Testing

/// Lists of the Swift client: queries of every kind through random commits of another process, while connections break
/// now and then. After each commit a list equals SQLite's own answer, and each patch leads from the former results to
/// the new ones.
///
/// `FRESHET_SEED=n swift test --filter RemotePropertyTests` repeats a failure.
@Suite(.serialized) struct RemotePropertyTests {
  private static let commits = 15

  @Test(arguments: PropertySeeds.kept("remote.json"))
  func listsAgreeWithSQLite(seed: UInt64) async throws {
    var random = RandomQueries(seed: seed)
    var generator = SeededGenerator(seed: seed)
    let queries = LiveKindsTests.kinds.flatMap(\.queries) + (0..<8).map { _ in random.query() }
    var statements = StatementGenerator(schema: LiveLibrary.schema, seed: seed)
    let live = try LiveServer(LiveLibrary.schema.sql)
    try live.writer.run(statements.pragmas())
    for _ in 0..<10 { try live.writer.run(statements.commit()) }
    let transport = BreakableTransport()
    let database = try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
    var lists = try WatchedLists(queries) { database.results($0, window: $1).updates }
    for step in 0..<Self.commits {
      let commit = step == 9 ? "VACUUM;" : statements.commit()
      let breaks = Int.random(in: 0..<4, using: &generator) == 0
      if breaks { await transport.breakConnections() }
      try live.writer.run(commit)
      let difference = try await lists.difference(from: live.queue)
      #expect(difference == nil, "FRESHET_SEED=\(seed), step \(step), breaks \(breaks), after:\n\(commit)")
      if difference != nil { return }
    }
    lists.stop()
    database.close()
  }
}
