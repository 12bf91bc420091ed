import ChangeCapture
import Ground
import Store
import TestSupport
import Testing

@testable import Following
@testable import Replication

/// The publisher's reads of a file that others of its process follow as well.
@Suite struct ChangeReaderTests {
  /// Followers of lists leave a tick for each commit, and the publisher takes several at once.
  @Test func `A row that came and went between two batches is gone in the second`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(
      "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    let writer = try SQLiteSession(path: path)
    let file = FollowedFile(path)
    let (published, followed) = (
      try file.holder(.init(), clock: .system).open(), try file.holder(.init(), clock: .system).open()
    )
    var made: ChangeReader?
    try published.connection.snapshot { made = try ChangeReader(published.connection, limit: 1 << 20) }
    let reader = try #require(made)
    func commit(_ sql: String) throws {
      try writer.run(sql)
      try followed.connection.snapshot {
        _ = followed.connection.capture.advance()
        followed.connection.capture.define { _ in nil }
      }
    }
    try commit("UPDATE t SET a = 'warm' WHERE id = 2")
    try published.connection.snapshot { _ = try reader.tick() }
    for sql in [
      "INSERT INTO t VALUES (10, 'new')", "DELETE FROM t WHERE id = 10", "DELETE FROM t WHERE id = 1",
      "INSERT INTO t VALUES (1, 'again')", "UPDATE t SET a = 'z' WHERE id = 2",
    ] { try commit(sql) }
    var tick: ChangeReader.Tick?
    try published.connection.snapshot { tick = try reader.tick() }
    #expect(tick?.commits == 5)
    let contents = String(decoding: try #require(tick?.contents), as: UTF8.self)
    #expect(contents.contains("again") && contents.contains("z") && !contents.contains("new"), "\(contents)")
  }
}
