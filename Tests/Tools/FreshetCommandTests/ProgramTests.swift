import Foundation
import ServerSupport
import TestSupport
import Testing
import Wire

/// The command as users start it.
@Suite struct ProgramTests {
  // MARK: - Serving

  @Test(arguments: [SIGTERM, SIGINT])
  func `A signal stops a server in order`(signal: Int32) throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--allow-writes", "--port", "0"])
    let port = try program.port()
    let client = try LiveClient(port: port)
    try client.subscribe("q", #"{"from":"t"}"#)
    #expect(client.line("q") == "''/: 1,'x'")
    try client.send(#"{"type":"transact","id":"w","statements":[{"sql":"INSERT INTO t VALUES (2, 'kept')"}]}"#)
    _ = try client.receive("committed")
    #expect(try Program.run("health", "http://127.0.0.1:\(port)/readyz").status == 0)
    #expect(try Program.run("health", "http://127.0.0.1:\(port)/v1/nothing").errors.contains("404"))
    program.signal(signal)
    #expect(try client.socket.readCloseCode() == 1001)
    client.socket.close()
    #expect(program.status(within: 30) == 0)
    #expect(throws: RawSocket.Failure.self) { try RawSocket(port: port) }
    #expect(try SQLiteShell(path: folder.database).run("SELECT a FROM t WHERE id = 2;") == "kept")
    let health = try Program.run("health", "http://127.0.0.1:\(port)/readyz")
    #expect(health.status == 1 && health.errors.contains("nothing listens"))
  }

  /// A route, and a body that keeps it busy for 30 seconds.
  @Test(arguments: [
    ("/v1/transactions", #"{"statements":[{"sql":"INSERT INTO t(a) ROWS"}]}"#),
    ("/v1/snapshot", #"{"query":{"from":"(ROWS)","key":["i"]}}"#),
  ])
  func `What takes long is stopped with the server`(route: String, body: String) throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--allow-writes", "--port", "0"])
    let port = try program.port()
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"
    let content = body.replacingOccurrences(of: "ROWS", with: rows)
    let socket = try RawSocket(port: port)
    try socket.write(
      "POST \(route) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
    )
    // These requests are read after the one above.
    for _ in 0..<3 { #expect(try RawSocket(port: port).request("GET", "/healthz").status == 200) }
    program.signal(SIGTERM)
    #expect(program.status(within: 20) == 0)
  }

  @Test func `TLS is served, and SIGHUP reads the certificate again`() throws {
    let folder = try ProgramFolder()
    let files = try TemporaryFolder()
    let pair = try TestCertificate(in: files, serial: 1)
    let tls = ["--tls-cert", pair.certificate, "--tls-key", pair.key]
    let program = try Program(["serve", folder.database, "--port", "0"] + tls)
    let port = try program.port()
    func connect() throws -> RawSocket {
      let socket = try RawSocket(port: port)
      try socket.startTLS(trusting: pair.certificate)
      return socket
    }
    let first = try connect()
    #expect(first.tlsDetails?.serial == 1)
    _ = try TestCertificate(in: files, serial: 2)
    program.signal(SIGHUP)
    #expect(try program.waits(forLog: "the certificate was read again", seconds: 30))
    #expect(try first.request("GET", "/healthz").status == 200)
    let second = try connect()
    #expect(second.tlsDetails?.serial == 2)
    try "nothing".write(toFile: pair.key, atomically: true, encoding: .utf8)
    program.signal(SIGHUP)
    #expect(
      try program.waits(
        forLog: "the certificate stays as it was: \(pair.key) holds no private key in PEM format", seconds: 30))
    let third = try connect()
    #expect(try third.request("GET", "/healthz").status == 200)
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
  }

  @Test func `Commands speak TLS, with an authority of one's own`() throws {
    let folder = try ProgramFolder()
    let files = try TemporaryFolder()
    let pair = try TestCertificate(in: files)
    let tls = ["FRESHET_TLS_CERT": pair.certificate, "FRESHET_TLS_KEY": pair.key]
    let program = try Program(["serve", folder.database, "--port", "0"], environment: tls)
    let port = try program.port()
    for address in ["https://localhost:\(port)", "https://127.0.0.1:\(port)"] {
      #expect(try Program.run("health", address + "/readyz", "--ca", pair.certificate).status == 0)
      let stranger = try Program.run("health", address + "/readyz")
      #expect(stranger.status == 1 && stranger.errors.contains("is not trusted: self"), "\(stranger)")
      let watched = try Program.run("watch", address, "t", "--once", "--ca", pair.certificate)
      #expect(watched.status == 0 && watched.output.contains("x"), "\(watched)")
      let distrusting = try Program.run("watch", address, "t", "--once")
      #expect(distrusting.status == 1 && distrusting.errors.contains("is not trusted: self"), "\(distrusting)")
      let explained = try Program.run("explain", address, "t", "--ca", pair.certificate)
      #expect(explained.status == 0 && explained.output.hasPrefix("incremental: "), "\(explained)")
    }
    let plain = try Program.run("health", "http://localhost:\(port)/readyz")
    #expect(plain.status == 1, "\(plain)")
    let unasked = try Program.run("watch", "http://localhost:\(port)", "t", "--once")
    #expect(unasked.status == 1 && unasked.errors.contains("the answer is 400"), "\(unasked)")
    let none = try Program.run("watch", "https://localhost:\(port)", "t", "--ca", folder.database)
    #expect(none.status == 1 && none.errors.contains("holds no certificate in PEM format"), "\(none)")
    // For its own server, the name in the certificate does not matter.
    let own = try Program(["health"], environment: tls.merging(["FRESHET_PORT": "\(port)"]) { $1 })
    #expect(own.status(within: 30) == 0)
    program.stop()
    let gone = try Program(["health"], environment: ["FRESHET_PORT": "\(port)"])
    #expect(gone.status(within: 30) == 1)
  }

  @Test func `A certificate for another host, and a server without TLS, are reported`() throws {
    let folder = try ProgramFolder()
    let files = try TemporaryFolder()
    let pair = try TestCertificate(in: files, hosts: "DNS:other.example,IP:192.0.2.1")
    let secure = try Program(
      ["serve", folder.database, "--port", "0"],
      environment: ["FRESHET_TLS_CERT": pair.certificate, "FRESHET_TLS_KEY": pair.key])
    for (host, reason) in [("localhost", "hostname mismatch"), ("127.0.0.1", "IP address mismatch")] {
      let watched = try Program.run(
        "watch", "https://\(host):\(try secure.port())", "t", "--once", "--ca", pair.certificate)
      #expect(watched.status == 1 && watched.errors.contains("\(host) is not trusted: \(reason)"), "\(watched)")
    }
    secure.stop()
    let plain = try Program(["serve", folder.database, "--port", "0"])
    let watched = try Program.run("watch", "https://localhost:\(try plain.port())", "t", "--once")
    #expect(watched.status == 1 && watched.errors.contains("localhost does not answer with TLS"), "\(watched)")
    plain.stop()
  }

  @Test func `A server explains what a file does, and its published queries`() throws {
    let folder = try ProgramFolder()
    let configuration = folder.path + "/freshet.yaml"
    try """
    queries: { some: { query: { from: t, where: "a = :a" }, parameters: { a: { type: text } } } }
    """.write(toFile: configuration, atomically: true, encoding: .utf8)
    let program = try Program(["serve", folder.database, "--port", "0", "--config", configuration])
    let address = "http://127.0.0.1:\(try program.port())"
    let query = ["t", "--where", "a = :a", "--param", "a=x"]
    let (here, there) = (
      try Program.run(["explain", folder.database] + query), try Program.run(["explain", address] + query)
    )
    #expect(there.status == 0 && there.output.contains("SCAN t") && here.output.contains("SCAN t"), "\(there)\(here)")
    let named = try Program.run("explain", address + "/", "--name", "some", "--param", "a=x")
    #expect(named.status == 0 && named.output == there.output, "\(named)")
    let unknown = try Program.run("explain", address, "nosuch")
    #expect(unknown.status == 1 && unknown.errors.contains("no_such_table: from: no such table: nosuch"), "\(unknown)")
    #expect(try Program.run("explain", folder.database, "--name", "some").status == 64)
    program.stop()
  }

  @Test func `A door that cannot be opened is one sentence`() throws {
    let folder = try ProgramFolder()
    let pair = try TestCertificate(in: try TemporaryFolder())
    let cases: [([String], String)] = [
      (
        ["--tls-cert", "/nosuch.crt", "--tls-key", "/nosuch.key"],
        "cannot read the certificate /nosuch.crt: No such file or directory"
      ),
      (["--tls-cert", pair.certificate], "TLS needs a certificate and its key, both"),
      (
        ["--trust-proxy", "10.0.0.0/40"],
        "trustedProxies: 10.0.0.0/40 is neither an address nor a range such as 10.0.0.0/8"
      ),
      (["--metrics-address", "9090"], "--metrics-address must be an address and a port, such as 127.0.0.1:9090"),
      (["--metrics-address", "192.0.2.1:9090"], "192.0.2.1 is not an address of this machine"),
    ]
    for (arguments, sentence) in cases {
      let ended = try Program.run(["serve", folder.database, "--port", "0"] + arguments)
      #expect(ended.status == 1 && ended.errors == "Error: \(sentence)\n")
    }
  }

  @Test(arguments: [[], ["--access-log", "-"], ["--trust-proxy", "127.0.0.1"]])
  func `SIGHUP never ends a server, whatever it does and whatever there is to reload`(arguments: [String]) throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"] + arguments)
    let client = try LiveClient(port: try program.port())
    try client.subscribe("q", #"{"from":"t"}"#)
    for _ in 0..<3 { program.signal(SIGHUP) }
    if arguments.isEmpty {
      #expect(try program.waits(forLog: "there are no logs to open and no certificate", seconds: 30))
    }
    try client.send(#"{"type":"ping","id":"p"}"#)
    while try client.receive()["type"] != .string("pong") {}
    // The same holds while the server stops.
    program.signal(SIGTERM)
    for _ in 0..<3 {
      program.signal(SIGHUP)
      usleep(2_000)
    }
    #expect(program.status(within: 30) == 0)
  }

  @Test func `A service manager hears when the server serves and when it stops`() throws {
    let folder = try ProgramFolder()
    let manager = try NotifySocket(folder.path + "/notify")
    let program = try Program(["serve", folder.database, "--port", "0"], environment: ["NOTIFY_SOCKET": manager.path])
    #expect(try manager.receive() == "READY=1")
    #expect(try RawSocket(port: program.port()).request("GET", "/readyz").status == 200)
    program.stop()
    #expect(try manager.receive() == "STOPPING=1")
  }

  @Test func `SIGHUP opens the logs anew`() throws {
    let folder = try ProgramFolder()
    let (access, audit) = (folder.path + "/access.log", folder.path + "/audit.log")
    let program = try Program([
      "serve", folder.database, "--allow-writes", "--port", "0", "--access-log", access, "--audit-log", audit,
    ])
    let port = try program.port()
    func write(_ value: Int) throws {
      let body = #"{"statements":[{"sql":"UPDATE t SET a = \#(value)"}]}"#
      #expect(try RawSocket(port: port).request("POST", "/v1/transactions", body: body).status == 200)
    }
    func lines(_ path: String) throws -> Int {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count
    }
    let client = try LiveClient(port: port)
    for value in 1...3 { try write(value) }
    while try lines(audit) < 6 || lines(access) < 4 {}
    for path in [access, audit] { #expect(rename(path, path + ".1") == 0) }
    program.signal(SIGHUP)
    #expect(try program.waits(forLog: "the access log was opened anew", seconds: 30))
    #expect(try program.waits(forLog: "the audit log was opened anew", seconds: 30))
    try client.subscribe("q", #"{"from":"t"}"#)
    try write(4)
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
    #expect(try lines(access + ".1") == 4 && lines(audit + ".1") == 6)
    #expect(try lines(audit) == 2)
    #expect(try lines(access) == 3, "the subscription, the request, the end of the session")
  }

  @Test func `A log goes to standard output, and where it cannot go is said at the start`() throws {
    let folder = try ProgramFolder()
    let wrong = try Program.run("serve", folder.database, "--port", "0", "--access-log", folder.path + "/no/log")
    #expect(
      wrong.status == 1 && wrong.errors.contains("cannot write the access log \(folder.path)/no/log: No such file"))
    let program = try Program(["serve", folder.database, "--port", "0", "--access-log", "-"])
    #expect(try RawSocket(port: program.port()).request("GET", "/healthz").status == 200)
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
    #expect(try program.standardOutput().contains(#""path":"/healthz","status":200"#))
  }

  @Test func `A server that may not write to its file is ready, and says that it may not`() throws {
    let folder = try ProgramFolder()
    chmod(folder.database, 0o444)
    chmod(folder.path, 0o555)
    defer { chmod(folder.path, 0o755) }
    let program = try Program(["serve", folder.database, "--allow-writes", "--port", "0"], asNobody: getuid() == 0)
    let port = try program.port()
    let answer = try RawSocket(port: port).request("GET", "/readyz")
    #expect(answer.status == 200 && answer.text == #"{"status":"ready","writable":false}"#)
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
  }

  @Test func `The bundled page is served, and the server names its file`() throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    let response = try RawSocket(port: port).request("GET", "/")
    #expect(response.status == 200 && response.text.contains("<html"))
    program.signal(SIGTERM)
    #expect(program.status(within: 30) == 0)
  }

  @Test func `A client that does not read costs little memory`() throws {
    let rows =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, 0 FROM n;"
    let folder = try ProgramFolder("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); \(rows)")
    let program = try Program(["serve", folder.database, "--port", "0"])
    let port = try program.port()
    let sleeper = try LiveClient(port: port, receiveBuffer: 4_096)
    try sleeper.subscribe("q", #"{"from":"t"}"#)
    let reader = try LiveClient(port: port)
    try reader.subscribe("r", #"{"from":"t","where":"id = 1"}"#)
    let writer = try SQLiteSession(path: folder.database)
    let before = program.residentBytes
    let text = String(repeating: "x", count: 1_000)
    for value in 1...1_000 { try writer.run("UPDATE t SET a = '\(value)\(text)'") }
    try reader.catchUp(["r"])
    #expect(program.residentBytes - before < 48 << 20, "100 MB were changed, hardly any of it is kept")
    program.signal(SIGKILL)
  }

  // MARK: - What keeps it from serving

  @Test func `A directory with one database is asked as the database`() throws {
    let folder = try ProgramFolder()
    let program = try Program(["serve", folder.path, "--port", "0"])
    #expect(try RawSocket(port: program.port()).request("GET", "/v1/snapshot?from=t").status == 200)
    program.stop()
  }

  /// Arguments, with `DB` for a valid database and `DIR` for a folder; and words of the one sentence.
  @Test(arguments: [
    (["serve", "DIR/nosuch/x.sqlite"], "there is no directory"),
    (["serve", "DIR/none/*.db", "--copy"], "--copy serves a copy of one file"),
    (["serve", "DIR/several", "DIR/none.db", "--replicate", "nats://127.0.0.1/x"], "are made in one folder"),
    (["serve", "DIR/nosuch/*.db"], "there is no folder"),
    (["explain", "DIR", "t"], "is a directory"),
    (["serve", "DIR/text"], "is not an SQLite database"), (["serve"], "Missing expected argument '<db>'"),
    (["serve", "DB", "--port", "70000"], "--port must be 0 to 65535"),
    (["serve", "DB", "--port", "x"], "The value 'x' is invalid"),
    (["serve", "DB", "--nosuch"], "Unknown option '--nosuch'"),
    (["serve", "DB", "--log-level", "x"], "x is no log level"),
    (["serve", "DB", "--public", "DIR/nosuch", "--port", "0"], "DIR/nosuch"),
    (["serve", "DB", "--public", "DIR/text", "--port", "0"], "DIR/text"),
    (["serve", "DB", "--host", "nosuch.invalid", "--port", "0"], "nosuch.invalid"),
    (["serve", "DB", "--port", "BUSY"], "BUSY"),
    (["explain", "DIR/nosuch.sqlite", "t"], "there is no file"), (["nosuch"], "nosuch"),
    (["health", "ftp://x"], "is no http or https address"),
    (["health", "http://127.0.0.1:1/"], "nothing listens at 127.0.0.1:1"),
  ])
  func `What is wrong is said in one sentence`(arguments: [String], message: String) throws {
    let folder = try ProgramFolder()
    try Data("no database, only text that is longer than a header: \(String(repeating: "x", count: 200))".utf8)
      .write(to: URL(fileURLWithPath: folder.path + "/text"))
    for name in ["none", "several"] {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    for name in ["one.sqlite", "two.db"] {
      try FileManager.default.copyItem(atPath: folder.database, toPath: "\(folder.path)/several/\(name)")
    }
    let busy = try ListeningPort()
    let replaced = { (text: String) in
      text.replacingOccurrences(of: "DB", with: folder.database).replacingOccurrences(of: "DIR", with: folder.path)
        .replacingOccurrences(of: "BUSY", with: String(busy.port))
    }
    let result = try Program.run(arguments.map(replaced))
    #expect(result.status != 0 && result.status < 128, "\(result.status): \(result.errors)")
    #expect(result.errors.contains(replaced(message)), "\(result.errors)")
    let lines = result.errors.split(separator: "\n").filter { line in
      !["Usage:", "  See", "Help:"].contains { line.hasPrefix($0) }
    }
    #expect(lines.count == 1, "\(result.errors)")
    #expect(!result.errors.contains("Fatal") && !result.errors.contains("0x"), "\(result.errors)")
  }

  @Test(arguments: [
    (["--version"], "0.1.0"), (["--help"], "SUBCOMMANDS"), (["serve", "--help"], "USAGE"),
    (["demo", "--help"], "USAGE"),
    (["serve", "--help"], "rollback-journal"), (["explain", "--help"], "USAGE"),
  ])
  func `The command says what it is`(arguments: [String], text: String) throws {
    let result = try Program.run(arguments)
    #expect(result.status == 0 && result.output.contains(text) && result.errors.isEmpty)
  }
}
