import Foundation
import TestSupport
import Testing

/// What the command says to those who mistype it.
@Suite struct CommandMessageTests {
  @Test(arguments: [
    (["serv"], "there is no command serv: did you mean serve?"),
    (
      ["xyzzy"],
      "there is no command xyzzy: there are serve, check, demo, import, explain, types, watch, health, status, help"
    ),
    (["serv", "--port", "1"], "did you mean serve?"),
  ])
  func `An unknown command`(arguments: [String], expected: String) throws {
    let result = try Program.run(arguments)
    #expect(result.status == 64 && result.errors.contains(expected), "\(result)")
  }

  @Test func `A file where a command or a server should be`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let alone = try Program.run(folder.database)
    #expect(alone.status == 64 && alone.errors.contains("freshet serve \(folder.database)"), "\(alone)")
    let watched = try Program.run("watch", folder.database)
    #expect(watched.status == 64 && watched.errors.contains("watch follows a server"), "\(watched)")
    #expect(watched.errors.contains("freshet watch http://127.0.0.1:8080 TABLE"))
  }

  @Test(arguments: [("WAL", "row by row, from its write-ahead log"), ("DELETE", "warning freshet: ")])
  func `The start says how the file is followed`(mode: String, expected: String) throws {
    let folder = try ProgramFolder("PRAGMA journal_mode = \(mode); CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let program = try Program(["serve", folder.database, "--port", "0"])
    _ = try program.port()
    program.stop()
    let log = try program.errorOutput()
    #expect(log.contains(expected) && log.contains("whole tables are compared") == (mode == "DELETE"), "\(log)")
  }

  @Test func `A file that is not there is waited for, and one with a similar name is mentioned`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let program = try Program(["serve", String(folder.database.dropLast()), "--port", "0"])
    _ = try program.port()
    program.stop()
    let name = try #require(folder.database.split(separator: "/").last)
    let log = try program.errorOutput()
    #expect(log.contains("yet: waiting for it (did you mean \(name)?)"), "\(log)")
  }

  /// A process that takes itself for the last to close a database deletes its -wal. The server would then follow nothing.
  @Test func `The start leaves the server's locks on the file alone`() throws {
    let folder = try ProgramFolder("PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    #expect(try RawSocket(port: port).request("GET", "/v1/snapshot?from=t").status == 200)
    #expect(try SQLiteShell(path: folder.database).run("INSERT INTO t VALUES (1)") == "")
    #expect(FileManager.default.fileExists(atPath: folder.database + "-wal"))
    program.stop()
  }
}
