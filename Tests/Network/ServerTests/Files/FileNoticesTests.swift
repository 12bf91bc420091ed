import Foundation
import ServerSupport
import Store
import TestSupport
import Testing

/// The log's lines about the file that is followed.
@Suite struct FileNoticesTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY)"

  /// A server of one file, and a client with a list of it.
  private func serve() throws -> (LiveFolder, LiveClient) {
    let live = try LiveFolder(["a.sqlite": Self.schema])
    let client = try live.connect("a")
    try client.subscribe("q", #"{"from":"t"}"#)
    return (live, client)
  }

  private func insert(_ ids: ClosedRange<Int>, _ live: LiveFolder, _ client: LiveClient) throws {
    for id in ids {
      try live.write("a.sqlite", "INSERT INTO t VALUES (\(id))")
      try client.catchUp(["q"])
    }
  }

  @Test func `A file with a rollback journal that takes the name is noticed, and explained`() throws {
    let (live, client) = try serve()
    #expect(live.log.lines.contains { $0.contains("row by row, from its write-ahead log") }, "\(live.log.lines)")
    let other = live.folder.path("other")
    try SQLiteShell(path: other).run("\(Self.schema); INSERT INTO t VALUES (1)")
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: live.path("a.sqlite") + suffix) }
    #expect(rename(other, live.path("a.sqlite")) == 0)
    #expect(comesTrue { live.log.lines.contains { $0.contains("a.sqlite has a rollback journal") } })
    while client.models["q"]?.total != 1 { try client.receive() }
    let explained = try live.get("a", "/v1/explain?from=t").text
    #expect(explained.contains("comparing the whole table") && !explained.contains("the pages that"), "\(explained)")
    #expect(live.log.lines.count { $0.contains("rollback journal") } == 1)
  }

  @Test(.enabled(if: WALResetBug.isPresent, "SQLite here has no WAL-reset bug"))
  func `The bug of SQLite is mentioned where another process checkpoints`() throws {
    let (live, client) = try serve()
    try insert(1...3, live, client)
    let isMentioned = { live.log.lines.contains { $0.contains("another process checkpoints") } }
    #expect(!isMentioned())
    try live.write("a.sqlite", "PRAGMA wal_checkpoint")
    try insert(4...6, live, client)
    #expect(comesTrue(isMentioned))
  }
}
