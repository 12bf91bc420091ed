import Foundation
import FreshetClient
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing

/// Random local changes through a controller, with a window or without, others by another connection, refused ones, and
/// breaks of the connection. Whenever all writes are answered and the list has caught up, it equals SQLite's answer
/// with nothing pending; and each patch leads from the results before it to those after it.
///
/// `FRESHET_SEED=n swift test --filter OptimisticPropertyTests` repeats a failure.
@MainActor @Suite(.serialized) struct OptimisticPropertyTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT CHECK (state <> 'bad'));
    INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'a', 'z'), (5, 'B', 'y'), (6, 'd ', 'z');
    """
  private nonisolated static let queries: [(query: Query, order: String)] = [
    (
      .init(from: "t", orderBy: ["name COLLATE NOCASE DESC"], sectionBy: "state"), "state, name COLLATE NOCASE DESC, id"
    ),
    (.init(from: "t", orderBy: ["name"]), "name, id"),
    (.init(from: "t", where: "name <> 'c'", orderBy: ["length(name)"], sectionBy: "state"), "state, length(name), id"),
  ]

  private nonisolated static let windows: [Range<Int>?] = [nil, 0..<3, 2..<4, 1..<50]

  @Test(arguments: PropertySeeds.kept("optimistic.json"), 0..<queries.count * windows.count)
  func listsShowWhatTheServerHas(seed: UInt64, index: Int) async throws {
    let (query, order) = Self.queries[index % Self.queries.count]
    let window = Self.windows[index / Self.queries.count]
    var generator = SeededGenerator(seed: seed)
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let transport = BreakableTransport()
    let database = try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
    let controller = database.results(query, window: window)
    let follower = PatchFollower()
    controller.delegate = follower
    try await controller.performFetch()
    follower.begin(controller)
    for round in 0..<8 {
      var writes: [Task<FreshetError?, Never>] = []
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        switch Int.random(in: 0..<9, using: &generator) {
        case 0 where window != nil:
          let offset = Int.random(in: 0..<6, using: &generator)
          controller.moveWindow(to: offset..<offset + Int.random(in: 1..<6, using: &generator))
        case 0, 8: await transport.breakConnections()
        case 1:
          try live.writer.run(
            "UPDATE t SET name = name || 'q' WHERE id % 3 = \(Int.random(in: 0..<3, using: &generator))")
        case 2: try live.writer.run("DELETE FROM t WHERE id = \(Int.random(in: 1..<9, using: &generator))")
        default:
          let (change, statement) = Self.write(&generator)
          writes.append(
            Task {
              do throws(FreshetError) { try await controller.optimistically(change, statement) } catch { return error }
              return nil
            })
          await Task.yield()
        }
      }
      for write in writes {
        let error = await write.value
        #expect(error == nil || error?.code == .constraint, "FRESHET_SEED=\(seed), round \(round): \(error!)")
      }
      let filter = query.filter.map { "WHERE \($0)" } ?? ""
      let sql = "SELECT id || ' ' || name || ' ' || coalesce(state, '-') FROM t \(filter) ORDER BY \(order)"
      let expected = try await live.queue.read { try String.fetchAll($0, sql: sql) }
      let agrees = await eventually {
        let held = controller.results.window ?? expected.indices
        return controller.results.count == expected.count && held.upperBound <= expected.count
          && Self.rows(controller) == Array(expected[held]) && !Self.isPending(controller)
      }
      #expect(
        agrees,
        "FRESHET_SEED=\(seed), round \(round): \(Self.rows(controller)), window \(controller.results.window.map { "\($0)" } ?? "none") of \(controller.results.count), pending \(Self.isPending(controller)), delay \(controller.delay.map { "\($0)" } ?? "none"), failure \(controller.failure.map { "\($0)" } ?? "none"), commit \(controller.results.commit), instead of \(expected)"
      )
      #expect(follower.problem == nil, "FRESHET_SEED=\(seed), round \(round): \(follower.problem!)")
      if !agrees { break }
    }
    database.close()
    live.stop()
  }

  @Test func `A write shows at once, waits while there is no server, and is taken back when it is refused`()
    async throws
  {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let transport = BreakableTransport()
    let database = try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
    let controller = database.results(.init(from: "t", orderBy: ["name"], sectionBy: "state"))
    try await controller.performFetch()
    transport.closeGate()
    await transport.breakConnections()
    #expect(await eventually { controller.delay != nil })
    let before = Self.rows(controller)
    let good = Task {
      try await controller.optimistically(
        [.update(["id": 1, "state": "z"]), .insert(["name": "new", "state": "new"])],
        "UPDATE t SET state = 'z' WHERE id = 1", "INSERT INTO t(name, state) VALUES ('new', 'new')")
    }
    #expect(await eventually { controller.results.isPending(at: .init(item: 0, section: 3)) })
    #expect(
      controller.sections.map(\.name) == ["new", "x", "y", "z"] && controller.sections.map(\.count) == [1, 1, 2, 3])
    #expect(controller.sections.map(\.indexTitle) == ["N", "X", "Y", "Z"])
    #expect(controller.results.rowIfLoaded(at: .init(item: 0, section: 3))?["id"] == 1)
    let bad = Task {
      try await controller.optimistically(.delete(["id": 2]), "DELETE FROM t WHERE id = 2", "SELECT nonsense")
    }
    #expect(await eventually { !controller.sections.contains { $0.name == "x" } })
    transport.openGate()
    let outcome = try await good.value
    #expect(outcome.statements.map(\.changes) == [1, 1])
    await #expect(throws: FreshetError.self) { try await bad.value }
    #expect(
      await eventually { !Self.isPending(controller) && controller.sections.map(\.name) == ["new", "x", "y", "z"] })
    #expect(
      Self.rows(controller) != before && controller.results.rowIfLoaded(at: .init(item: 0, section: 0))?["id"] == 7)
    let error = await #expect(throws: FreshetError.self) {
      try await controller.optimistically(.delete(["name": "a"]), "SELECT 1")
    }
    #expect(error?.code == .badQuery)
    database.close()
    live.stop()
  }

  @Test func `With a window, rows come, go and move at once`() async throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let transport = BreakableTransport()
    let database = try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
    let controller = database.results(.init(from: "t", orderBy: ["name"]), window: 1..<5)
    let follower = PatchFollower()
    controller.delegate = follower
    try await controller.performFetch()
    follower.begin(controller)
    #expect(Self.rows(controller) == ["1 a x", "4 a z", "2 b x", "3 c y"])
    transport.closeGate()
    await transport.breakConnections()
    #expect(await eventually { controller.delay != nil })
    let write = Task {
      try await controller.optimistically(
        [
          .delete(["id": 2]), .insert(["id": 9, "name": "ab", "state": "x"]), .update(["id": 1, "name": "bb"]),
          .insert(["id": 10, "name": "zz", "state": "x"]),
        ],
        "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (9, 'ab', 'x'), (10, 'zz', 'x')",
        "UPDATE t SET name = 'bb' WHERE id = 1")
    }
    #expect(await eventually { Self.isPending(controller) })
    #expect(Self.rows(controller) == ["4 a z", "9 ab x", "1 bb x", "3 c y"])
    // The last row belongs after rows that are not held, so it is only counted.
    #expect(controller.results.count == 7)
    transport.openGate()
    _ = try await write.value
    #expect(await eventually { !Self.isPending(controller) && Self.rows(controller).contains("9 ab x") })
    #expect(controller.results.count == 7)
    if let problem = follower.problem { Issue.record("\(problem)") }
    database.close()
    live.stop()
  }

  @Test func `A write that the list does not show is not pending for ever`() async throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let database = try RemoteDatabase("http://127.0.0.1:\(live.server.port)")
    let controller = database.results(.init(from: "t", where: "state = 'x'"), window: 0..<10)
    try await controller.performFetch()
    try await controller.optimistically(
      .update(["id": 1, "name": "never"]), "UPDATE t SET name = 'other' WHERE id = 6")
    #expect(await eventually { Self.rows(controller) == ["1 a x", "2 b x"] && !Self.isPending(controller) })
    database.close()
    live.stop()
  }

  @Test func `A thousand transactions wait, and no more`() async throws {
    let transport = BreakableTransport()
    transport.closeGate()
    let database = try RemoteDatabase("http://127.0.0.1:1", transport: transport)
    await withTaskGroup(of: ErrorCode?.self) { group in
      for _ in 0...1_000 {
        group.addTask {
          do { try await database.transact("SELECT 1") } catch { return (error as? FreshetError)?.code }
          return nil
        }
      }
      // The other transactions wait.
      #expect(await group.next() == .queueFull)
      database.close()
      for await code in group { #expect(code == .disconnected) }
    }
    transport.openGate()
  }

  private static func write(_ generator: inout SeededGenerator) -> (OptimisticChange, SQLStatement) {
    let id = SQLValue.integer(.random(in: 1..<9, using: &generator))
    let name = SQLValue.text(["a", "B", "b", "c", "dd", "e "].randomElement(using: &generator)!)
    let state: SQLValue = ["x", "y", "z", "v", nil, "bad"].randomElement(using: &generator)!
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: return (.delete(["id": id]), SQLStatement("DELETE FROM t WHERE id = ?", [id]))
    case 1:
      return (
        .insert(["id": id, "name": name, "state": state]),
        SQLStatement("INSERT INTO t VALUES (?, ?, ?)", [id, name, state])
      )
    case 2:
      return (
        .insert(["name": name, "state": state]),
        SQLStatement("INSERT INTO t(name, state) VALUES (?, ?)", [name, state])
      )
    case 3: return (.update(["id": id, "name": name]), SQLStatement("UPDATE t SET name = ? WHERE id = ?", [name, id]))
    default:
      return (.update(["id": id, "state": state]), SQLStatement("UPDATE t SET state = ? WHERE id = ?", [state, id]))
    }
  }

  private static func rows(_ controller: FetchedResultsController<ResultRow>) -> [String] {
    controller.results.objects.compactMap(\.self).map(PatchFollower.text)
  }

  private static func isPending(_ controller: FetchedResultsController<ResultRow>) -> Bool {
    let results = controller.results
    return (0..<results.count).contains { results.isPending(at: results.indexPath(atOffset: $0)!) }
  }

}

/// Applies each patch to the former results, and compares them with the new ones.
@MainActor private final class PatchFollower: @MainActor FetchedResultsControllerDelegate {
  private var rows: [[String]] = []
  private(set) var problem: String?

  func begin(_ controller: FetchedResultsController<ResultRow>) { rows = Self.rows(controller.results) }

  func controllerDidReplaceContent(_ controller: FetchedResultsController<ResultRow>) { begin(controller) }

  func controller(
    _ controller: FetchedResultsController<ResultRow>, didApply patch: ResultsPatch, to old: SectionedResults<ResultRow>
  ) {
    let expected = Self.rows(controller.results)
    for path in (patch.deletions + patch.moves.map(\.from)).sorted(by: >) { rows[path.section].remove(at: path.item) }
    for index in patch.deletedSections.reversed() { rows.remove(at: index) }
    for index in patch.insertedSections { rows.insert(expected[index], at: index) }
    for path in (patch.insertions + patch.moves.map(\.to)).sorted() {
      rows[path.section].insert(expected[path.section][path.item], at: path.item)
    }
    for change in patch.updates {
      rows[change.to.section][change.to.item] = expected[change.to.section][change.to.item]
    }
    for path in patch.loaded { rows[path.section][path.item] = expected[path.section][path.item] }
    if let window = controller.results.window {
      for offset in 0..<controller.results.count where !window.contains(offset) {
        let path = controller.results.indexPath(atOffset: offset)!
        guard rows.indices.contains(path.section), rows[path.section].indices.contains(path.item) else { break }
        rows[path.section][path.item] = "-"
      }
    }
    if rows != expected, problem == nil { problem = "\(patch) leads to \(rows) instead of \(expected)" }
    rows = expected
  }

  private static func rows(_ results: SectionedResults<ResultRow>) -> [[String]] {
    results.sections.map { $0.objects.map { $0.map(text) ?? "-" } }
  }

  static func text(_ row: ResultRow) -> String { row.values.map(plain).joined(separator: " ") }

  private static func plain(_ value: SQLValue) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .text(let text): text
    default: "?"
    }
  }
}
