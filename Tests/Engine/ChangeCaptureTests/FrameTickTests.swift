import TestSupport
import Testing

@testable import ChangeCapture

/// Which commits a tick can follow by their frames alone, without a transaction.
@Suite struct FrameTickTests {
  private static let setUp = """
    PRAGMA page_size = 512; PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, n); CREATE TABLE other(n);
    CREATE TABLE long(id INTEGER PRIMARY KEY, n);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO t SELECT i, i FROM c;
    INSERT INTO long VALUES (1, 1), (2, randomblob(5000)), (3, printf('%05000d', 0));
    """

  @Test(
    arguments: [
      ("UPDATE t SET n = n + 1 WHERE id = 7", true),
      ("UPDATE t SET n = 0 WHERE id % 100 = 1; DELETE FROM t WHERE id = 9; UPDATE long SET n = 2 WHERE id = 1", false),
      ("UPDATE t SET n = 0 WHERE id % 100 = 1; DELETE FROM t WHERE id = 9;", true),
      ("INSERT INTO other VALUES (1)", true),
      // Pages are split, and so the one above is another.
      ("INSERT INTO t SELECT id + 1000, n FROM t", false),
      // A row with overflow pages, or its pages alone.
      ("UPDATE long SET n = 2 WHERE id = 1", false),
      ("UPDATE long SET n = zeroblob(5000) WHERE id = 2", false),
      ("UPDATE long SET n = printf('%04999d', 0) || '1' WHERE id = 3", false),
      ("CREATE INDEX t_n ON t(n)", false),
      // Frames are in the database file: that these are the same has to be checked.
      ("UPDATE t SET n = n + 1 WHERE id = 7; PRAGMA wal_checkpoint(PASSIVE)", false),
      ("SELECT 1", false),
    ])
  func framesAreEnoughWhereLeavesChanged(commit: String, areEnough: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(Self.setUp)
    let session = try SQLiteSession(path: path)
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
}
