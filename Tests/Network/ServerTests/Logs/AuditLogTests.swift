import Foundation
import Ground
import LiveQuery
import Logging
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

@testable import Server

/// The audit log of a real server.
@Suite struct AuditLogTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """
  private static let yaml = """
    roles:
      clerk: { tables: { t: }, statements: [rename], write: any, queries: any }
      anonymous: { tables: { t: }, queries: any }
    statements:
      rename: { sql: "UPDATE t SET a = :a", parameters: { a: { type: text } } }
      one: { sql: "UPDATE t SET a = :a", parameters: { a: { type: text } }, expect: { changes: 1 } }
    """

  private func serve(_ log: LogDestination, hasRoles: Bool = false, patience: Duration = .seconds(5)) throws
    -> LiveServer
  {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    return try LiveServer(Self.schema) {
      $0.access.statements = PublishedStatements(file.statements)
      $0.logs.audit = log
      $0.logs.auditPatience = patience
      $0.access.allowsWrites = true
      if hasRoles {
        $0.access.roles = file.roles
        $0.authentication = try? .shared()
      }
    }
  }

  private func write(_ live: LiveServer, _ body: String, headers: [String] = []) throws -> RawResponse {
    try live.http("POST", "/v1/transactions", headers: headers, body: body)
  }

  private func values(_ live: LiveServer) throws -> String {
    try SQLiteShell(path: live.path).run("SELECT group_concat(a) FROM t;")
  }

  @Test func `A write is a line when it begins and one when it ends, with what came of it`() throws {
    let folder = try LogFolder()
    let live = try serve(folder.log("log"))
    let committed = try JSONParser.parse(write(live, #"{"name":"rename","params":{"a":"VALUE"}}"#).body)
    #expect(try write(live, #"{"name":"one","params":{"a":"VALUE"}}"#).status == 409)
    #expect(try write(live, #"{"statements":[{"sql":"INSERT INTO t VALUES (1, 'VALUE')"}]}"#).status == 409)
    #expect(try write(live, #"{"statements":[{"sql":"DROP TABLE t"}]}"#).status == 403)
    #expect(try write(live, #"{"name":"VALUE"}"#).status == 400)
    let client = try live.connect()
    try client.send(#"{"type":"transact","id":"SECRET","statements":[{"sql":"DELETE FROM t WHERE id = 1"}]}"#)
    let second = try client.receive("committed")
    live.stop()
    let lines = try folder.lines()
    #expect(
      lines.map { $0.line(without: ["ms", "fingerprint", "id", "commit"]) } == [
        "address=127.0.0.1 event=begin name=rename",
        "address=127.0.0.1 changes=2 event=end name=rename outcome=committed",
        "address=127.0.0.1 event=begin name=one",
        "address=127.0.0.1 event=end name=one outcome=constraint",
        "address=127.0.0.1 event=begin",
        "address=127.0.0.1 event=end outcome=constraint",
        "address=127.0.0.1 event=begin",
        "address=127.0.0.1 event=end outcome=not_allowed",
        "address=127.0.0.1 event=refused outcome=bad_query",
        "address=127.0.0.1 event=begin",
        "address=127.0.0.1 changes=1 event=end outcome=committed",
      ])
    #expect(lines[1]["commit"] == committed["commit"] && lines[10]["commit"] == second["commit"])
    #expect(lines[0].text("id") == lines[1].text("id") && Set(lines.compactMap { $0.text("id") }).count == 5)
    #expect(lines[4].text("fingerprint") == lines[5].text("fingerprint"))
    #expect(lines[4].text("fingerprint") != lines[6].text("fingerprint"))
    #expect(lines[1].number("ms") != nil)
    let text = try folder.text()
    for word in ["VALUE", "SECRET", "INSERT", "DELETE", "DROP"] { #expect(!text.contains(word)) }
  }

  @Test func `A line says who writes, and who was refused`() async throws {
    let folder = try LogFolder()
    let live = try serve(folder.log("log"), hasRoles: true)
    let token = try TokenMaker.shared().token(#"{"sub":"u\n7","role":"clerk"}"#)
    let rename = #"{"name":"rename","params":{"a":"z"}}"#
    #expect(try write(live, rename, headers: ["Authorization: Bearer \(token)"]).status == 200)
    #expect(try write(live, rename).status == 403)
    let client = try live.connect(headers: ["Authorization: Bearer \(token)"])
    try client.send(#"{"type":"transact","id":"w","name":"one","params":{"a":"z"}}"#)
    #expect(try client.receive("error")["code"] == .string("not_allowed"))
    live.stop()
    #expect(
      try folder.lines().map { $0.line(without: ["ms", "id", "commit", "address"]) } == [
        "event=begin name=rename role=clerk sub=u\n7",
        "changes=2 event=end name=rename outcome=committed role=clerk sub=u\n7",
        "event=refused outcome=not_allowed role=anonymous",
        "event=refused name=one outcome=not_allowed role=clerk sub=u\n7",
      ])
    #expect(try !folder.text().contains(token.prefix(20)))
  }

  @Test func `What cannot be logged is not written`() throws {
    let live = try serve(.file("/dev/full"))
    let answer = try write(live, #"{"name":"rename","params":{"a":"z"}}"#)
    #expect(answer.status == 503 && answer.text.contains(#""code":"overloaded""#))
    #expect(answer.text.contains("the audit log cannot be written: nothing was changed"))
    let client = try live.connect()
    try client.send(#"{"type":"transact","id":"w","name":"rename","params":{"a":"z"}}"#)
    #expect(try client.receive("error")["code"] == .string("overloaded"))
    #expect(try values(live) == "x,y")
    #expect(try live.http("GET", "/v1/snapshot?from=t").status == 200)
    live.stop()
  }

  @Test func `A log that hangs keeps writers waiting for a while, and then nothing is written`() throws {
    let folder = try LogFolder()
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDWR | O_NONBLOCK)
    let block = [UInt8](repeating: 0, count: 4_096)
    while Foundation.write(reader, block, block.count) > 0 {}
    let live = try serve(.file(path), patience: .milliseconds(100))
    #expect(try write(live, #"{"name":"rename","params":{"a":"z"}}"#).status == 503)
    #expect(try values(live) == "x,y")
    live.stop()
    close(reader)
  }

  /// A disk can be mounted.
  private static let mayMount = getuid() == 0 && (try? LogFolder(diskOf: 4_096)) != nil

  @Test(.enabled(if: mayMount)) func `A disk that is full refuses writes until there is room, and no line is torn`()
    throws
  {
    let folder = try LogFolder(diskOf: 64 << 10)
    let live = try serve(folder.log("log"))
    #expect(try write(live, #"{"name":"rename","params":{"a":"1"}}"#).status == 200)
    _ = try folder.lines { $0.text("event") == "end" }
    try folder.fill()
    // The last block of the disk may have room for a few lines.
    var value = 1
    while try write(live, #"{"name":"rename","params":{"a":"\#(value + 1)"}}"#).status == 200 { value += 1 }
    #expect(try values(live) == "\(value),\(value)")
    #expect(try write(live, #"{"name":"rename","params":{"a":"no"}}"#).status == 503)
    try folder.makeRoom()
    #expect(try write(live, #"{"name":"rename","params":{"a":"yes"}}"#).status == 200)
    live.stop()
    let lines = try folder.lines()
    let committed = lines.filter { $0.text("outcome") == "committed" }
    #expect(committed.count == value + 1)
    let (begun, ended) = (lines.filter { $0.text("event") == "begin" }, lines.filter { $0.text("event") == "end" })
    #expect(Set(begun.compactMap { $0.text("id") }) == Set(ended.compactMap { $0.text("id") }))
  }

  @Test(.enabled(if: mayMount)) func `The end of a write waits for room, and nothing begins before it`() throws {
    let folder = try LogFolder(diskOf: 64 << 10)
    let log = try AuditLog(
      folder.log("log"), patience: .seconds(5), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    log.start()
    let write = AuditLog.Write(actor: LogActor(address: "::1"), subject: .published("rename"))
    let begun = try log.begin(write)
    try folder.fill()
    log.committed(begun, changes: 1, .zero)
    log.numbered(begun, 7)
    // The last block may have room for the line, but not for many.
    for _ in 0..<100 { log.failed(begun, .timeout, .zero) }
    #expect(throws: (any Error).self) { try log.begin(write) }
    try folder.makeRoom()
    let next = try log.begin(write)
    log.failed(next, .constraint, .zero)
    log.stop(grace: .seconds(5))
    #expect(
      try folder.lines().map { $0.line(without: ["ms", "id", "address", "name"]) }.filter {
        $0 != "event=end outcome=timeout"
      }
        == [
          "event=begin", "changes=1 commit=7 event=end outcome=committed", "event=begin",
          "event=end outcome=constraint",
        ])
    #expect(try folder.lines().count == 104)
  }

  @Test func `A commit that no follower has numbered has its line at the end`() throws {
    let folder = try LogFolder()
    let log = try AuditLog(
      folder.log("log"), patience: .seconds(5), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    log.start()
    let begun = try log.begin(.init(actor: LogActor(address: "::1"), subject: nil))
    log.committed(begun, changes: 3, .zero)
    log.stop(grace: .seconds(5))
    #expect(
      try folder.lines().map { $0.line(without: ["ms", "id", "address"]) }
        == ["event=begin", "changes=3 event=end outcome=committed"])
  }
}
