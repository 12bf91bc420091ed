import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// A server that is killed as soon as it has given a position to a reader.
@Suite struct EarlyKillTests {
  private static let schema = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY, a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i, i FROM n;
    """

  private func serve(_ folder: ProgramFolder) throws -> (program: Program, port: Int) {
    let program = try Program(["serve", folder.database, "--port", "0", "--state", folder.path + "/states"])
    return (program, try program.port())
  }

  private func kill(_ program: Program) {
    program.signal(SIGKILL)
    _ = program.endingSignal(within: 30)
  }

  /// The table `u` is followed later than `t`: a state with `t` alone does not suffice for it.
  @Test func `A position that was handed out is never too old for the next process`() throws {
    let folder = try ProgramFolder(Self.schema)
    let writer = try SQLiteSession(path: folder.database)
    var positions: [String: String] = [:]
    for round in 0..<3 {
      for table in ["t", "u"] {
        let (program, port) = try serve(folder)
        let client = try LiveClient(port: port)
        let since = positions[table].map { #","since":"\#($0)""# } ?? ""
        try client.send(#"{"type":"changes","id":"c","tables":["\#(table)"]\#(since)}"#)
        if positions[table] != nil {
          let message = try client.receive("changes")
          #expect(try message.list("changes", { $0 }).count == 1, "round \(round), \(table)")
          positions[table] = try message.required("position").text()
        } else {
          positions[table] = try client.receive("changes").required("position").text()
        }
        kill(program)
        for table in positions.keys {
          try writer.run("INSERT OR REPLACE INTO \(table) VALUES (1, \(round * 2) + abs(random() % 1000000))")
        }
      }
    }
  }

  @Test func `Commits of a feed rise over kills, also where the epoch is a new one`() throws {
    let folder = try ProgramFolder(Self.schema)
    let writer = try SQLiteSession(path: folder.database)
    var position: String?
    var commits: [Int64] = []
    for round in 0..<4 {
      let program = try Program(
        ["serve", folder.database, "--port", "0", "--state", folder.path + "/states", "--allow-writes"])
      let client = try LiveClient(port: try program.port())
      try client.subscribe("q", #"{"from":"u"}"#)
      let since = position.map { #","since":"\#($0)""# } ?? ""
      try client.send(#"{"type":"changes","id":"c","tables":["t"]\#(since)}"#)
      if position == nil { position = try client.receive("changes").required("position").text() }
      for number in 0..<5 {
        try writer.run("UPDATE t SET a = \(round * 10 + number) + 0.5 WHERE id = 7")
        let message = try client.receive("changes")
        position = try message.required("position").text()
        if case .integer(let commit)? = message["commit"] { commits.append(commit) }
        try client.catchUp(["q"])
      }
      kill(program)
      // Without these the next process has another epoch, whose numbers begin anew.
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/states")
      where !name.contains(".changes.") {
        try FileManager.default.removeItem(atPath: folder.path + "/states/" + name)
      }
    }
    #expect(commits.count == 20)
    #expect(zip(commits, commits.dropFirst()).allSatisfy { $0 < $1 }, "\(commits)")
  }
}
