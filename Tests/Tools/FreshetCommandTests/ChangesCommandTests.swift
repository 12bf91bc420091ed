import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// `freshet changes`, as a process of its own.
@Suite struct ChangesCommandTests {
  private let folder: TemporaryFolder
  private var database: String { folder.path("t.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
    try run(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
      INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 3);
      CREATE TABLE u(k TEXT PRIMARY KEY, v);
      """)
  }

  private func run(_ sql: String) throws { try SQLiteShell(path: database).run(sql) }

  private func changes(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
    try Program.run(["changes", database, "--state", folder.path("states")] + arguments)
  }

  private func short(_ output: String) throws -> [String] {
    try output.split(separator: "\n").flatMap { line in
      guard case .array(let changes)? = try JSONParser.parse(Array(line.utf8))["changes"] else { return ["\(line)"] }
      return changes.map { change in
        let parts = ["key", "old", "new"].compactMap { name in change[name].map { "\(name) \($0.short)" } }
        return ([change["op"]?.short ?? ""] + parts).joined(separator: " ")
      }
    }
  }

  @Test func `What a program did to a file is printed once`() throws {
    let first = try changes("--once")
    #expect(first.status == 0 && first.output.isEmpty && first.errors.contains("this is the first look"))
    try run("UPDATE t SET a = 'z' WHERE id = 1; DELETE FROM t WHERE id = 2; INSERT INTO u VALUES ('k', x'01')")
    let second = try changes("--once")
    #expect(
      try Set(short(second.output)) == [
        "'delete' key {id:2}", "'update' key {id:1} new {a:'z' b:2 id:1}",
        "'insert' key {k:'k'} new {k:'k' v:{$blob:'AQ=='}}",
      ])
    #expect(try changes("--once").output.isEmpty)
    // Another consumer has a position of its own.
    try run("UPDATE t SET a = 'w' WHERE id = 1")
    #expect(try changes("--once", "--consumer", "other").output.isEmpty)
    #expect(try short(changes("--once").output) == ["'update' key {id:1} new {a:'w' b:2 id:1}"])
  }

  @Test func `Columns and conditions are those of one table`() throws {
    _ = try changes("--once", "--table", "t", "--columns", "a", "--where", "b > 2")
    try run("UPDATE t SET a = 'p'; UPDATE t SET b = 9 WHERE id = 1; INSERT INTO u VALUES ('k', 1)")
    let printed = try changes("--once", "--table", "t", "--columns", "a", "--where", "b > 2")
    #expect(try Set(short(printed.output)) == ["'update' key {id:1} new {a:'p'}", "'update' key {id:2} new {a:'p'}"])
    for (arguments, problem) in [
      (["--where", "b > 2"], "name it with --table"), (["--once", "--follow"], "contradict each other"),
      (["--exec", "cat", "--webhook", "http://localhost"], "one of them"), (["--webhook", "nowhere"], "http or https"),
      (["--table", "nosuch"], "no_such_table"), (["--once", "--no-state"], "contradict"),
    ] {
      let answer = try Program.run(["changes", database, "--state", folder.path("states")] + arguments)
      #expect(answer.status != 0 && answer.errors.contains(problem), "\(arguments): \(answer.errors)")
    }
  }

  /// The lines of a file, once it has `count` of them.
  private func lines(of path: String, _ count: Int) throws -> [String] {
    var lines: [String] = []
    let isEnough = comesTrue(within: .seconds(30)) {
      lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
      return lines.count >= count
    }
    try #require(isEnough, "\(path) does not get \(count) lines")
    return lines
  }

  @Test func `A command may end before it has read its input`() throws {
    _ = try changes("--once")
    // The line is longer than a pipe's buffer.
    try run("UPDATE t SET a = hex(randomblob(200000)) WHERE id = 1")
    let program = try Program(
      ["changes", database, "--once", "--state", folder.path("states"), "--exec", "exec <&-; exit 3"])
    #expect(try program.waits(forLog: "the command ended with 3; again in 1.0 s", seconds: 20))
    program.stop()
  }

  @Test func `A command gets each commit until it takes it, also after it was killed`() throws {
    let got = folder.path("got")
    let isDown = folder.path("down")
    let command = "test ! -e '\(isDown)' && cat >> '\(got)'"
    let arguments = ["changes", database, "--state", folder.path("states"), "--exec", command]
    let program = try Program(arguments)
    // The command has begun when a first commit arrives.
    var count = 0
    while count == 0 {
      try run("UPDATE t SET b = b + 1 WHERE id = 2")
      usleep(200_000)
      count = ((try? String(contentsOfFile: got, encoding: .utf8)) ?? "").split(separator: "\n").count
    }
    try run("UPDATE t SET a = 'one' WHERE id = 1")
    #expect(
      try comesTrue { try short(lines(of: got, 1).joined(separator: "\n")).contains { $0.contains("'one'") } })
    _ = FileManager.default.createFile(atPath: isDown, contents: nil)
    try run("UPDATE t SET a = 'two' WHERE id = 1")
    #expect(try program.waits(forLog: "the command ended with 1; again in", seconds: 20))
    program.signal(SIGKILL)
    _ = program.endingSignal(within: 30)
    try run("UPDATE t SET a = 'three' WHERE id = 1; DELETE FROM t WHERE id = 2")
    try FileManager.default.removeItem(atPath: isDown)
    let before = try lines(of: got, 1).count
    let next = try Program(arguments)
    let all = try lines(of: got, before + 2)
    let last = try short(all[before...].joined(separator: "\n"))
    #expect(last.first == "'update' key {id:1} old {a:'one'} new {a:'two' b:2 id:1}")
    #expect(last.dropFirst().contains("'update' key {id:1} old {a:'two'} new {a:'three' b:2 id:1}"), "\(last)")
    #expect(last.contains { $0.hasPrefix("'delete' key {id:2}") })
    next.stop()
  }
}
