import Foundation
import GRDB
import Server
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// Files of all kinds: read-only, in a rollback journal, replaced, restored, altered, damaged.
@Suite struct FileTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """

  /// Waits, at most ten seconds, until a client holds something.
  private func wait(_ client: LiveClient, for line: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let deadline = Date().addingTimeInterval(10)
    while client.line("q") != line, Date() < deadline { try client.receive() }
    #expect(client.line("q") == line, sourceLocation: sourceLocation)
  }

  private func bytes(_ path: String) -> Data { FileManager.default.contents(atPath: path) ?? Data() }

  // MARK: - Not altered

  @Test(arguments: [true, false])
  func filesAreNotAltered(isWAL: Bool) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL)
    try live.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    let before = bytes(live.path)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(bytes(live.path) == before)
    try live.writer.run("UPDATE t SET a = 'z' WHERE id = 2")
    try wait(client, for: "''/: 1,'x' 2,'z'")
    #expect(client.change("q") == "patch")
    let objects = try live.queue.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master") }
    let mode = try live.queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    #expect(objects == ["t"] && mode == (isWAL ? "wal" : "delete"))
    live.stop()
  }

  @Test func `A storm of commits is refetched at intervals, and the last one always`() throws {
    let live = try LiveServer(Self.schema) { $0.lists.refetchInterval = .milliseconds(200) }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","where":"id IN (SELECT id FROM t UNION SELECT 0)"}"#)
    let start = Date()
    for number in 0..<100 { try live.writer.run("UPDATE t SET a = 'v\(number)' WHERE id = 1") }
    try wait(client, for: "''/: 1,'v99' 2,'y'")
    let intervals = Int(Date().timeIntervalSince(start) / 0.2)
    #expect(client.changes["q"]! <= intervals + 3, "\(client.changes["q"]!) messages in \(intervals) intervals")
    live.stop()
  }

  @Test(arguments: [true, false])
  func readOnlyFilesAreServed(isWAL: Bool) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "a b%41.sqlite").path
    try SQLiteShell(path: path).run(Self.schema + (isWAL ? "PRAGMA journal_mode=WAL;" : ""))
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try? FileManager.default.removeItem(at: folder)
    }
    // For root no file is read-only, so the server must run as another user.
    let program = try Program(["serve", path, "--port", "0"], asNobody: getuid() == 0)
    defer { program.stop() }
    let client = try LiveClient(port: try program.port())
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.line("q") == "''/: 1,'x' 2,'y'")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a b%41.sqlite"])
  }

  @Test func `A file that may be written again is`() throws {
    let folder = try ProgramFolder()
    func setPermissions(_ permissions: Int, _ path: String) throws {
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }
    try setPermissions(0o777, folder.path)
    try setPermissions(0o444, folder.database)
    let program = try Program(["serve", folder.database, "--port", "0", "--allow-writes"], asNobody: getuid() == 0)
    defer { program.stop() }
    let port = try program.port()
    func insert() throws -> RawResponse {
      try RawSocket(port: port).request(
        "POST", "/v1/transactions", headers: ["Content-Type: application/json"],
        body: #"{"statements":[{"sql":"INSERT INTO t(a) VALUES ('y')"}]}"#)
    }
    let refusal = try insert()
    #expect(refusal.status == 403 && refusal.text.contains("read_only") && refusal.text.contains("a b.sqlite"))
    try setPermissions(0o666, folder.database)
    #expect(try insert().status == 200)
  }

  @Test func `A -wal that cannot be read is not passed over`() throws {
    let live = try LiveServer(Self.schema)
    try live.writer.run("UPDATE t SET a = 'only in the WAL' WHERE id = 1")
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "t.sqlite").path
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: live.path + suffix, toPath: path + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path + suffix)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try? FileManager.default.removeItem(at: folder)
    }
    let result = try Program.run(["serve", path, "--port", "0"], asNobody: getuid() == 0)
    #expect(result.status == 1 && result.errors.contains("its -wal holds commits"), "\(result)")
    live.stop()
  }

  // MARK: - Another file

  @Test(arguments: [true, false])
  func replacedFilesAreFollowed(isWAL: Bool) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    let other = live.path + ".new"
    try SQLiteShell(path: other).run(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (7, 'other');")
    try live.replace(by: other)
    try wait(client, for: "''/: 7,'other'")
    #expect(client.others.contains { $0["type"] == .string("hello") })
    try SQLiteShell(path: live.path).run("INSERT INTO t VALUES (8, 'more');")
    try wait(client, for: "''/: 7,'other' 8,'more'")
    live.stop()
  }

  @Test func `A file that replaces another one before its -wal is deleted is left to its writers`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    try live.writer.run("UPDATE t SET a = 'z' WHERE id = 1")
    try wait(client, for: "''/: 1,'z' 2,'y'")
    let other = live.path + ".new"
    try SQLiteShell(path: other).run(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (7, 'other');")
    #expect(rename(other, live.path) == 0)
    // The server may open the new file now, and find the former one's -wal.
    usleep(200_000)
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: live.path + suffix) }
    try wait(client, for: "''/: 7,'other'")
    #expect(try SQLiteShell(path: live.path).run("INSERT INTO t VALUES (8, 'more')") == "")
    try wait(client, for: "''/: 7,'other' 8,'more'")
    live.stop()
  }

  @Test func `A backup restored into the file is a new epoch`() throws {
    let live = try LiveServer(Self.schema)
    let backup = live.path + ".backup"
    defer { try? FileManager.default.removeItem(atPath: backup) }
    try SQLiteShell(path: live.path).run(".backup '\(backup)'")
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    try live.writer.run("DELETE FROM t; INSERT INTO t VALUES (9, 'late')")
    try wait(client, for: "''/: 9,'late'")
    try SQLiteShell(path: live.path).run(".restore \(backup)")
    try wait(client, for: "''/: 1,'x' 2,'y'")
    try live.writer.run("UPDATE t SET a = 'again' WHERE id = 1")
    try wait(client, for: "''/: 1,'again' 2,'y'")
    live.stop()
  }

  @Test func `A file that appears is served`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString).sqlite").path
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
    let program = try Program(["serve", path, "--port", "0"])
    defer { program.stop() }
    let client = try LiveClient(port: try program.port())
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.ended["q"] == "overloaded")
    try SQLiteShell(path: path).run("PRAGMA journal_mode=WAL;" + Self.schema)
    let deadline = Date().addingTimeInterval(10)
    while client.models["q"] == nil, Date() < deadline { try client.subscribe("q", #"{"from":"t"}"#) }
    try SQLiteShell(path: path).run("DELETE FROM t WHERE id = 1")
    try wait(client, for: "''/: 2,'y'")
  }

  // MARK: - Another schema

  /// A change of the schema, and what the client then holds.
  @Test(
    arguments: [
      ("ALTER TABLE t ADD COLUMN b DEFAULT 7", "''/: 1,'x',7 2,'y',7", "INSERT INTO t VALUES (3, 'z', 8)", " 3,'z',8"),
      ("ALTER TABLE t RENAME COLUMN a TO c", "''/: 1,'x' 2,'y'", "INSERT INTO t VALUES (3, 'z')", " 3,'z'"),
      ("ALTER TABLE t DROP COLUMN a", "''/: 1 2", "INSERT INTO t VALUES (3)", " 3"),
      ("CREATE INDEX i ON t(a)", "''/: 1,'x' 2,'y'", "INSERT INTO t VALUES (3, 'z')", " 3,'z'"),
      (
        "BEGIN; DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (5, 5); COMMIT",
        "''/: 5,5", "INSERT INTO t VALUES (6, 6)", " 6,6"
      ),
      ("DROP TABLE t", "schema_changed", "", ""), ("ALTER TABLE t RENAME TO u", "schema_changed", "", ""),
    ], [true, false])
  func subscriptionsFollowTheSchema(
    change: (sql: String, line: String, then: String, added: String), isWAL: Bool
  ) throws {
    let live = try LiveServer(Self.schema, isWAL: isWAL)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    try live.writer.run(change.sql)
    if change.line == "schema_changed" {
      let error = try client.receive("error")
      #expect(error["code"] == .string(change.line) && error["fatal"] == .bool(false))
      // Requests get an error meanwhile. Once a table has the name again, they get rows.
      try live.writer.run("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'again')")
      try wait(client, for: "''/: 7,'again'")
      return live.stop()
    }
    try client.catchUp(["q"])
    try wait(client, for: change.line)
    try live.writer.run(change.then)
    try wait(client, for: change.line + change.added)
    let explanation = try live.http("GET", "/v1/explain?from=t")
    #expect(explanation.text.contains("\"maintenance\":\"incremental\""), "\(explanation.text)")
    live.stop()
  }

  // MARK: - Trouble

  @Test func `A damaged page is an error that does not end the subscription, and other lists go on`() throws {
    let rows = (1...2_000).map { "(\($0), '\(String(repeating: "x", count: 200))')" }.joined(separator: ",")
    let live = try LiveServer(
      "CREATE TABLE u(id INTEGER PRIMARY KEY, a); INSERT INTO u VALUES (1, 'u');"
        + "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES \(rows);", isWAL: false)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#, window: (0, 1))
    try client.subscribe("u", #"{"from":"u"}"#)
    // This damages pages in the middle of the table; the changed counter in the header makes readers read again.
    let handle = try FileHandle(forUpdating: URL(filePath: live.path))
    try handle.seek(toOffset: 4_096 * 50)
    let good = try handle.read(upToCount: 4_096 * 4) ?? Data()
    func write(_ data: Data) throws {
      try handle.seek(toOffset: 4_096 * 50)
      try handle.write(contentsOf: data)
      try live.writer.run("INSERT INTO u(a) VALUES ('v')")
    }
    try write(Data(repeating: 0xA5, count: 4_096 * 4))
    let error = try client.receive("error")
    #expect(error["id"] == .string("q") && error["fatal"] == .bool(false), "\(error)")
    try client.catchUp(["u"])
    #expect(client.line("u") == "''/: 1,'u' 2,'v'")
    try write(good)
    try live.writer.run("UPDATE t SET a = 'mended' WHERE id = 1")
    let deadline = Date().addingTimeInterval(10)
    while !client.line("q").hasPrefix("''/: 1,'mended'"), Date() < deadline { try client.receive() }
    #expect(client.line("q").hasPrefix("''/: 1,'mended'"))
    live.stop()
  }

  @Test func `A writer that holds its lock for long loses nobody a change`() throws {
    let live = try LiveServer(Self.schema, isWAL: false)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    try live.writer.run("BEGIN EXCLUSIVE; UPDATE t SET a = 'held' WHERE id = 1")
    Thread.sleep(forTimeInterval: 1)
    try live.writer.run("COMMIT")
    try wait(client, for: "''/: 1,'held' 2,'y'")
    #expect(client.errors["q"] == nil)
    live.stop()
  }
}
