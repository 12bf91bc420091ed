import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Changes that people and scripts make to the -wal and -shm of a database that is served. The server is a process of
/// its own, because all connections of a process share one -shm.
@Suite struct LostFileTests {
  /// A server, a client that follows all rows, and fresh processes that write and read.
  private final class Served {
    let folder: ProgramFolder
    let program: Program
    let port: Int
    let client: LiveClient
    var shell: SQLiteShell { SQLiteShell(path: folder.database) }

    init(_ arguments: String...) throws {
      folder = try ProgramFolder(
        "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')")
      program = try Program(["serve", folder.database, "--port", "0"] + arguments)
      port = try program.port()
      client = try LiveClient(port: port)
      try client.subscribe("q", #"{"from":"t"}"#)
    }

    deinit { program.stop() }

    func delete(_ suffixes: [String]) throws {
      for suffix in suffixes { try FileManager.default.removeItem(atPath: folder.database + suffix) }
    }

    func transact(_ sql: String) throws -> Int {
      let body = #"{"statements":[{"sql":"\#(sql)"}]}"#
      return try RawSocket(port: port).request(
        "POST", "/v1/transactions", headers: ["Content-Type: application/json"], body: body
      ).status
    }

    /// The rows that a process reads which opens the database now.
    func rows() throws -> String {
      try shell.run("SELECT '''''/: ' || group_concat(id || ',' || quote(a), ' ') FROM (SELECT * FROM t ORDER BY id)")
    }

    /// Waits until the client holds what another process reads.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let rows = try rows()
      _ = try client.receive { client.line("q") == rows }
      #expect(client.line("q") == rows, sourceLocation: sourceLocation)
      #expect(client.ended["q"] == nil, sourceLocation: sourceLocation)
    }
  }

  static let losses = [["-wal"], ["-shm"], ["-wal", "-shm"]]

  @Test(arguments: losses)
  func acknowledgedWritesOutliveTheFiles(suffixes: [String]) throws {
    let served = try Served("--allow-writes")
    #expect(try served.transact("INSERT INTO t VALUES (2, 'before')") == 200)
    try served.delete(suffixes)
    #expect(try served.transact("INSERT INTO t VALUES (3, 'at once')") == 200)
    #expect(try served.rows() == "''/: 1,'x' 2,'before' 3,'at once'")
    try served.check()
    #expect(try served.shell.run("INSERT INTO t VALUES (4, 'others')") == "")
    try served.check()
    #expect(try served.transact("INSERT INTO t VALUES (5, 'after')") == 200)
    #expect(try served.rows().hasSuffix(" 4,'others' 5,'after'"))
    try served.check()
  }

  @Test(arguments: losses)
  func whatWasAcknowledgedIsSavedAlsoWhenNothingMoreIsWritten(suffixes: [String]) throws {
    let served = try Served("--allow-writes")
    #expect(try served.transact("INSERT INTO t VALUES (2, 'before')") == 200)
    try served.delete(suffixes)
    usleep(1_000_000)
    #expect(try served.rows() == "''/: 1,'x' 2,'before'")
    try served.check()
    #expect(try served.shell.run("INSERT INTO t VALUES (4, 'others')") == "")
    try served.check()
  }

  @Test(arguments: losses)
  func allFollowersLetGoOfTheFiles(suffixes: [String]) throws {
    let live = try LiveServer(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x');"
    ) {
      $0.limits.followers = 3
      $0.access.allowsWrites = true
    }
    // No other connection of this process may have this database open.
    try live.queue.close()
    let client = try live.connect()
    let ids = (1...6).map { "\($0)" }
    for id in ids { try client.subscribe(id, #"{"from":"t","where":"id > 0 OR id = -\#(id)"}"#) }
    var rows = "''/: 1,'x'"
    for id in 2..<8 {
      if id % 2 == 0 {
        for suffix in suffixes { try FileManager.default.removeItem(atPath: live.path + suffix) }
      }
      if id < 5 {
        let body = #"{"statements":[{"sql":"INSERT INTO t VALUES (\#(id), 'y')"}]}"#
        let answer = try live.http("POST", "/v1/transactions", headers: ["Content-Type: application/json"], body: body)
        #expect(answer.status == 200, "\(answer.text)")
      } else {
        // A program that opens the file before the server has saved what was in the deleted -wal begins another.
        if id % 2 == 0 { usleep(1_500_000) }
        #expect(try SQLiteShell(path: live.path).run("INSERT INTO t VALUES (\(id), 'y')") == "")
      }
      rows += " \(id),'y'"
      _ = try client.receive { ids.allSatisfy { client.line($0) == rows } }
      #expect(ids.map { client.line($0) } == ids.map { _ in rows })
      #expect(try SQLiteShell(path: live.path).run("SELECT count(*) FROM t") == "\(id)")
    }
    live.stop()
  }

  @Test(arguments: losses)
  func aReaderTakesUpTheFilesThatOthersHave(suffixes: [String]) throws {
    let served = try Served()
    #expect(try served.shell.run("INSERT INTO t VALUES (2, 'before')") == "")
    try served.check()
    try served.delete(suffixes)
    usleep(1_000_000)
    try served.check()
    for id in 5..<8 {
      #expect(try served.shell.run("INSERT INTO t VALUES (\(id), 'after')") == "")
      try served.check()
    }
  }

  /// If the -shm is truncated within a transaction, or while a follower reads it, any process would crash. That is
  /// rare, and then the test tries again.
  @Test(arguments: [[], ["--allow-writes"]])
  func aShortenedSharedMemoryDoesNotEndTheProcess(arguments: [String]) throws {
    for attempt in 1...4 {
      let served = try arguments.isEmpty ? Served("--self-check", "off") : Served(arguments[0], "--self-check", "off")
      do { return try shorten(served, mayWrite: !arguments.isEmpty) } catch {
        guard attempt < 4, served.program.endingSignal(within: 5) == SIGBUS else { throw error }
      }
    }
  }

  private func shorten(_ served: Served, mayWrite: Bool) throws {
    if mayWrite { #expect(try served.transact("INSERT INTO t VALUES (2, 'before')") == 200) }
    for id in 10..<20 {
      // Followers answer this at the end of their transactions.
      #expect(try RawSocket(port: served.port).request("GET", "/readyz").status == 200)
      usleep(50_000)
      try #require(truncate(served.folder.database + "-shm", id % 2 == 0 ? 0 : 100) == 0)
      // The server also checks by itself.
      if id == 10 { usleep(1_200_000) }
      if id % 3 == 0, mayWrite {
        #expect(try served.transact("INSERT INTO t VALUES (\(id), 'mine')") == 200)
      } else {
        #expect(try served.shell.run("INSERT INTO t VALUES (\(id), 'others')") == "")
      }
      try served.check()
    }
    #expect(try RawSocket(port: served.port).request("GET", "/readyz").status == 200)
  }

  @Test func `A server whose database is gone is not ready, and is again when another one is there`() throws {
    let served = try Served()
    let status = { (path: String) in try RawSocket(port: served.port).request("GET", path) }
    #expect(try status("/readyz").status == 200)
    try served.delete(["", "-wal", "-shm"])
    let missing = try status("/readyz")
    #expect(missing.status == 503 && missing.text.contains("the database file is not there"), "\(missing.text)")
    #expect(try status("/healthz").status == 200)
    let other = served.folder.database + ".other"
    _ = try SQLiteShell(path: other).run("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (3, 'z')")
    try FileManager.default.moveItem(atPath: other, toPath: served.folder.database)
    try served.check()
    #expect(try status("/readyz").status == 200)
  }

  @Test func `A file that is locked at the start is waited for, and says so`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')")
    let holder = try DatabaseQueue(path: folder.database)
    try holder.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN EXCLUSIVE; INSERT INTO t VALUES (2, 'y')")
      let program = try Program(["serve", folder.database, "--port", "0"])
      defer { program.stop() }
      let port = try program.port()
      let status = { (path: String) in try RawSocket(port: port).request("GET", path) }
      #expect(try status("/healthz").status == 200)
      for path in ["/readyz", "/v1/snapshot?from=t", "/v1/schema"] {
        let answer = try status(path)
        #expect(answer.status == 503 && answer.text.contains("database is locked"), "\(path): \(answer.text)")
      }
      try db.execute(sql: "COMMIT")
      #expect(try comesTrue { try status("/readyz").status == 200 })
      let client = try LiveClient(port: port)
      try client.subscribe("q", #"{"from":"t"}"#)
      #expect(client.line("q") == "''/: 1,'x' 2,'y'")
      program.stop()
      #expect(try program.errorOutput().components(separatedBy: "the database is locked: waiting for it").count == 2)
    }
  }
}
