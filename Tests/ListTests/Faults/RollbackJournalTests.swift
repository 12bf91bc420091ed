import CFaultyFiles
import Following
import Foundation
import GRDB
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

extension FaultyFileTests {
  /// Journals that keep connections from reading: of writers that have just begun, and of killed writers.
  @Suite(.serialized) struct RollbackJournalTests {
    private static let schema = """
      PRAGMA page_size = 512; PRAGMA journal_mode = persist;
      CREATE TABLE t(id INTEGER PRIMARY KEY, a);
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO t SELECT i, printf('%0100d', i) FROM n;
      """
    private static let change = "UPDATE t SET a = 'changed' || id"
    private static let query = OracleQuery(
      table: "t", keys: ["id"], select: ["a"], orderBy: ["a"], window: (offset: 0, limit: 5))

    private func lists(_ path: String) throws -> SteppedLists {
      try SteppedLists(path: path, [Self.query]) {
        $0.refetchInterval = .zero
        $0.retryInterval = .zero
      }
    }

    private func expectRight(_ lists: SteppedLists, _ context: String) throws {
      for _ in 0..<3 { lists.step() }
      let answer = try DatabaseQueue(path: lists.path).read { try Self.query.answer($0) }
      let model = try #require(lists.output.models["0"], "\(context): \(lists.output.troubles)")
      #expect(model.difference(from: answer) == nil, "\(context)")
      #expect(lists.output.troubles == [], "\(context)")
    }

    /// Leaves the journal of a writer that was killed after it had written a part of its transaction to the file.
    private func leaveHotJournal(_ path: String) throws {
      // If a reader's lock keeps the writer from the file until its end, there is nothing to roll back: try again.
      for _ in 0..<50 {
        try killWriter(of: path)
        if try Data(contentsOf: URL(fileURLWithPath: path + "-journal")).first != 0 { return }
      }
      Issue.record("no journal is hot")
    }

    private func killWriter(of path: String) throws {
      let writer = Process()
      let (input, output) = (Pipe(), Pipe())
      writer.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      writer.arguments = ["sqlite3", "-init", "/dev/null", path]
      (writer.standardInput, writer.standardOutput) = (input, output)
      try writer.run()
      let sql =
        "PRAGMA journal_mode = persist; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; \(Self.change);"
      input.fileHandleForWriting.write(Data("\(sql)\n.shell echo done\n".utf8))
      var text = ""
      while !text.contains("done"), let data = try output.fileHandleForReading.read(upToCount: 1) {
        text += String(decoding: data, as: UTF8.self)
      }
      kill(writer.processIdentifier, SIGKILL)
      writer.waitUntilExit()
    }

    @Test func whatAKilledWriterLeftIsRolledBack() throws {
      let folder = try ProgramFolder(Self.schema)
      let lists = try lists(folder.database)
      try expectRight(lists, "at first")
      try leaveHotJournal(folder.database)
      try lists.subscribe(1, Self.query)
      for _ in 0..<3 { lists.step() }
      #expect(lists.output.ended["1"] == nil, "\(lists.output.troubles)")
      #expect(lists.output.models["1"]?.visibleRows.first??["a"] == .string(String(repeating: "0", count: 99) + "1"))
      try lists.writer.run(Self.change)
      try expectRight(lists, "after the next writer")
    }

    @Test func aFileIsOpenedThatAKilledWriterLeft() throws {
      let folder = try ProgramFolder(Self.schema)
      try leaveHotJournal(folder.database)
      let lists = try lists(folder.database)
      try expectRight(lists, "opened")
      try lists.writer.run(Self.change)
      try expectRight(lists, "after the next writer")
    }

    /// A server that may not write reports that everywhere, and continues when another program has rolled the journal
    /// back.
    @Test func whereItCannotBeRolledBackEverybodyHearsOfIt() throws {
      let folder = try ProgramFolder(Self.schema)
      let program = try Program(["serve", folder.database, "--port", "0"], asNobody: getuid() == 0)
      let port = try program.port()
      if getuid() != 0 {
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder.database)
      }
      let client = try LiveClient(port: port)
      try client.subscribe("q", Self.query.json, window: Self.query.window)
      try leaveHotJournal(folder.database)
      let sentence = "a writer was killed in a transaction"
      var answer = try RawSocket(port: port).request("GET", "/readyz")
      #expect(answer.status == 503 && answer.text.contains(sentence), "\(answer)")
      let message = try client.receive("error")
      #expect(message["id"] == .string("q") && message["fatal"] == .bool(false))
      #expect(message["message"].map { "\($0)" }?.contains(sentence) == true, "\(message)")
      if getuid() != 0 {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.database)
      }
      try SQLiteShell(path: folder.database).run("SELECT count(*) FROM t;")
      // The list has not changed: an empty patch shows that it is up to date again.
      while true {
        let message = try client.receive()
        if message["type"] == .string("patch") { break }
      }
      answer = try RawSocket(port: port).request("GET", "/readyz")
      #expect(answer.status == 200, "\(answer)")
      try SQLiteShell(path: folder.database).run(Self.change + ";")
      while client.models["q"]?.visibleRows.first??["a"] != .string("changed1") { try client.receive() }
    }

    /// The writer begins after SQLite has checked for its lock and before it checks for its journal, whose header is in
    /// the file at once because nothing is synced.
    @Test(arguments: ["persist", "delete", "truncate"])
    func aWritersBeginningIsNoHotJournal(mode: String) throws {
      faulty_files_install()
      let folder = try ProgramFolder(Self.schema + "PRAGMA journal_mode = \(mode);")
      let lists = try lists(folder.database)
      try lists.writer.run(
        "PRAGMA journal_mode = \(mode); PRAGMA synchronous = OFF; BEGIN IMMEDIATE; UPDATE t SET a = 'begun' WHERE id < 20"
      )
      faulty_files_hide_writers(folder.database, 3)
      // All connections are opened while the writer lives: followers', readers', and the compiler's.
      for _ in 0..<3 { lists.step() }
      #expect(lists.output.troubles == [])
      try lists.writer.run("COMMIT")
      try expectRight(lists, "after the commit, \(mode)")
      for number in 0..<10 {
        try lists.writer.run("BEGIN IMMEDIATE; UPDATE t SET a = 'again \(number)' || id WHERE id % 7 = \(number % 7)")
        faulty_files_hide_writers(folder.database, Int32(number))
        lists.tick()
        try lists.subscribe(number + 1, Self.query)
        lists.step()
        try lists.writer.run("COMMIT")
        try expectRight(lists, "after commit \(number), \(mode)")
      }
      #expect(lists.output.ended.isEmpty)
    }
  }
}
