import TestSupport
import Testing

@testable import ChangeCapture

/// Commits that a tick can follow from their frames alone, without a transaction.
@Suite struct FrameTickTests {
  private static let setUp = """
    PRAGMA page_size = 512; PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, n); CREATE TABLE other(n);
    CREATE TABLE long(id INTEGER PRIMARY KEY, n);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO t SELECT i, i FROM c;
    INSERT INTO long VALUES (1, 1), (2, randomblob(5000)), (3, printf('%05000d', 0));
    """

  private let folder: TemporaryFolder
  private let path: String
  private let session: SQLiteSession

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(Self.setUp)
    session = try SQLiteSession(path: path)
  }

  @Test(
    arguments: [
      ("UPDATE t SET n = n + 1 WHERE id = 7", true),
      ("UPDATE t SET n = 0 WHERE id % 100 = 1; DELETE FROM t WHERE id = 9; UPDATE long SET n = 2 WHERE id = 1", false),
      ("UPDATE t SET n = 0 WHERE id % 100 = 1; DELETE FROM t WHERE id = 9;", true),
      ("INSERT INTO other VALUES (1)", true),
      // Pages are split, so their parent page changes too.
      ("INSERT INTO t SELECT id + 1000, n FROM t", false),
      // A row with overflow pages changes, or only its overflow pages.
      ("UPDATE long SET n = 2 WHERE id = 1", false),
      ("UPDATE long SET n = zeroblob(5000) WHERE id = 2", false),
      ("UPDATE long SET n = printf('%04999d', 0) || '1' WHERE id = 3", false),
      ("CREATE INDEX t_n ON t(n)", false),
      // The frames are also in the database file, so the tick must check that both are the same.
      ("UPDATE t SET n = n + 1 WHERE id = 7; PRAGMA wal_checkpoint(PASSIVE)", false),
      ("SELECT 1", false),
    ])
  func framesAreEnoughWhereLeavesChanged(commit: String, areEnough: Bool) throws {
    try session.run("INSERT INTO other VALUES (0)")
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    try session.run(commit)
    let changed = fixture.capture.identifyFromFrames()
    #expect((changed != nil) == areEnough)
    fixture.capture.returnToSeenState()
    let (wrong, _) = try fixture.tick()
    #expect(wrong.isEmpty)
    #expect(fixture.capture.identifyFromFrames() == nil)
  }

  /// The second generation is shorter than the part of the first one that was read, so it has not overwritten any
  /// needed frame.
  @Test(arguments: [(old: 1, new: 1), (2, 2), (3, 1), (0, 2), (2, 0)])
  func aTickGoesThroughEachCommitOfTwoGenerations(old: Int, new: Int) throws {
    for _ in 0..<8 { try session.run("INSERT INTO other VALUES (0)") }
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    func commit(_ ids: Range<Int>) throws {
      for id in ids { try session.run("UPDATE t SET n = n + 1 WHERE id = \(id * 70)") }
    }
    try commit(1..<1 + old)
    try session.run("PRAGMA wal_checkpoint(RESTART)")
    try commit(1 + old..<1 + old + new)
    let tick = try fixture.snapshot { _ in
      fixture.capture.advance(throughCommits: true)
    }
    #expect(tick.comparison == nil)
    #expect(tick.commits == Int64(old + new))
    #expect(tick.deltas.map { $0.delta.rows.map(\.rowid) } == (1...old + new).map { [Int64($0 * 70)] })
    #expect(tick.deltas.allSatisfy { $0.delta.rows.allSatisfy { !$0.record.isEmpty } })
    #expect(tick.stops.map(\.commits) == (1..<old + new).map { Int64($0) })
  }

  /// A writer's own checkpoint can overwrite former rows right after its commit.
  @Test(arguments: [false, true])
  func formerRowsAreReadBeforeACheckpointOverwritesThem(isNewGeneration: Bool) throws {
    try session.run("INSERT INTO t SELECT id + 1000, randomblob(50) FROM t; PRAGMA wal_checkpoint(RESTART)")
    if !isNewGeneration { try session.run("INSERT INTO other VALUES (0)") }
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    try session.run("UPDATE t SET n = zeroblob(50) WHERE id > 1000")
    fixture.capture.prepare()
    try session.run("PRAGMA wal_checkpoint(PASSIVE)")
    let (wrong, tick) = try fixture.tick()
    #expect(wrong.isEmpty && tick.comparison == nil)
    let rows = tick.deltas.flatMap(\.delta.rows)
    #expect(rows.count == 500)
    #expect(rows.count { $0.former.isEmpty } == 0)
    // Pages that were read ahead belong to that tick alone.
    try session.run("UPDATE t SET n = 1 WHERE id = (SELECT max(id) FROM t)")
    let (wrongThen, next) = try fixture.tick()
    #expect(wrongThen.isEmpty && next.deltas.flatMap(\.delta.rows).allSatisfy { !$0.former.isEmpty })
  }

  @Test func aTickWhoseFramesAreOverwrittenLeavesTheRestToTheNextOne() throws {
    try session.run("INSERT INTO other VALUES (0)")
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    func commit(_ ids: Range<Int>) throws {
      for id in ids { try session.run("UPDATE t SET n = n + 1 WHERE id = \(id * 30)") }
    }
    try commit(1..<3)
    #expect(fixture.capture.identifyFromFrames() != nil)
    try session.run("PRAGMA wal_checkpoint(RESTART)")
    try commit(3..<9)
    let early = fixture.capture.advance(throughCommits: true)
    #expect(fixture.capture.hasEndedEarly)
    #expect(fixture.capture.hasMoved)
    let late = try fixture.snapshot { _ in fixture.capture.advance(throughCommits: true) }
    #expect(!fixture.capture.hasEndedEarly)
    let deltas = (early.deltas + late.deltas).map(\.delta)
    #expect(!deltas.contains { $0.isUnknown })
    #expect(Set(deltas.flatMap { $0.rows.map(\.rowid) }) == Set((1..<9).map { Int64($0 * 30) }))
  }
}
