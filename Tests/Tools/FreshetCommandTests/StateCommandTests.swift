import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// `freshet serve` as a process that ends, or is killed, and comes back.
@Suite struct StateCommandTests {
  private static let schema = """
    PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y');
    CREATE TABLE other(id INTEGER PRIMARY KEY);
    """
  private static let query = #"{"from":"t"}"#

  private func serve(_ folder: ProgramFolder, _ arguments: [String] = []) throws -> (Program, LiveClient) {
    let program = try Program(
      ["serve", folder.database, "--port", "0", "--state", folder.path + "/states", "--allow-writes"] + arguments)
    return (program, try LiveClient(port: try program.port()))
  }

  private func states(_ folder: ProgramFolder) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/states")) ?? [])
      .filter { $0.hasSuffix(".state") }
  }

  /// Runs a transaction with a name.
  private func insert(_ client: LiveClient, _ id: Int, once: String) throws -> JSONValue {
    try client.send(
      #"{"type":"transact","id":"x","once":"\#(once)","statements":[{"sql":"INSERT INTO t(a) VALUES ('new')"}]}"#)
    return try client.receive("committed")
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `A client goes on with the next process`(signal: Int32) throws {
    let folder = try ProgramFolder(Self.schema)
    let (first, client) = try serve(folder)
    try client.subscribe("q", Self.query)
    try SQLiteShell(path: folder.database).run("UPDATE t SET a = 'z' WHERE id = 1")
    try client.catchUp(["q"])
    // Wait until two states were kept: that of the beginning, and the first one with the list.
    if signal == SIGKILL { usleep(2_500_000) }
    first.signal(signal)
    if signal == SIGKILL { _ = first.endingSignal(within: 30) } else { #expect(first.status(within: 30) == 0) }
    try SQLiteShell(path: folder.database).run("INSERT INTO other VALUES (1)")
    let (second, again) = try serve(folder)
    #expect(again.epoch == client.epoch)
    try again.resume("q", Self.query, try #require(client.models["q"]))
    #expect(again.change("q") == "patch" && again.line("q") == "''/: 1,'z' 2,'y'")
    let numbers = (before: client.models["q"]!.commit, after: again.models["q"]!.commit)
    #expect(numbers.after > numbers.before)
    // Numbers are skipped only after a kill.
    #expect((numbers.after > numbers.before + 1_000_000) == (signal == SIGKILL))
    second.stop()
    try SQLiteShell(path: folder.database).run("DELETE FROM t WHERE id = 2")
    let (third, last) = try serve(folder)
    try last.resume("q", Self.query, try #require(again.models["q"]))
    #expect(last.change("q") == "snapshot" && last.line("q") == "''/: 1,'z'")
    third.stop()
  }

  @Test func `A server that cannot start leaves everything as it was`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (first, client) = try serve(folder)
    try client.subscribe("q", Self.query)
    first.stop()
    let holder = try Program(["serve", folder.database, "--port", "0"])
    let port = try holder.port()
    for arguments in [["--port", "\(port)"], ["--tls-cert", "/nosuch", "--tls-key", "/nosuch"]] {
      let failed = try Program(
        ["serve", folder.database, "--port", "0", "--state", folder.path + "/states"] + arguments)
      #expect(failed.status(within: 30) == 1)
    }
    holder.stop()
    let (second, again) = try serve(folder)
    #expect(again.epoch == client.epoch)
    try again.resume("q", Self.query, try #require(client.models["q"]))
    #expect(again.change("q") == "patch" && again.models["q"]!.commit < client.models["q"]!.commit + 10)
    second.stop()
  }

  @Test func `A transaction with a name runs once, over restarts`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (first, client) = try serve(folder)
    let committed = try insert(client, 1, once: "only-once")
    first.stop()
    // This server knows the transaction although it cannot write.
    let readOnly = try Program(["serve", folder.database, "--port", "0", "--state", folder.path + "/states"])
    _ = try readOnly.port()
    readOnly.stop()
    let (second, again) = try serve(folder)
    #expect(again.epoch == client.epoch)
    #expect(try insert(again, 2, once: "only-once")["commit"] == committed["commit"])
    let another = try insert(again, 3, once: "another")
    second.signal(SIGKILL)
    _ = second.endingSignal(within: 30)
    let (third, last) = try serve(folder)
    #expect(last.epoch == again.epoch)
    #expect(try insert(last, 4, once: "another")["results"] == another["results"])
    #expect(try insert(last, 5, once: "only-once")["commit"] == committed["commit"])
    // Simulates a restart of the machine, after which data that were not synced may be lost.
    third.signal(SIGKILL)
    _ = third.endingSignal(within: 30)
    let journal = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/states").first { $0.hasSuffix(".once") })
    try FileManager.default.removeItem(atPath: folder.path + "/states/" + journal)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/states/" + journal, withDestinationPath: "/dev/null")
    let (fourth, end) = try serve(folder)
    #expect(end.epoch != last.epoch)
    fourth.stop()
    let rows = try RowCount.of(folder.database)
    #expect(rows == 4)
  }

  @Test func `Nothing is kept where that is not wanted, or not possible`() throws {
    let folder = try ProgramFolder(Self.schema)
    let without = try Program(
      ["serve", folder.database, "--port", "0", "--no-state"], environment: ["XDG_STATE_HOME": folder.path + "/xdg"])
    _ = try without.port()
    without.stop()
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/xdg"))
    // A file where the folder should be.
    let blocked = try Program(["serve", folder.database, "--port", "0", "--state", folder.database])
    _ = try blocked.port()
    blocked.stop()
    let log = try blocked.errorOutput()
    #expect(
      log.split(separator: "\n").filter { $0.contains("nothing is kept for the next start") }.count == 1, "\(log)")
    let home = try Program(
      ["serve", folder.database, "--port", "0"],
      environment: ["FRESHET_STATE": "", "STATE_DIRECTORY": "", "XDG_STATE_HOME": folder.path + "/xdg"])
    _ = try home.port()
    home.stop()
    let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/xdg/freshet")
    #expect(kept.contains { $0.hasSuffix(".0.state") }, "\(kept)")
  }

  @Test func `Of several servers of one file one keeps its state, and the others say so once`() throws {
    let folder = try ProgramFolder(Self.schema)
    let (first, _) = try serve(folder)
    let (second, _) = try serve(folder)
    second.stop()
    first.stop()
    let logs = try [first, second].map { try $0.errorOutput().split(separator: "\n") }
    #expect(logs.map { $0.count { $0.contains("for the next start") } } == [0, 1], "\(logs)")
    #expect(logs[1].contains { $0.contains("another server of this file keeps its state") })
  }

  @Test func `The configuration file says where, or that nothing is kept`() throws {
    let folder = try ProgramFolder(Self.schema)
    for (setting, isKept) in [("states", true), ("false", false)] {
      try Data("database: \(folder.database)\nport: 0\nstate: \(setting)\n".utf8).write(
        to: URL(fileURLWithPath: folder.path + "/freshet.yaml"))
      let program = try Program(
        ["serve", "--config", folder.path + "/freshet.yaml"], environment: ["FRESHET_STATE": ""])
      _ = try program.port()
      program.stop()
      #expect(states(folder).isEmpty != isKept)
      try? FileManager.default.removeItem(atPath: folder.path + "/states")
    }
  }
}

private enum RowCount {
  static func of(_ path: String) throws -> Int {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, "SELECT count(*) FROM t"]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
  }
}
