import Foundation
import TestSupport
import Testing

@testable import ChangeCapture

/// WAL-index headers as SQLite's WAL-reset bug leaves them: they count frames as copied into the database file that
/// were not copied. Every connection believes that, so SQLite's own answers are the oracle here too.
@Suite struct BackfillTests {
  private let folder: TemporaryFolder
  private let path: String
  private let session: SQLiteSession

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY, a);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) INSERT INTO t SELECT i, zeroblob(200) FROM n;
      INSERT INTO u SELECT id, a FROM t;
      """)
    session = try SQLiteSession(path: path)
    try session.run("PRAGMA wal_autocheckpoint = 0; INSERT INTO t(a) VALUES ('first')")
  }

  /// Changes the header in another process, because closing the file in this one would drop its locks.
  private func noteAsCopied(_ frames: UInt32) throws {
    let bytes = withUnsafeBytes(of: frames) { $0.map { String(format: "\\%03o", $0) }.joined() }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "printf '\(bytes)' | dd of='\(path)-shm' bs=1 seek=96 conv=notrunc status=none"]
    try process.run()
    process.waitUntilExit()
  }

  private func write(_ number: Int) throws {
    try session.run(
      "INSERT INTO t(a) VALUES ('\(number)'); UPDATE u SET a = \(number) WHERE id = \(number * 7); DELETE FROM t WHERE id = \(number * 11)"
    )
  }

  @Test(arguments: [2, 9, 500] as [UInt32])
  func whatSQLiteShowsIsWhatIsTold(frames: UInt32) throws {
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    for number in 1...3 {
      try write(number)
      #expect(try fixture.tick().wrong == [])
    }
    try noteAsCopied(frames + 12)
    // Nothing was committed, so SQLite keeps the pages that it has read.
    #expect(try fixture.tick().wrong == [])
    for number in 4...20 {
      try write(number)
      let (wrong, tick) = try fixture.tick()
      #expect(wrong == [], "after \(number), compared: \(String(describing: tick.comparison))")
      if !wrong.isEmpty { return }
    }
  }

  /// The count belongs to an earlier generation of the WAL. At the time of the tick the WAL has as many frames as the
  /// count says.
  @Test func aCountThatTheWALHasReachedIsFoundOutAllTheSame() throws {
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    try noteAsCopied(8)
    // This changes a page that has no later frame.
    try session.run("UPDATE u SET a = 'lost' WHERE id = 290")
    // One commit goes past the count, because SQLite would restart the WAL if its last frame were at the count.
    try session.run("BEGIN; INSERT INTO t SELECT id + 1000, a FROM t; COMMIT")
    let (wrong, tick) = try fixture.tick()
    #expect(wrong == [])
    #expect(tick.comparison == .backfill)
    for number in 7...12 {
      try write(number)
      #expect(try fixture.tick().wrong == [])
    }
  }

  @Test func theNextGenerationIsFollowedAgain() throws {
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    try write(1)
    try noteAsCopied(400)
    try write(2)
    #expect(try fixture.tick().tick.comparison == .backfill)
    try noteAsCopied(0)
    try session.run("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t(a) VALUES ('next')")
    #expect(try fixture.tick().wrong == [])
    try write(3)
    let (wrong, tick) = try fixture.tick()
    #expect(wrong == [] && tick.comparison == nil)
  }

  @Test func anOrdinaryCheckpointBetweenCommitAndTickIsNone() throws {
    let fixture = try CaptureFixture(path: path)
    try fixture.followAll()
    for number in 1...20 {
      try write(number)
      try session.run("PRAGMA wal_checkpoint(PASSIVE)")
      #expect(try fixture.tick().wrong == [])
    }
    #expect(fixture.capture.statistics.comparisons[.backfill] == nil)
  }
}
