import Foundation
import GRDB
import Store
import TestSupport
import Testing
import Wire

/// The built executable, as a process: what it prints, how it ends.
@Suite struct CommandTests {
  /// Next to the tests' own bundle.
  static let executable = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "freshet")

  final class Command {
    let process = Process()
    private let output = Pipe()
    private let error = Pipe()

    init(_ arguments: [String]) throws {
      process.executableURL = CommandTests.executable
      process.arguments = arguments
      process.standardOutput = output
      process.standardError = error
      try process.run()
    }

    /// Waits for the end.
    func finish() throws -> (status: Int32, output: String, error: String) {
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      let complained = try error.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (
        process.terminationStatus, String(decoding: printed, as: UTF8.self), String(decoding: complained, as: UTF8.self)
      )
    }

    /// The port from the line that says where it listens.
    func port() throws -> Int {
      var text = ""
      while !text.hasSuffix("/\n"), let byte = try error.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
        text += String(decoding: byte, as: UTF8.self)
      }
      return text.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    }

    deinit { if process.isRunning { process.terminate() } }
  }

  private func run(_ arguments: String...) throws -> (status: Int32, output: String, error: String) {
    try Command(arguments).finish()
  }

  /// A database of its own for every test.
  private func database(_ sql: String = "CREATE TABLE t(id INTEGER PRIMARY KEY, a);") throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "app.sqlite").path
    _ = try SQLiteShell(path: path).run("PRAGMA journal_mode=WAL;\n" + sql)
    return path
  }

  @Test func versionAndHelp() throws {
    #expect(try run("--version").output == "0.1.0\n")
    for arguments in [["--help"], ["serve", "--help"], ["demo", "--help"], ["track", "--help"], ["untrack", "--help"]] {
      let result = try Command(arguments).finish()
      #expect(result.status == 0 && result.output.contains("USAGE"))
    }
  }

  @Test(arguments: ["missing", "directory", "text", "port", "public", "option", "level"])
  func whatCannotBeServedIsOneSentence(problem: String) throws {
    let path = try database()
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var arguments = ["serve", path, "--port", "0"]
    var sentence = ""
    var busy: RawListener?
    switch problem {
    case "missing": (arguments[1], sentence) = (path + "x", "there is no file")
    case "directory": (arguments[1], sentence) = (folder, "is a directory")
    case "text":
      try Data(String(repeating: "no database ", count: 100).utf8).write(to: URL(fileURLWithPath: path + ".txt"))
      (arguments[1], sentence) = (path + ".txt", "is not an SQLite database")
    case "port":
      busy = try RawListener()
      (arguments[3], sentence) = (String(busy!.port), "is already in use")
    case "public": (arguments, sentence) = (arguments + ["--public", path + "x"], "cannot read the directory")
    case "option": (arguments, sentence) = (arguments + ["--port", "70000"], "--port must be 0 to 65535")
    default: (arguments, sentence) = (arguments + ["--log-level", "loud"], "is no log level")
    }
    let result = try Command(arguments).finish()
    withExtendedLifetime(busy) {}
    #expect(result.status != 0)
    #expect(result.error.contains(sentence), "\(result.error)")
    #expect(!result.error.contains(".swift:") && !result.error.contains("Fatal"), "no stack trace: \(result.error)")
    // The first line says it; argument errors are followed by the usage.
    #expect(result.error.hasPrefix("Error: "))
  }

  @Test func trackAndUntrackLeaveTheSchemaAsItWas() throws {
    let path = try database(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT 1;")
    let schema = { try SQLiteShell(path: path).run("SELECT quote(type),quote(name),quote(sql),rootpage FROM sqlite_master;") }
    let before = try schema()
    #expect(try run("track", path).output == "tracking t\n")
    #expect(try schema() != before)
    #expect(try run("track", path, "t").status == 0)
    #expect(try run("untrack", path).status == 0)
    #expect(try schema() == before)
    let refused = try run("track", path, "nothing")
    #expect(refused.status == 1 && refused.error.contains("no such table: nothing"))
    #expect(try run("track", path, "v").error.contains("cannot be tracked"))
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func aSignalStopsItInOrder(signal: Int32) throws {
    let path = try database()
    let command = try Command(["serve", path, "--track", "--allow-writes", "--port", "0"])
    let port = try command.port()
    let client = try LiveClient(port: port)
    try client.subscribe("a", "{\"from\":\"t\"}")
    // What is acknowledged stays, also when the signal follows at once.
    try client.send(
      "{\"type\":\"transact\",\"id\":\"w\",\"statements\":[{\"sql\":\"INSERT INTO t VALUES (1, 2)\"}]}")
    _ = try client.receive("committed")
    kill(command.process.processIdentifier, signal)
    var code: Int?
    while code == nil {
      let frame = try client.socket.readFrame()
      if frame.opcode == .close { code = frame.code }
    }
    #expect(code == 1001)
    let start = ContinuousClock.now
    client.socket.close()
    #expect(try command.finish().status == 0)
    #expect(ContinuousClock.now - start < .seconds(10))
    #expect(throws: RawSocket.Failure.self) { try RawSocket(port: port) }
    #expect(try SQLiteShell(path: path).run("SELECT * FROM t;") == "1|2")
  }

  @Test func healthAsksAServer() throws {
    let path = try database()
    let command = try Command(["serve", path, "--port", "0"])
    let port = try command.port()
    #expect(try run("health", "http://127.0.0.1:\(port)/healthz").status == 0)
    #expect(try run("health", "http://127.0.0.1:\(port)/v1/nothing").error.contains("404"))
    command.process.terminate()
    #expect(try command.finish().status == 0)
    #expect(try run("health", "http://127.0.0.1:\(port)/healthz").status == 1)
  }
}

/// A port that is taken.
final class RawListener {
  private let descriptor: Int32
  let port: Int

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) | listen(descriptor, 1) | getsockname(descriptor, address, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    if code != 0 { throw RawSocket.Failure(description: "no port to take") }
  }

  deinit { close(descriptor) }
}
