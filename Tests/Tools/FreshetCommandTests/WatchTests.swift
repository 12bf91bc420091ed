import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// `freshet watch` against a real server, written to by another process.
@Suite struct WatchTests {
  private static let schema = """
    PRAGMA journal_mode=WAL; CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
    INSERT INTO bank VALUES (1, 'First Security', 'GA'), (2, 'Citizens', 'FL');
    """

  private func serve(_ folder: ProgramFolder, port: Int = 0) throws -> (program: Program, url: String) {
    let program = try Program(["serve", folder.database, "--port", "\(port)"])
    return (program, "http://127.0.0.1:\(try program.port())")
  }

  @Test func `Plain output is the list, and then what changes`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (server, url) = try serve(folder)
    let watcher = try Watcher([url, "bank", "--select", "name", "--section-by", "state", "--order-by", "name"])
    #expect(watcher.prints("id\tname\n# FL (1)\n2\tCitizens\n# GA (1)\n1\tFirst Security\n"))
    let shell = SQLiteShell(path: folder.database)
    try shell.run("INSERT INTO bank VALUES (3, 'Bank of Georgia', 'GA')")
    #expect(watcher.prints(", 3 rows\n+ [1,0] 3\tBank of Georgia\n"))
    try shell.run("UPDATE bank SET name = 'Second Security' WHERE id = 1; DELETE FROM bank WHERE id = 2;")
    #expect(watcher.prints("-# [0] FL\n") && watcher.prints("name=Second Security\n"))
    #expect(watcher.status(after: SIGINT) == 0 && watcher.errorOutput.isEmpty)
    server.signal(SIGTERM)
  }

  /// Each patch used to look up every row beyond the window.
  @Test func `A window of a long list is followed into a pipe`() throws {
    let folder = try ProgramFolder(
      """
      PRAGMA journal_mode=WAL; CREATE TABLE well(id INTEGER PRIMARY KEY, depth REAL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 244000) INSERT INTO well SELECT i, i FROM n;
      """)
    let (server, url) = try serve(folder)
    let watcher = try Watcher([url, "well", "--limit", "20"])
    #expect(watcher.prints("20\t20.0\n"))
    for depth in 1...10 {
      try SQLiteShell(path: folder.database).run("UPDATE well SET depth = \(depth).5 WHERE id IN (5, 200000)")
    }
    #expect(watcher.prints("* [0,4] depth=10.5\n"))
    #expect(watcher.status(after: SIGINT) == 0 && watcher.errorOutput.isEmpty)
    server.signal(SIGTERM)
  }

  @Test func `Frames come one a line, and nothing else`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (server, url) = try serve(folder)
    let query = #"{"from": "bank", "where": "state = :state", "params": {"state": "GA"}}"#
    let watcher = try Watcher([url.replacing("http", with: "ws") + "/v1/live", query, "--json"])
    #expect(watcher.prints("\"rows\":[[1,\"First Security\",\"GA\"]]"))
    try SQLiteShell(path: folder.database).run("UPDATE bank SET state = 'GA'")
    #expect(watcher.prints("\"patch\""))
    #expect(watcher.status(after: SIGTERM) == 0 && watcher.errorOutput.isEmpty)
    let types = try watcher.output.split(separator: "\n").map { try JSONParser.parse(String($0))["type"] }
    #expect(types == [.string("hello"), .string("snapshot"), .string("patch")])
    server.signal(SIGTERM)
  }

  @Test func `Once prints the result and is done`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (server, url) = try serve(folder)
    let once = try Program.run("watch", url, "bank", "--once", "--where", "id > :n", "--param", "n=1")
    #expect(once == (0, "id\tname\tstate\n2\tCitizens\tFL\n", ""))
    let window = try Program.run("watch", url, "bank", "--once", "--offset", "1", "--limit", "1")
    #expect(window == (0, "id\tname\tstate\n2\tCitizens\tFL\n", ""))
    let json = try Program.run("watch", url, "bank", "--once", "--json")
    let types = try json.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8))["type"] }
    // Servers may greet more than once: protocol 3.2.
    #expect(json.status == 0 && types.first == .string("hello"), "\(json.output)")
    #expect(types.filter { $0 != .string("hello") } == [.string("snapshot")], "\(json.output)")
    server.signal(SIGTERM)
  }

  @Test func `A token comes as an option or in the environment`() async throws {
    let folder = try ProgramFolder(Self.schema)
    try TokenMaker.secret.write(toFile: folder.path + "/s", atomically: true, encoding: .utf8)
    try "auth: {jwt: {algorithm: HS256, secretFile: s}}".write(
      toFile: folder.path + "/f.yaml", atomically: true, encoding: .utf8)
    let server = try Program(["serve", folder.database, "--port", "0", "--config", folder.path + "/f.yaml"])
    let url = "http://127.0.0.1:\(try server.port())"
    let token = try TokenMaker.shared().token(#"{"role":"clerk"}"#)
    let good = try Program.run("watch", url, "bank", "--once", "--json", "--token", token)
    #expect(good.status == 0 && good.output.contains(#""role":"clerk""#))
    let bad = try Program.run("watch", url, "bank", "--once", "--token", token + "A")
    #expect(bad.status == 1 && bad.errors == "Error: unauthenticated: the token's signature is wrong\n")
    // Set only for this process, because other tests run at the same time.
    let watcher = try Watcher([url, "bank", "--json"], environment: ["FRESHET_TOKEN": token])
    #expect(watcher.prints(#""role":"clerk""#) && watcher.prints(#""type":"snapshot""#))
    #expect(watcher.status(after: SIGTERM) == 0)
    server.stop()
  }

  @Test func `A server that comes back is followed on`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (first, url) = try serve(folder)
    let watcher = try Watcher([url, "bank", "--order-by", "id"])
    #expect(watcher.prints("2\tCitizens\tFL\n"))
    first.signal(SIGTERM)
    #expect(first.status(within: 30) == 0 && watcher.warns("trying again"))
    try SQLiteShell(path: folder.database).run("INSERT INTO bank VALUES (3, 'Meanwhile', 'AL')")
    let (second, _) = try serve(folder, port: Int(url.split(separator: ":").last!)!)
    #expect(watcher.prints("3\tMeanwhile\tAL\n"))
    try SQLiteShell(path: folder.database).run("UPDATE bank SET name = 'Afterwards' WHERE id = 3")
    #expect(watcher.prints("* [0,2] name=Afterwards\n"))
    #expect(watcher.status(after: SIGINT) == 0)
    second.signal(SIGTERM)
  }

  @Test func `What ends it is said with status 1`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (server, url) = try serve(folder)
    let noTable = try Program.run("watch", url, "nosuch")
    #expect(noTable.status == 1 && noTable.output.isEmpty && noTable.errors.contains("no_such_table: "))
    // This path gets 404, as from a proxy.
    let noPath = try Program.run("watch", url + "/elsewhere", "bank")
    #expect(noPath.status == 1 && noPath.errors.contains("404"))
    let watcher = try Watcher([url, "bank"])
    #expect(watcher.prints("Citizens"))
    try SQLiteShell(path: folder.database).run("ALTER TABLE bank RENAME TO other")
    #expect(watcher.warns("schema_changed: "))
    try SQLiteShell(path: folder.database).run("UPDATE other SET name = 'Renamed'; ALTER TABLE other RENAME TO bank")
    #expect(watcher.prints("Renamed"))
    #expect(watcher.status(after: SIGINT) == 0)
    server.signal(SIGTERM)
    #expect(server.status(within: 30) == 0)
    let nobody = try Program.run("watch", url, "bank")
    #expect(nobody.status == 1 && nobody.errors.contains("cannot connect to \(url): nobody answers"))
  }

  @Test(arguments: [
    ["ftp://x", "t"], ["http://x:0", "t"], ["http://x"], ["http://x", "{", "--json"], ["http://x", "t", "--name", "n"],
    ["http://x", "t", "--param", "x"], ["http://x", "t", "--limit", "-1"], ["http://x", "t", "--offset", "x"],
  ])
  func `Wrong arguments have status 64`(arguments: [String]) throws {
    #expect(try Program.run(["watch"] + arguments).status == 64)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
  func `A terminal shows one screen, which scrolls, and is left as it was`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, 'row ' || i FROM n;"
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY, a); \(rows)")
    let (server, url) = try serve(folder)
    let watcher = try Watcher([url, "t"], terminal: (40, 10), environment: ["TERM": "xterm", "NO_COLOR": ""])
    #expect(watcher.prints("1–8 of 100 rows · commit "))
    #expect(watcher.output.contains("\u{1B}[?1049h") && !watcher.output.contains("row 9\u{1B}"))
    try SQLiteShell(path: folder.database).run("UPDATE t SET a = 'changed' WHERE id = 2")
    #expect(watcher.prints("\u{1B}[1;33mchanged"))
    watcher.type("\u{1B}[6~")
    #expect(watcher.prints("8–15 of 100 rows"))
    watcher.type("G")
    #expect(watcher.prints("93–100 of 100 rows"))
    watcher.type("q")
    #expect(watcher.prints("\u{1B}[?25h\u{1B}[?1049l"))
    #expect(watcher.status() == 0)
    server.signal(SIGTERM)
  }
}
