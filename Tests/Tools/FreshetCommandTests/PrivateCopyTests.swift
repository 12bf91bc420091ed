import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// `serve --copy`: a file that another program keeps locked, as browsers do.
@Suite struct PrivateCopyTests {
  private func follow(_ client: LiveClient, until line: String) throws {
    #expect(try client.receive { client.line("q") == line }, "\(client.line("q"))")
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `A file that a program has for itself is followed`(mode: String) throws {
    let folder = try ProgramFolder(
      "PRAGMA page_size = 1024; VACUUM; PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let browser = try SQLiteSession(path: folder.database)
    try browser.run("PRAGMA locking_mode = EXCLUSIVE; INSERT INTO t VALUES (1, 'x')")
    #expect(try SQLiteShell(path: folder.database).run(".timeout 0\nSELECT * FROM t").contains("locked"))
    let program = try Program(["serve", folder.database, "--copy", "--port", "0"])
    defer { program.stop() }
    let client = try LiveClient(port: try program.port())
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.line("q") == "''/: 1,'x'")
    try browser.run("INSERT INTO t VALUES (2, 'y'), (3, 'z'); DELETE FROM t WHERE id = 1")
    try follow(client, until: "''/: 2,'y' 3,'z'")
    #expect(client.change("q") == "patch")
    try browser.run(
      "BEGIN; INSERT INTO t VALUES (4, 'never'); ROLLBACK; PRAGMA wal_checkpoint; UPDATE t SET a = 'w' WHERE id = 3")
    try follow(client, until: "''/: 2,'y' 3,'w'")
    #expect(client.ended["q"] == nil)
  }

  @Test func `Clients cannot write to a copy`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(a)")
    let result = try Program.run("serve", folder.database, "--copy", "--allow-writes", "--port", "0")
    #expect(result.status == 1 && result.errors.contains("would be lost"), "\(result)")
  }
}
