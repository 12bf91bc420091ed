import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// Restores of a database that is served: they overwrite its file, without SQLite. The server is a process of its own,
/// and others write.
@Suite struct OverwrittenFileTests {
  enum Way: String, CaseIterable {
    /// As `cp`: truncates, then writes.
    case copy
    /// As `dd conv=notrunc`: keeps the rest of a longer file.
    case blocks
    /// As `rsync --inplace`: writes, then truncates.
    case inPlace
    /// Truncates, and writes in pieces.
    case pieces
  }

  struct Restore: CustomTestStringConvertible {
    let way: Way
    /// The journal mode of the served file, and that of the backup.
    let modes: (before: String, after: String)
    /// The application's checkpoint before it is stopped.
    let checkpoint: String
    var testDescription: String { "\(way) from \(modes.before) to \(modes.after) \(checkpoint)" }
  }

  static let restores = Way.allCases.flatMap { way in
    ["", "PASSIVE", "TRUNCATE"].flatMap { checkpoint in
      ["DELETE", "WAL"].map { Restore(way: way, modes: ("WAL", $0), checkpoint: checkpoint) }
    } + ["DELETE", "WAL"].map { Restore(way: way, modes: ("DELETE", $0), checkpoint: "") }
  }

  /// A server with a client that follows all rows, and a backup.
  private final class Served {
    let folder: ProgramFolder
    let program: Program
    let client: LiveClient
    let port: Int
    var database: String { folder.database }
    var backup: String { folder.database + ".backup" }
    var shell: SQLiteShell { SQLiteShell(path: database) }

    /// - Parameter follows: whether the client follows the rows.
    init(_ before: String, backup sql: String, follows: Bool = true) throws {
      folder = try ProgramFolder(
        "PRAGMA journal_mode = \(before); CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')")
      try SQLiteShell(path: folder.database + ".backup").run(sql)
      program = try Program(["serve", folder.database, "--port", "0", "--allow-writes"])
      port = try program.port()
      client = try LiveClient(port: port)
      if follows { try client.subscribe("q", #"{"from":"t"}"#) }
    }

    deinit { program.stop() }

    /// Waits, at most half a minute, until a condition on the client's messages holds.
    func wait(until isDone: () throws -> Bool) throws -> Bool {
      try client.receive(within: .seconds(30), until: isDone)
    }

    func rows() throws -> String {
      try shell.run("SELECT '''''/: ' || group_concat(id || ',' || quote(a), ' ') FROM (SELECT * FROM t ORDER BY id)")
    }

    /// Waits until the client holds what another process reads.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let rows = try rows()
      #expect(try wait { client.line("q") == rows }, "\(client.line("q")), not \(rows)", sourceLocation: sourceLocation)
      #expect(client.ended["q"] == nil, sourceLocation: sourceLocation)
    }

    func overwrite(by way: Way) throws {
      let bytes = try #require(FileManager.default.contents(atPath: backup))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: database))
      defer { try? file.close() }
      if way == .copy || way == .pieces { try file.truncate(atOffset: 0) }
      let size = way == .pieces ? 1_000 : bytes.count
      for start in stride(from: 0, to: bytes.count, by: size) {
        try file.write(contentsOf: bytes[start..<min(start + size, bytes.count)])
        if way == .pieces { usleep(5_000) }
      }
      if way == .inPlace { try file.truncate(atOffset: UInt64(bytes.count)) }
    }
  }

  private static func backup(_ mode: String) -> String {
    "PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'restored')"
  }

  @Test(arguments: restores)
  func `The application starts again with what was restored, and lists show it`(_ restore: Restore) throws {
    let served = try Served(restore.modes.before, backup: Self.backup(restore.modes.after))
    // The application's last commit, just before it ends.
    let checkpoint = restore.checkpoint.isEmpty ? "" : "PRAGMA wal_checkpoint(\(restore.checkpoint));"
    try served.shell.run("INSERT INTO t VALUES (2, 'y'), (3, 'z'); \(checkpoint)")
    try served.check()
    try served.overwrite(by: restore.way)
    #expect(try served.wait { served.client.line("q") == "''/: 7,'restored'" }, "\(served.client.line("q"))")
    #expect(try served.rows() == "''/: 7,'restored'")
    // The shell waits up to ten seconds for a lock, and no lock lasts that long.
    for id in 8...10 {
      #expect(try served.shell.run("INSERT INTO t VALUES (\(id), 'new')") == "")
      try served.check()
    }
    #expect(try served.shell.run("PRAGMA integrity_check") == "ok")
    #expect(try served.shell.run("PRAGMA journal_mode") == restore.modes.after.lowercased())
    let answer = try RawSocket(port: served.port).request(
      "POST", "/v1/transactions", headers: ["Content-Type: application/json"],
      body: #"{"statements":[{"sql":"INSERT INTO t VALUES (20, 'client')"}]}"#)
    #expect(answer.status == 200, "\(answer.text)")
    try served.check()
    served.program.stop()
    #expect(try !served.program.errorOutput().contains("a list differed"))
  }

  /// While commits keep coming, the log is not watched; and the restored file has the same size and change counter.
  @Test func `What was restored right after a stream of commits is noticed`() throws {
    let served = try Served("WAL", backup: Self.backup("WAL"))
    for _ in 0..<5 {
      let commits = (100..<120).map { "INSERT INTO t VALUES (\($0), 'y');" }
      try served.shell.run(commits.joined(separator: " "))
      try served.check()
      try served.overwrite(by: .inPlace)
      #expect(try served.wait { served.client.line("q") == "''/: 7,'restored'" }, "\(served.client.line("q"))")
      #expect(try served.rows() == "''/: 7,'restored'")
    }
  }

  /// No list follows the commits, and the answering thread has had no report of the write.
  @Test func `What was restored while no list is open is noticed`() throws {
    let served = try Served("WAL", backup: Self.backup("WAL"), follows: false)
    func answer() throws -> String {
      try RawSocket(port: served.port).request("GET", "/v1/snapshot?from=t&limit=3").text
    }
    try served.shell.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try FileManager.default.removeItem(atPath: served.backup)
    try FileManager.default.copyItem(atPath: served.database, toPath: served.backup)
    for round in 0..<5 {
      #expect(try answer().contains("\"total\":1"))
      for id in 100..<105 { try served.shell.run("INSERT INTO t VALUES (\(id), 'y')") }
      #expect(try answer().contains("\"total\":6"))
      try served.overwrite(by: .blocks)
      let isRead = try served.wait { try answer().contains("\"total\":1") }
      #expect(isRead, "round \(round)")
      #expect(try served.rows() == "''/: 1,'x'")
      #expect(try served.shell.run("PRAGMA integrity_check") == "ok")
    }
  }

  @Test func `A file whose times are set keeps its commits`() throws {
    let served = try Served("WAL", backup: Self.backup("WAL"))
    try served.shell.run("INSERT INTO t VALUES (2, 'y')")
    try served.check()
    try FileManager.default.setAttributes([.modificationDate: Date() + 5], ofItemAtPath: served.database)
    try served.shell.run("INSERT INTO t VALUES (3, 'z')")
    #expect(try served.wait { served.client.line("q") == "''/: 1,'x' 2,'y' 3,'z'" })
    #expect(try served.rows() == "''/: 1,'x' 2,'y' 3,'z'")
  }

  // MARK: - What does not compile

  @Test(arguments: ["WAL", "DELETE"])
  func `A list waits while its file is empty, and goes on with a snapshot`(mode: String) throws {
    let served = try Served(mode, backup: Self.backup("DELETE"))
    try served.shell.run("INSERT INTO t VALUES (2, 'y'); PRAGMA wal_checkpoint(TRUNCATE)")
    try served.check()
    #expect(truncate(served.database, 0) == 0)
    #expect(try served.wait { served.client.errors["q"]?["code"] == .string("schema_changed") })
    #expect(served.client.ended["q"] == nil)
    try served.overwrite(by: .copy)
    #expect(try served.wait { served.client.line("q") == "''/: 7,'restored'" })
    #expect(served.client.change("q") == "snapshot")
    #expect(try served.shell.run("INSERT INTO t VALUES (8, 'new')") == "")
    try served.check()
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `A list waits while its file has no such table`(mode: String) throws {
    let served = try Served(mode, backup: "CREATE TABLE other(a)")
    try served.overwrite(by: .copy)
    #expect(try served.wait { served.client.errors["q"]?["code"] == .string("schema_changed") })
    #expect(served.client.ended["q"] == nil)
    try FileManager.default.removeItem(atPath: served.backup)
    try SQLiteShell(path: served.backup).run(Self.backup("DELETE"))
    try served.overwrite(by: .copy)
    #expect(try served.wait { served.client.line("q") == "''/: 7,'restored'" })
    #expect(served.client.ended["q"] == nil)
  }

  // MARK: - Another encoding

  @Test(arguments: ["WAL", "DELETE"])
  func `A backup in another encoding that SQLite restores is followed`(mode: String) throws {
    let served = try Served(mode, backup: "PRAGMA encoding = 'UTF-16le';" + Self.backup("DELETE"))
    let client = try LiveClient(port: served.port)
    try client.subscribe("filtered", #"{"from":"t","where":"a LIKE 'r%'"}"#)
    #expect(try served.shell.run(".restore '\(served.backup)'") == "")
    #expect(try served.shell.run("SELECT a FROM t; PRAGMA encoding") == "restored\nUTF-16le")
    try served.check()
    #expect(try served.shell.run("INSERT INTO t VALUES (8, 'ŁÓDŹ')") == "")
    try served.check()
    let answer = try RawSocket(port: served.port).request(
      "POST", "/v1/transactions", headers: ["Content-Type: application/json"],
      body: #"{"statements":[{"sql":"INSERT INTO t VALUES (20, 'client')"}]}"#)
    #expect(answer.status == 200, "\(answer.text)")
    try served.check()
    for path in ["/readyz", "/v1/snapshot?from=t", "/v1/explain?from=t"] {
      let answer = try RawSocket(port: served.port).request("GET", path)
      #expect(answer.status == 200, "\(path): \(answer.text)")
    }
  }
}
