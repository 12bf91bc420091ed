import Foundation
import TestSupport
import Testing

/// `freshet alter` beside a server that goes on.
@Suite struct AlterTests {
  @Test func `A column is dropped under a live query`() throws {
    let folder = try ProgramFolder(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 'x', 'y');")
    let program = try Program(["serve", folder.database, "--track", "--port", "0"])
    let client = try LiveClient(port: program.port())
    try client.subscribe("q", #"{"from":"t","select":["a"]}"#)
    let shell = SQLiteShell(path: folder.database)
    #expect(try shell.run("ALTER TABLE t DROP COLUMN b").contains("_freshet_1_update"))
    let altered = try Program.run("alter", folder.database, "ALTER TABLE t DROP COLUMN b")
    #expect(altered == (0, "", ""))
    try shell.run("UPDATE t SET a = 'z'")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,'z'")
    program.signal(SIGTERM)
    #expect(program.status(within: 5) == 0)
  }
}
