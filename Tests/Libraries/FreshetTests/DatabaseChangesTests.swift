import Foundation
import Freshet
import TestSupport
import Testing

/// `LiveDatabase.changes(of:)`.
@Suite struct DatabaseChangesTests {
  private let folder: TemporaryFolder
  private let database: LiveDatabase
  private var path: String { folder.path("t.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
    try SQLiteShell(path: folder.path("t.sqlite")).run(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT, total REAL, data BLOB);
      INSERT INTO orders VALUES (1, 'new', 10, NULL), (2, 'new', 9007199254740993, x'00');
      """)
    database = try LiveDatabase(path: folder.path("t.sqlite"))
  }

  private func write(_ sql: String) throws { try SQLiteShell(path: path).run(sql) }

  @Test func `Changes of other processes come with what was and what is`() async throws {
    var iterator = database.changes(
      of: ["orders"], columns: ["orders": ["status", "data"]], where: ["orders": "id < 3"]
    ).makeAsyncIterator()
    guard case .position(let start)? = try await iterator.next() else { throw CancellationError() }
    var changes: [RowChange] = []
    var position = start
    for sql in [
      "UPDATE orders SET status = 'paid' WHERE id = 1", "DELETE FROM orders WHERE id = 2", "DELETE FROM orders",
    ] {
      try write(sql)
      guard case .commit(let at, _, 1, let more)? = try await iterator.next() else { throw CancellationError() }
      changes += more
      position = at
    }
    #expect(
      changes.map(\.operation) == [.update, .delete, .delete] && changes.map(\.key["id"]) == [1, 2, 1])
    #expect(changes[0].old == ["status": "new"] && changes[0].new == ["status": "paid", "data": nil])
    #expect(changes[1].old == ["status": "new", "data": .blob([0])] && changes[1].new == nil)
    // Another reader continues from the position where this one began.
    var again = database.changes(
      of: ["orders"], columns: ["orders": ["status", "data"]], where: ["orders": "id < 3"], since: start
    ).makeAsyncIterator()
    guard case .commit(_, _, _, let first)? = try await again.next() else { throw CancellationError() }
    #expect(first == [changes[0]] && position != start)
    var late = database.changes(since: "nonsense").makeAsyncIterator()
    guard case .gap? = try await late.next() else { throw CancellationError() }
    database.close()
  }

  @Test func `With a folder for states the next database goes on from a position`() async throws {
    var configuration = LiveDatabase.Configuration()
    configuration.stateFolder = folder.path("states")
    func opened() throws -> LiveDatabase { try LiveDatabase(path: path, configuration: configuration) }
    let first = try opened()
    var iterator = first.changes().makeAsyncIterator()
    guard case .position? = try await iterator.next() else { throw CancellationError() }
    try write("UPDATE orders SET total = 11 WHERE id = 1")
    guard case .commit(let position, _, _, _)? = try await iterator.next() else { throw CancellationError() }
    first.close()
    try write("DELETE FROM orders WHERE id = 2")
    let second = try opened()
    var next = second.changes(since: position).makeAsyncIterator()
    guard case .commit(_, _, _, let changes)? = try await next.next() else { throw CancellationError() }
    #expect(changes.map(\.operation) == [.delete] && changes.first?.old?["total"] == 9_007_199_254_740_993.0)
    second.close()
    // Without a folder to keep state, a position is invalid later.
    var lost = database.changes(since: position).makeAsyncIterator()
    guard case .gap? = try await lost.next() else { throw CancellationError() }
    // An unusable folder is only a warning.
    configuration.stateFolder = path
    let third = try opened()
    var working = third.changes().makeAsyncIterator()
    guard case .position? = try await working.next() else { throw CancellationError() }
    third.close()
  }

  @Test func `What is wrong is thrown, and so are the database's end and the task's`() async throws {
    for changes in [
      database.changes(of: ["nosuch"]), database.changes(of: []), database.changes(where: ["orders": "("]),
      database.changes(of: ["orders"], columns: ["other": ["a"]]),
    ] {
      var iterator = changes.makeAsyncIterator()
      await #expect(throws: FreshetError.self) { try await iterator.next() }
    }
    let (database, reading) = (
      database,
      Task { [database] in for try await _ in database.changes() {} }
    )
    try await Task.sleep(for: .milliseconds(100))
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    let other = Task { for try await _ in database.changes() {} }
    try await Task.sleep(for: .milliseconds(100))
    database.close()
    await #expect(throws: FreshetError.self) { try await other.value }
    var closed = database.changes().makeAsyncIterator()
    await #expect(throws: FreshetError.self) { try await closed.next() }
  }

  @Test func `A slow reader waits for nobody, and gets all of it`() async throws {
    var iterator = database.changes().makeAsyncIterator()
    _ = try await iterator.next()
    let updates = String(repeating: "UPDATE orders SET total = total + 1 WHERE id = 1;", count: 300)
    try write(updates)
    try await Task.sleep(for: .milliseconds(300))
    var commits = 0
    while commits < 300 {
      switch try await iterator.next() {
      case .commit(_, _, let count, _)?: commits += count
      // On a busy machine, a minute may pass without another message; then a position comes.
      case .position?: continue
      case let other: Issue.record("\(String(describing: other))"); return
      }
    }
    #expect(commits == 300)
    database.close()
  }
}
