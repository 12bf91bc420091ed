import GRDB
import TestSupport
import Testing

@testable import ChangeCapture
@testable import Following
@testable import Store

/// Several captures of one file that share what they remember: each gets exactly the differences between the states
/// that it has seen, no matter which capture read them.
///
/// `FRESHET_SEED=n swift test --filter SharedCaptureTests` repeats a failure.
@Suite struct SharedCaptureTests {
  private static let commits = 120
  private let folder: TemporaryFolder
  private static let seed = PropertySeeds.repeated ?? .random(in: 0 ... .max)

  init() throws { folder = try TemporaryFolder() }

  /// The fields that are remembered, different ones for each capture.
  private static func remembered(_ number: Int) -> (DatabaseSchema.Table) -> [Int] {
    { table in (table.storage?.table.layout.columnBits.indices).map { $0.filter { $0 % 3 == number } } ?? [] }
  }

  private static func open(_ number: Int, _ path: String, _ captures: FileCaptures?) throws -> CaptureFixture {
    let fixture = try CaptureFixture(path: path, sharing: captures)
    try fixture.followAll(remembering: remembered(number))
    return fixture
  }

  @Test(arguments: RandomSchema.all)
  func everyoneIsToldEveryDifference(_ schema: RandomSchema) throws {
    var random = SeededGenerator(seed: Self.seed &+ UInt64(schema.description.utf8.count))
    let path = folder.path("t.sqlite")
    let mode = Int.random(in: 0..<4, using: &random) == 0 ? "DELETE" : "WAL"
    try SQLiteShell(path: path).run("\(schema.sql) PRAGMA journal_mode = \(mode);")
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    let preparation = generator.pragmas()
    let session = try SQLiteSession(path: path)
    try session.run(preparation + "PRAGMA wal_autocheckpoint = \(Int.random(in: 1...200, using: &random))")
    let captures = FileCaptures()
    var fixtures = try (0..<3).map { try Self.open($0, path, captures) }
    for commit in 0..<Self.commits {
      try session.run(generator.commit())
      for number in fixtures.indices.shuffled(using: &random) {
        let turn = Int.random(in: 0..<12, using: &random)
        // This capture stays behind, and only notes what it has to report later.
        if turn < 4 {
          try fixtures[number].readBetweenTicks()
          continue
        }
        let wrong = try fixtures[number].tick().wrong
        #expect(wrong == [], "FRESHET_SEED=\(Self.seed), \(schema), \(mode), commit \(commit), \(number)")
        if turn < 10 { continue }
        let state = CaptureState(of: fixtures[number].capture)
        fixtures[number].close()
        if turn == 10 {
          fixtures[number] = try Self.open(number, path, captures)
        } else {
          let state = try #require(state)
          fixtures[number] = try fixtures[number].restarted(with: state, remembering: Self.remembered(number))
        }
      }
    }
    for fixture in fixtures { #expect(try fixture.tick().wrong == []) }
    #expect(fixtures.allSatisfy { $0.unknown == 0 }, "FRESHET_SEED=\(Self.seed), \(schema) \(mode)")
    // All captures share one memory, which is about as large as that of a single one.
    #expect(Set(fixtures.map { ObjectIdentifier($0.capture.file) }).count == 1)
    let alone = try CaptureFixture(path: path)
    try alone.followAll { table in (table.storage?.table.layout.columnBits.indices).map { Array($0) } ?? [] }
    let bytes = fixtures.reduce(0) { $0 + $1.capture.statistics.bytes }
    #expect(bytes <= alone.capture.statistics.bytes * 11 / 10 + 4_096)
  }

  /// A file with a table that four captures could follow.
  private func example() throws -> (path: String, session: SQLiteSession, captures: FileCaptures) {
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, i, 'b' FROM n;
      """)
    return (path, try SQLiteSession(path: path), FileCaptures())
  }

  @Test func framesAreReadOnce() throws {
    let (path, session, captures) = try example()
    let fixtures = try (0..<3).map { try Self.open($0, path, captures) }
    // The first commit to an empty WAL has the table compared.
    try session.run("UPDATE t SET b = 'c' WHERE id = 60")
    for fixture in fixtures { #expect(try fixture.tick().wrong == []) }
    let before = fixtures.reduce(0) { $0 + $1.capture.statistics.frames }
    for id in 1...50 {
      try session.run("UPDATE t SET b = 'c' WHERE id = \(id)")
      for fixture in fixtures {
        let (wrong, tick) = try fixture.tick()
        #expect(wrong == [] && tick.commits == 1 && tick.deltas.map(\.delta.rows.count) == [1] && !tick.hasStopped)
      }
    }
    #expect(fixtures.reduce(0) { $0 + $1.capture.statistics.frames } - before == 50)
  }

  /// Otherwise a capture that sees the contents before the restart and one that sees them after it would give them two
  /// numbers.
  @Test func contentsKeepTheirNameWhereTheWALBeginsAnew() throws {
    let (path, session, captures) = try example()
    let fixtures = try (0..<2).map { try Self.open($0, path, captures) }
    let numbers = CommitNumbers()
    try session.run("UPDATE t SET b = 'warm' WHERE id = 60")
    for fixture in fixtures {
      #expect(try fixture.tick().wrong == [])
      _ = numbers.number(of: fixture.capture.numberedState, before: 0, commits: 0)
    }
    for round in 1...3 {
      let before = numbers.highest
      try session.run("UPDATE t SET b = 'c' WHERE id = \(round)")
      #expect(try fixtures[0].tick().wrong == [])
      try session.run("PRAGMA wal_checkpoint(TRUNCATE)")
      #expect(try fixtures[1].tick().wrong == [])
      #expect(!fixtures[0].capture.state.isSame(as: fixtures[1].capture.state))
      // The first capture numbers the state last.
      for fixture in fixtures.reversed() {
        let number = numbers.number(of: fixture.capture.numberedState, before: before, commits: 1)
        #expect(number == CommitNumber(before + 1, isExact: true))
      }
      // For the others, which have seen no commit, this state is not a later one.
      let read = numbers.number(of: fixtures[1].capture.state, notBefore: before)
      #expect(read == CommitNumber(before + 1, isExact: false))
    }
  }

  @Test func whatSomebodyHasReadWhoLeavesIsStillThere() throws {
    let (path, session, captures) = try example()
    var first: CaptureFixture? = try Self.open(0, path, captures)
    let second = try Self.open(1, path, captures)
    try session.run("UPDATE t SET b = 'warm' WHERE id = 60")
    for fixture in [first, second] { #expect(try fixture?.tick().wrong == []) }
    try session.run("UPDATE t SET b = 'before' WHERE id = 60")
    #expect(try first?.tick().wrong == [])
    first = nil
    try session.run("UPDATE t SET b = 'behind' WHERE id = 60")
    let tick = try second.snapshot { _ in second.capture.advance() }
    let texts = tick.deltas.map { entry in
      entry.delta.rows.map { row in
        String(decoding: entry.delta.records?.record(row.record) ?? .init(start: nil, count: 0), as: UTF8.self).suffix(
          6)
      }
    }
    #expect(texts == [["before"], ["behind"]])
  }

  @Test func whoFollowsNothingHoldsNothingBack() throws {
    let (path, session, captures) = try example()
    let idle = try CaptureFixture(path: path, sharing: captures)
    try idle.snapshot { _ in _ = idle.capture.advance() }
    idle.capture.define { _ in nil }
    let busy = try Self.open(0, path, captures)
    for id in 1...20 {
      try session.run("UPDATE t SET a = 0 WHERE id = \(id)")
      #expect(try busy.tick().wrong == [])
      #expect(busy.capture.file.ticks.isTaken)
    }
    let tick = try idle.snapshot { _ in idle.capture.advance() }
    #expect(tick.commits == 20 && !tick.hasSchemaChanged && tick.deltas.isEmpty && tick.comparison == nil)
  }

  @Test func whoIsFarBehindIsToldThatAnythingMayHaveChanged() throws {
    let (path, session, captures) = try example()
    let late = try Self.open(1, path, captures)
    let busy = try Self.open(0, path, captures)
    busy.capture.file.ticks.mostBytes = 64 << 10
    for round in 0..<20 {
      try session.run("UPDATE t SET a = \(round)")
      #expect(try busy.tick().wrong == [])
      #expect(busy.capture.file.ticks.byteCount < 400 << 10)
    }
    let (wrong, tick) = try late.tick()
    #expect(wrong == [] && tick.comparison == .behind && tick.deltas.map(\.delta.isUnknown) == [true])
    #expect(tick.commits == 20)
    try session.run("UPDATE t SET a = 5 WHERE id = 5")
    let (wrongThen, next) = try late.tick()
    #expect(wrongThen == [] && next.deltas.map(\.delta.rows.count) == [1])
  }

  /// A capture without tables does not advance with the others. If it then begins to follow a table, it is still at an
  /// older state.
  @Test func aTableThatIsFollowedFromAnOlderStateIsUnknownOnce() throws {
    let (path, session, captures) = try example()
    try session.run("CREATE TABLE u(id INTEGER PRIMARY KEY, a); INSERT INTO u VALUES (1, 1)")
    let (first, second) = (try Self.open(0, path, captures), try CaptureFixture(path: path, sharing: captures))
    try second.snapshot { _ in _ = second.capture.advance() }
    second.capture.define { _ in nil }
    let u = try second.snapshot { db in
      try DatabaseSchema.read(db.sqliteConnection!).table("u")!.storage!.table
    }
    try first.capture.unfollow(#require(first.followed.first { $0.value == "u" }?.key))
    try session.run("UPDATE t SET a = 1 WHERE id = 1; UPDATE u SET a = 2")
    _ = try first.snapshot { _ in first.capture.advance() }
    let number = second.capture.follow(u, remembering: [])
    let tick = try second.snapshot { _ in
      let tick = second.capture.advance()
      second.capture.define { $0 == "u" ? u : nil }
      while second.capture.readOn() {}
      return tick
    }
    #expect(tick.deltas.map(\.table) == [number] && tick.deltas.allSatisfy(\.delta.isUnknown))
    #expect(second.capture.form(ofTable: "u") == .rows)
    try session.run("UPDATE u SET a = 3")
    let next = try second.snapshot { _ in second.capture.advance() }
    #expect(next.deltas.map(\.delta.rows.count) == [1])
  }

  @Test func whoOpensAnOverwrittenFileSharesNothingWithThoseWhoHaveIt() throws {
    let (path, _, captures) = try example()
    let old = try Self.open(0, path, captures)
    old.capture.noteStale()
    let new = try Self.open(0, path, captures)
    #expect(new.capture.file !== old.capture.file)
    #expect(try Self.open(1, path, captures).capture.file === new.capture.file)
  }
}
