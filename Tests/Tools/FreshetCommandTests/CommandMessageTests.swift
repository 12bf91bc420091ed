import Foundation
import ServerSupport
import TestSupport
import Testing

/// The command's messages about mistyped arguments.
@Suite struct CommandMessageTests {
  @Test(arguments: [
    (["serv"], "there is no command serv: did you mean serve?"),
    (
      ["xyzzy"],
      "there is no command xyzzy: there are serve, check, demo, explain, types, watch, changes, health, status, help"
    ),
    (["serv", "--port", "1"], "did you mean serve?"), (["help", "serv"], "did you mean serve?"),
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
    #expect(
      log.contains("waiting for the file: there is no file \(folder.database.dropLast()): did you mean \(name)?"),
      "\(log)")
  }

  @Test func `In a terminal a file that is not there is an error`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let name = try #require(folder.database.split(separator: "/").last)
    let other = folder.path + "/other.sqlite"
    for (arguments, expected) in [
      ([String(folder.database.dropLast()), "--no-wait"], "did you mean \(name)? --wait waits for one to appear."),
      ([other, "--no-wait"], "there is no file \(other): databases there are \(name). --wait"),
      ([folder.path + "/nosuch/x", "--wait"], "there is no directory"),
    ] {
      let ended = try Program.run(["serve", "--port", "0"] + arguments)
      #expect(ended.status == 1 && ended.errors.contains(expected), "\(ended)")
    }
    // A terminal, made by `script`.
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["script", "-qec", "'\(Program.path)' serve '\(other)' --port 0", "/dev/null"]
    let output = Pipe()
    (process.standardOutput, process.standardInput) = (output, FileHandle.nullDevice)
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1 && text.contains("there is no file"), "\(text)")
  }

  @Test(arguments: [
    ("FRESHET_ALLOW_WRITE", "FRESHET_ALLOW_WRITE is not a setting: did you mean FRESHET_ALLOW_WRITES?"),
    ("FRESHET_ALLOWED_ORIGIN", "did you mean FRESHET_ALLOWED_ORIGINS?"),
    ("FRESHET_MESSAGE_PER_SECOND", "did you mean FRESHET_MESSAGES_PER_SECOND?"),
  ])
  func `A misspelt variable is an error`(name: String, expected: String) throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"], environment: [name: "1"])
    #expect(program.status(within: 30) == 1)
    #expect(try program.errorOutput().contains(expected))
  }

  @Test func `A variable that is somebody else's is mentioned, and changes nothing`() throws {
    let folder = try ProgramFolder()
    let cluster = ["FRESHET_SERVICE_HOST": "10.0.0.1", "FRESHET_PORT": "tcp://10.0.0.1:8080"]
    let program = try Program(["serve", folder.database, "--port", "0"], environment: cluster)
    _ = try program.port()
    #expect(try program.waits(forLog: "FRESHET_SERVICE_HOST is not a setting of freshet", seconds: 30))
    program.stop()
  }

  /// Options, and the command's message.
  @Test(arguments: [
    (
      ["--allow-origin", "app.example.com"],
      "--allow-origin: app.example.com is no origin as browsers send it: say https://app.example.com"
    ),
    (["--allow-origin", "https://App.example.com/"], "say https://app.example.com"),
    (["--allow-origin", "https://a.example:443"], "say https://a.example"),
    (["--allow-origin", "*"], "* is no origin: name each that is allowed"),
    (["--allow-origin", "https://"], "https:// is no origin, such as"),
    (["--allow-host", "https://app.example.com:8080/"], "is no host name: say app.example.com"),
  ])
  func `What no browser sends is no origin and no host`(arguments: [String], expected: String) throws {
    let folder = try ProgramFolder()
    let ended = try Program.run(["serve", folder.database, "--port", "0"] + arguments)
    #expect(ended.status == 1 && ended.errors.contains(expected), "\(ended)")
  }

  @Test func `A refused origin and a refused host are logged once, with what would allow them`() throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    for _ in 0..<3 {
      for headers in [["Host: evil.example:80"], ["Host: localhost", "Origin: https://app.example"]] {
        let socket = try RawSocket(port: port)
        try socket.write("GET /v1/schema HTTP/1.1\r\n\(headers.joined(separator: "\r\n"))\r\n\r\n")
        #expect(try socket.readResponse().status == 403)
      }
    }
    let socket = try RawSocket(port: port)
    try socket.write(
      """
      GET /v1/live HTTP/1.1\r\nHost: localhost\r\nOrigin: https://chat.example:8443\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: freshet.v1\r\n\r\n
      """)
    #expect(try socket.readResponse().status == 403)
    program.stop()
    let log = try program.errorOutput()
    for advice in [
      "--allow-host evil.example (", "--allow-origin https://app.example (",
      "--allow-origin https://chat.example:8443 (",
    ] {
      #expect(log.components(separatedBy: advice).count == 2, "\(log)")
    }
  }

  /// If the server lost its locks, another process would close the database as the last one and delete the -wal, and
  /// the server could not follow the file any more.
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
