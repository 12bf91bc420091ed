import LiveQuery
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// Transactions with a name (`once`), sent several times to a real server.
@Suite struct RepeatedTransactionTests {
  private static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE);"
  private static let yaml = """
    roles:
      clerk: { tables: { t: }, write: any, queries: any }
      anonymous: { tables: { t: }, queries: any }
    """

  private func serve(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws -> LiveServer {
    try LiveServer(Self.schema) {
      $0.access.allowsWrites = true
      configure(&$0)
    }
  }

  private func body(_ sql: String, once: String) -> String {
    #"{"once":"\#(once)","statements":[{"sql":"\#(sql)"}]}"#
  }

  private func message(_ sql: String, once: String, id: String = "w") -> String {
    #"{"type":"transact","id":"\#(id)","once":"\#(once)","statements":[{"sql":"\#(sql)"}]}"#
  }

  private func post(_ live: LiveServer, _ body: String, token: String? = nil) throws -> RawResponse {
    let headers = token.map { ["Authorization: Bearer \($0)"] } ?? []
    return try live.http("POST", "/v1/transactions", headers: headers, body: body)
  }

  private func count(_ live: LiveServer) throws -> String {
    try SQLiteShell(path: live.path).run("SELECT count(*) FROM t;")
  }

  private let insert = "INSERT INTO t(a) VALUES (hex(randomblob(8))) RETURNING id, a"

  @Test func `A repeat is answered with the outcome of the first, through either door`() throws {
    let folder = try LogFolder()
    let live = try serve { $0.logs.audit = folder.log("log") }
    let client = try live.connect()
    try client.send(message(insert, once: "x", id: "first"))
    let first = try client.receive("committed")
    try live.writer.run("INSERT INTO t(a) VALUES ('theirs')")
    try client.send(message(insert, once: "x", id: "second"))
    let second = try client.receive("committed")
    let third = try JSONParser.parse(post(live, body(insert, once: "x")).body)
    #expect(first["id"] == .string("first") && second["id"] == .string("second"))
    for repeated in [second, third] {
      for member in ["changes", "commit", "results"] {
        #expect(repeated[member] == first[member] && first[member] != nil)
      }
    }
    #expect(try count(live) == "2")
    try client.send(message(insert, once: "y"))
    #expect(try client.receive("committed")["commit"] != first["commit"])
    #expect(try count(live) == "3")
    live.stop()
    #expect(try folder.lines().compactMap { $0.text("event") } == ["begin", "end", "begin", "end"])
  }

  @Test func `A refusal is repeated, and written down once`() throws {
    let folder = try LogFolder()
    let live = try serve { $0.logs.audit = folder.log("log") }
    try live.writer.run("INSERT INTO t VALUES (1, 'x')")
    let bad = "INSERT INTO t(a) VALUES ('x')"
    let first = try post(live, body(bad, once: "x"))
    try live.writer.run("DELETE FROM t")
    let second = try post(live, body(bad, once: "x"))
    #expect(first.status == 409 && second.status == 409 && first.text.contains("constraint"))
    let client = try live.connect()
    try client.send(message(bad, once: "x"))
    #expect(try client.receive("error")["code"] == .string("constraint"))
    #expect(try post(live, body(bad, once: "y")).status == 200)
    let unknown = #"{"once":"z","name":"nothing"}"#
    #expect(try post(live, unknown).status == 400 && post(live, unknown).status == 400)
    live.stop()
    #expect(try folder.lines().compactMap { $0.text("event") } == ["begin", "end", "begin", "end", "refused"])
  }

  @Test func `A repeat waits while the first one runs`() throws {
    let live = try serve()
    let clients = try (0..<3).map { _ in try live.connect() }
    try live.writer.run("BEGIN IMMEDIATE; INSERT INTO t(a) VALUES ('theirs')")
    for client in clients {
      try client.send(message(insert, once: "x"))
      // The answer to this ping shows that the messages before it were read while the lock was held.
      try client.send(#"{"type":"ping","id":"p"}"#)
      _ = try client.receive("pong")
    }
    try live.writer.run("COMMIT")
    let answers = try clients.map { try $0.receive("committed") }
    #expect(answers.allSatisfy { $0 == answers[0] })
    #expect(try count(live) == "2")
    live.stop()
  }

  @Test func `Two subjects have names of their own`() async throws {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    let live = try serve {
      $0.access.roles = file.roles
      $0.authentication = try? .shared()
    }
    let maker = TokenMaker.shared()
    for subject in ["ann", "bob", "ann"] {
      let token = try maker.token(#"{"sub":"\#(subject)","role":"clerk","jti":"\#(Int.random(in: 0...1_000_000))"}"#)
      #expect(try post(live, body(insert, once: "x"), token: token).status == 200)
    }
    #expect(try count(live) == "2")
    live.stop()
  }

  @Test func `What is forgotten is run again`() throws {
    let live = try serve { $0.limits.transactionMemory = 2_000 }
    for once in ["x", "1", "2", "3", "4", "x"] { #expect(try post(live, body(insert, once: once)).status == 200) }
    #expect(try count(live) == "6")
    live.stop()
  }

  @Test func `Large results are in the first answer alone`() throws {
    let live = try serve()
    let large = "INSERT INTO t(a) VALUES ('\(String(repeating: "x", count: 20_000))') RETURNING a"
    let first = try JSONParser.parse(post(live, body(large, once: "x")).body)
    let second = try JSONParser.parse(post(live, body(large, once: "x")).body)
    #expect(first["results"] != nil && second["results"] == nil)
    #expect(first["commit"] == second["commit"] && second["changes"] == .integer(1))
    live.stop()
  }

  @Test(arguments: [#""""#, "\"\(String(repeating: "x", count: 65))\"", "7"])
  func `A name is a text of 1 to 64 characters`(once: String) throws {
    let live = try serve()
    let statements = #""statements":[{"sql":"INSERT INTO t(a) VALUES (1)"}]"#
    #expect(try post(live, "{\"once\":\(once),\(statements)}").text.contains("bad_message"))
    let client = try live.connect()
    try client.send("{\"type\":\"transact\",\"id\":\"w\",\"once\":\(once),\(statements)}")
    #expect(try client.receive("error")["code"] == .string("bad_message"))
    #expect(try count(live) == "0")
    live.stop()
  }
}
