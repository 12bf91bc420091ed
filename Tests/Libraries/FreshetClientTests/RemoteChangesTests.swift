import FreshetClient
import FreshetResults
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing

/// `RemoteDatabase.changes(of:)`, over real sockets.
@Suite struct RemoteChangesTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT, total REAL, data BLOB);
    INSERT INTO orders VALUES (1, 'new', 10, NULL), (2, 'new', 9007199254740993, x'00'), (3, 'paid', 1, NULL);
    """

  private func serve() throws -> LiveServer {
    let live = try LiveServer(Self.schema)
    try live.beginWAL()
    return live
  }

  private func remote(_ live: LiveServer, _ transport: any LiveTransport = defaultTransport) throws -> RemoteDatabase {
    try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
  }

  /// The changes of the next message.
  private func changes(_ iterator: inout DatabaseChanges.Iterator) async throws -> [RowChange] {
    guard case .commit(_, _, _, let changes)? = try await iterator.next() else { throw CancellationError() }
    return changes
  }

  @Test func `Changes come with what was and what is, and go on from a position`() async throws {
    let live = try serve()
    let database = try remote(live)
    var iterator = database.changes(
      of: ["orders"], columns: ["orders": ["status", "data"]], where: ["orders": "id < 3"]
    ).makeAsyncIterator()
    guard case .position(let start)? = try await iterator.next() else { throw CancellationError() }
    try live.writer.run("UPDATE orders SET status = 'paid' WHERE id = 1; DELETE FROM orders WHERE id > 1")
    let updated = try await changes(&iterator)
    #expect(updated.map(\.operation) == [.update] && updated[0].key == ["id": 1])
    #expect(updated[0].old == ["status": "new"] && updated[0].new == ["status": "paid", "data": nil])
    let deleted = try await changes(&iterator)
    #expect(deleted.map(\.operation) == [.delete] && deleted[0].old == ["status": "new", "data": .blob([0])])
    var later = database.changes(of: ["orders"], columns: ["orders": ["total"]], since: start).makeAsyncIterator()
    let totals = try await changes(&later).map(\.old)
    #expect(totals == [["total": .real(9_007_199_254_740_992)], ["total": .real(1)]])
    var late = database.changes(since: "nonsense").makeAsyncIterator()
    guard case .gap? = try await late.next() else { throw CancellationError() }
    live.stop()
  }

  @Test func `A connection that breaks loses no change`() async throws {
    let live = try serve()
    let transport = BreakableTransport()
    let database = try remote(live, transport)
    var iterator = database.changes(of: ["orders"]).makeAsyncIterator()
    _ = try await iterator.next()
    var statuses: [SQLValue?] = []
    for run in 0..<5 {
      try live.writer.run("UPDATE orders SET status = 'a\(run)' WHERE id = 1")
      statuses += try await changes(&iterator).map { $0.new?["status"] }
      transport.closeGate()
      await transport.breakConnections()
      try live.writer.run("UPDATE orders SET status = 'b\(run)' WHERE id = 1")
      transport.openGate()
      statuses += try await changes(&iterator).map { $0.new?["status"] }
    }
    #expect(statuses == (0..<5).flatMap { [.text("a\($0)"), .text("b\($0)")] })
    #expect(transport.connections.load(ordering: .relaxed) == 6)
    live.stop()
  }

  @Test func `One who reads slowly gets all of it once`() async throws {
    let live = try serve()
    let database = try remote(live)
    var iterator = database.changes(of: ["orders"]).makeAsyncIterator()
    _ = try await iterator.next()
    // More messages than may wait for a reader.
    for number in 0..<5 {
      try live.writer.run(
        (0..<700).map { "UPDATE orders SET total = \(number * 700 + $0) WHERE id = 1;\n" }.joined())
    }
    try await Task.sleep(for: .milliseconds(500))
    var commits = 0
    var last = -1.0
    while commits < 3_500 {
      guard case .commit(_, _, let count, let changes)? = try await iterator.next() else { throw CancellationError() }
      commits += count
      guard case .real(let total)? = changes.last?.new?["total"] else { throw CancellationError() }
      #expect(total > last && Int(total) == commits - 1)
      last = total
    }
    #expect(commits == 3_500)
    live.stop()
  }

  @Test func `What is wrong is thrown, and so are the end of the database and of the task`() async throws {
    let live = try serve()
    let database = try remote(live)
    for changes in [
      database.changes(of: ["nosuch"]), database.changes(of: []), database.changes(where: ["orders": "("]),
      database.changes(of: ["orders"], columns: ["other": ["a"]]),
    ] {
      var iterator = changes.makeAsyncIterator()
      await #expect(throws: FreshetError.self) { try await iterator.next() }
    }
    let reading = Task { for try await _ in database.changes() {} }
    try await Task.sleep(for: .milliseconds(100))
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    let other = Task { for try await _ in database.changes() {} }
    try await Task.sleep(for: .milliseconds(100))
    database.close()
    let error = await #expect(throws: FreshetError.self) { try await other.value }
    #expect(error?.code == .disconnected)
    var closed = database.changes().makeAsyncIterator()
    await #expect(throws: FreshetError.self) { try await closed.next() }
    live.stop()
  }
}
