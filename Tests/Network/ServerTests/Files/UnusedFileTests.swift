import Foundation
import ServerSupport
import TestSupport
import Testing

/// While no list is open, programs can lock a served file exclusively.
@Suite struct UnusedFileTests {
  private static let schema =
    "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')"

  @Test func `A program can leave WAL mode while no list is open`() throws {
    let folder = try ProgramFolder(Self.schema)
    let program = try Program(["serve", folder.database, "--port", "0", "--allow-writes"])
    defer { program.stop() }
    let port = try program.port()
    let get = { (path: String) in try RawSocket(port: port).request("GET", path) }
    let insert = { (id: Int) in
      try RawSocket(port: port).request(
        "POST", "/v1/transactions", headers: ["Content-Type: application/json"],
        body: #"{"statements":[{"sql":"INSERT INTO t VALUES (\#(id), 'y')"}]}"#)
    }
    #expect(try insert(2).status == 200)
    let shell = SQLiteShell(path: folder.database)
    #expect(
      try comesTrue { try shell.run("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE").hasSuffix("delete") })
    for path in ["/readyz", "/metrics"] { #expect(try get(path).status == 200) }
    #expect(try insert(3).status == 200)
    #expect(try comesTrue { try shell.run("PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL").hasSuffix("wal") })
    let client = try LiveClient(port: port)
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.line("q") == "''/: 1,'x' 2,'y' 3,'y'")
    #expect(try shell.run("INSERT INTO t VALUES (4, 'z')") == "")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,'x' 2,'y' 3,'y' 4,'z'")
  }

  @Test func `Readiness names the program that has locked the file`() throws {
    let folder = try ProgramFolder(Self.schema)
    let program = try Program(["serve", folder.database, "--port", "0"])
    defer { program.stop() }
    let port = try program.port()
    let get = { (path: String) in try RawSocket(port: port).request("GET", path) }
    var holder: SQLiteSession? = try SQLiteSession(path: folder.database)
    // Succeeds once the server has closed the file.
    let probe = SQLiteShell(path: folder.database)
    #expect(
      try comesTrue {
        try holder?.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
        return try probe.run("PRAGMA busy_timeout = 0; SELECT 'read' FROM t").contains("locked")
      })
    _ = try get("/v1/snapshot?from=t")
    #expect(
      try comesTrue {
        let answer = try get("/readyz")
        return answer.status == 503 && answer.text.contains("locked by sqlite3 (process ")
      })
    holder = nil
    #expect(try comesTrue { try get("/readyz").status == 200 })
    #expect(try get("/v1/snapshot?from=t").status == 200)
  }
}
