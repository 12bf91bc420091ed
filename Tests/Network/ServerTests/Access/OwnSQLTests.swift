import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

@testable import Server

/// The clients that may send SQL of their own: decided once, by host, switches and roles, for queries and statements
/// alike.
@Suite struct OwnSQLTests {
  private static let schema = """
    CREATE TABLE secret(id INTEGER PRIMARY KEY, a); INSERT INTO secret VALUES (1, 'hush');
    CREATE TABLE note(id INTEGER PRIMARY KEY, a);
    """
  private static let everyone = "--allow-everyone-to-read-and-write"

  /// Settings as YAML, and what all clients may send: `r`, `w`, both, or a word from the reason why the server does not
  /// start.
  @Test(arguments: [
    ("{}", "r"),
    ("{allowWrites: true}", "rw"),
    ("{allowQueries: false}", ""),
    ("{allowQueries: false, allowWrites: true}", "w"),
    ("{allowEveryoneToReadAndWrite: true}", "rw"),
    ("{host: '::1', allowWrites: true}", "rw"),
    ("{host: 0.0.0.0}", ""),
    ("{host: 0.0.0.0, allowQueries: true}", "r"),
    ("{host: 0.0.0.0, allowWrites: true}", "everyone who can reach 0.0.0.0"),
    ("{host: '::', allowWrites: true, allowQueries: true}", "everyone who can reach ::"),
    ("{host: lists.example, allowWrites: true, statements: {s: {sql: DELETE FROM note}}}", "everyone who can reach"),
    ("{host: 0.0.0.0, allowEveryoneToReadAndWrite: true}", "rw"),
    ("{host: 0.0.0.0, allowWrites: true, allowEveryoneToReadAndWrite: true}", "rw"),
    ("{allowEveryoneToReadAndWrite: true, allowQueries: false}", "contradict each other"),
    ("{allowEveryoneToReadAndWrite: true, roles: {a: }}", "with roles, clients may do what their role says"),
    ("{allowWrites: true, roles: {a: }}", ""),
    ("{host: 0.0.0.0, allowWrites: true, allowQueries: true, roles: {a: }}", ""),
  ])
  func `What everyone may send`(yaml: String, expected: String) throws {
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    let configuration = ServerConfiguration(database: "x", accessOf: file)
    if let mistake = configuration.accessMistake {
      #expect(expected.count > 2 && mistake.contains(expected), "\(mistake)")
      return
    }
    let own = configuration.ownSQLOfEveryone
    #expect((own.contains(.reading) ? "r" : "") + (own.contains(.writing) ? "w" : "") == expected)
  }

  private func serve(_ yaml: String) throws -> LiveServer {
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    return try LiveServer(Self.schema) {
      let settings = ServerConfiguration(database: $0.database, accessOf: file)
      ($0.listening.host, $0.access) = (settings.listening.host, settings.access)
    }
  }

  private static let returning = [
    "SELECT * FROM secret", "UPDATE secret SET a = a RETURNING a", "DELETE FROM secret RETURNING *",
    "INSERT INTO note(a) SELECT a FROM secret RETURNING a", "WITH s AS (SELECT a FROM secret) SELECT a FROM s",
  ]

  @Test(arguments: ["roles: {anonymous: {write: any}}", "{allowQueries: false, allowWrites: true}"])
  func `Clients that may write, and not ask, read nothing by their statements`(yaml: String) throws {
    let live = try serve(yaml)
    defer { live.stop() }
    let client = try live.connect()
    for sql in Self.returning {
      let statements = #"[{"sql":"INSERT INTO note(a) VALUES ('before')"},{"sql":"\#(sql)"}]"#
      let answer = try live.http("POST", "/v1/transactions", body: #"{"statements":\#(statements)}"#)
      #expect(answer.status == 403 && answer.text.contains("statements[1] returns rows"), "\(sql): \(answer.text)")
      #expect(!answer.text.contains("hush"))
      try client.send(#"{"type":"transact","id":"t","statements":\#(statements)}"#)
      let message = try client.receive()
      #expect(message["code"] == .string("not_allowed"), "\(sql): \(message)")
    }
    #expect(try SQLiteShell(path: live.path).run("SELECT count(*) FROM note") == "0", "all of a transaction or nothing")
    let body = #"{"statements":[{"sql":"UPDATE secret SET a = 'x' WHERE id = :id","params":{"id":1}}]}"#
    #expect(try live.http("POST", "/v1/transactions", body: body).status == 200)
  }

  @Test func `A published statement returns its rows to those who may run it`() throws {
    let live = try serve(
      """
      host: 0.0.0.0
      statements: {add: {sql: "INSERT INTO note(a) VALUES ('x') RETURNING id"}}
      """)
    defer { live.stop() }
    let run = try live.http("POST", "/v1/transactions", body: #"{"name":"add"}"#)
    #expect(run.status == 200 && run.text.contains(#""rows":[[1]]"#))
    for sql in Self.returning + ["DELETE FROM note"] {
      let body = #"{"statements":[{"sql":"\#(sql)"}]}"#
      #expect(try live.http("POST", "/v1/transactions", body: body).status == 403, "\(sql)")
    }
    #expect(try live.http("GET", "/v1/snapshot?from=secret").status == 403)
  }

  // MARK: - The command

  @Test func `A server that would give everything away does not start, unless that is said in full`() throws {
    let folder = try ProgramFolder("CREATE TABLE secret(id INTEGER PRIMARY KEY)")
    let arguments = ["serve", folder.database, "--host", "0.0.0.0", "--port", "0", "--allow-writes"]
    for more in [[], ["--allow-queries"]] {
      let ended = try Program.run(arguments + more)
      #expect(ended.status == 1 && ended.errors.contains(Self.everyone), "\(ended)")
      #expect(ended.errors.contains("could read and write every table"), "\(ended)")
    }
    let program = try Program(arguments + [Self.everyone])
    let port = try program.port()
    let body = #"{"statements":[{"sql":"SELECT count(*) AS n FROM secret"}]}"#
    #expect(try RawSocket(port: port).request("POST", "/v1/transactions", body: body).status == 200)
    program.stop()
    let log = try program.errorOutput()
    #expect(log.contains("access: everyone who can reach 0.0.0.0 may read every table, and write every table"))
  }

  /// Arguments, and the log's line about permissions at the start.
  @Test(arguments: [
    ([], "everyone on this machine may read every table, and write nothing"),
    (["--allow-writes"], "everyone on this machine may read every table, and write every table"),
    (["--trust-proxy", "127.0.0.1"], "everyone on this machine, and behind its proxies, may read every table"),
    (["--host", "0.0.0.0"], "everyone who can reach 0.0.0.0 may read nothing, and write nothing"),
    (["--host", "0.0.0.0", "--allow-queries"], "everyone who can reach 0.0.0.0 may read every table, and write no"),
  ])
  func `The start says who may read and write what`(arguments: [String], expected: String) throws {
    let folder = try ProgramFolder("CREATE TABLE secret(id INTEGER PRIMARY KEY)")
    let program = try Program(["serve", folder.database, "--port", "0"] + arguments)
    _ = try program.port()
    program.stop()
    let lines = try program.errorOutput().split(separator: "\n").filter { $0.contains("access: ") }
    #expect(lines.count == 1 && lines[0].contains(expected), "\(lines)")
  }

  @Test func `The start says what roles may do, and warns of tokens that anyone on the way can read`() throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let yaml = """
      auth: {jwt: {algorithm: HS256, secretFile: secret.txt}}
      roles:
        customer: {tables: {t: {rows: "id = 1"}}, queries: [any, q], statements: [s]}
        clerk: {tables: {t: }, write: any}
      queries: {q: {query: {from: t}}}
      statements: {s: {sql: DELETE FROM t}}
      """
    try yaml.write(toFile: folder.path + "/freshet.yaml", atomically: true, encoding: .utf8)
    let secret = String(repeating: "s", count: 32)
    try secret.write(toFile: folder.path + "/secret.txt", atomically: true, encoding: .utf8)
    for (host, warns) in [("127.0.0.1", false), ("0.0.0.0", true)] {
      let program = try Program([
        "serve", folder.database, "--config", folder.path + "/freshet.yaml", "--host", host, "--port", "0",
      ])
      _ = try program.port()
      program.stop()
      let log = try program.errorOutput()
      #expect(
        log.contains(
          "access: clerk may read nothing, and write every table; customer may read t, the published queries q, and write "
            + "the published statements s; all others may read and write nothing"), "\(log)")
      #expect(log.contains("tokens come over plain HTTP") == warns, "\(log)")
    }
  }

  @Test(arguments: [true, false])
  func `A file that clients may write and the server may not is mentioned at the start`(isWriting: Bool) throws {
    let folder = try ProgramFolder("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    chmod(folder.database, 0o444)
    chmod(folder.path, 0o555)
    defer { chmod(folder.path, 0o755) }
    let arguments = ["serve", folder.database, "--port", "0"] + (isWriting ? ["--allow-writes"] : [])
    let program = try Program(arguments, asNobody: getuid() == 0)
    _ = try program.port()
    program.stop()
    let log = try program.errorOutput()
    #expect(log.contains("the system does not let this server write \(folder.database)") == isWriting, "\(log)")
  }
}
