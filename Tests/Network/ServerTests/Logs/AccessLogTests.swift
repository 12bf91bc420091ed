import Foundation
import Ground
import Logging
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

@testable import Server

/// The access log of a real server.
@Suite struct AccessLogTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    """
  private static let yaml = """
    queries: { all: { query: { from: t, where: "a = :a OR :a = ''" }, parameters: { a: { type: text, default: "" } } } }
    statements: { rename: { sql: "UPDATE t SET a = :a", parameters: { a: { type: text } } } }
    """
  private let folder: LogFolder

  init() throws { folder = try LogFolder() }

  private func serve(
    log: String = "log", _ configure: (inout ServerConfiguration) throws -> Void = { _ in }
  ) throws -> LiveServer {
    let file = try ConfigurationFile(yaml: Self.yaml, name: "x")
    return try LiveServer(Self.schema) {
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.statements = PublishedStatements(file.statements)
      $0.logs.access = folder.log(log)
      // With several threads, lines may be in another order than their requests.
      $0.limits.serviceThreads = 1
      try? configure(&$0)
    }
  }

  // MARK: - Requests

  @Test func `A request is one line, whoever answers it`() throws {
    try FileManager.default.createDirectory(atPath: folder.file("public"), withIntermediateDirectories: true)
    try "hello".write(toFile: folder.file("public/page.html"), atomically: true, encoding: .utf8)
    let live = try serve { $0.pages.directory = folder.file("public") }
    let before = Date()
    let answers = [
      try live.http("GET", "/v1/snapshot?from=t&where=a%3D:a&param.a=VALUE"),
      try live.http("GET", "/v1/snapshot?from=nosuch"),
      try live.http("GET", "/v1/queries/all?param.a=VALUE"),
      try live.http("GET", "/v1/queries/VALUE"),
      try live.http("POST", "/v1/snapshot", body: #"{"query":{"from":"t","where":"a = 'VALUE'"}}"#),
      try live.http("POST", "/v1/transactions", body: #"{"name":"rename","params":{"a":"VALUE"}}"#),
      try live.http("DELETE", "/v1/schema"),
      try live.http("GET", "/page.html"),
      try live.http("HEAD", "/page.html"),
      try live.http("GET", "/nothing?q=VALUE"),
      try live.http("GET", "/v1/live"),
      try live.http("GET", "/v1/live", headers: Self.upgrade + ["Origin: http://elsewhere"]),
    ]
    live.stop()
    let lines = try folder.lines()
    #expect(
      lines.map { $0.line(without: ["ms", "bytes", "fingerprint"]) } == [
        "address=127.0.0.1 event=request method=GET path=/v1/snapshot status=200",
        "address=127.0.0.1 code=no_such_table event=request method=GET path=/v1/snapshot status=400",
        "address=127.0.0.1 event=request method=GET name=all path=/v1/queries/all status=200",
        "address=127.0.0.1 code=not_found event=request method=GET path=/v1/queries/VALUE status=404",
        "address=127.0.0.1 event=request method=POST path=/v1/snapshot status=200",
        "address=127.0.0.1 event=request method=POST name=rename path=/v1/transactions status=200",
        "address=127.0.0.1 code=method_not_allowed event=request method=DELETE path=/v1/schema status=405",
        "address=127.0.0.1 event=request method=GET path=/page.html status=200",
        "address=127.0.0.1 event=request method=HEAD path=/page.html status=200",
        "address=127.0.0.1 code=not_found event=request method=GET path=/nothing status=404",
        "address=127.0.0.1 code=bad_message event=request method=GET path=/v1/live status=426",
        "address=127.0.0.1 code=not_allowed event=request method=GET path=/v1/live status=403",
      ])
    for (line, answer) in zip(lines, answers) {
      #expect(line.number("status") == Double(answer.status))
      #expect(line.number("bytes") == Double(answer.body.count))
    }
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for line in lines {
      let time = try format.parse(line.text("time") ?? "")
      #expect(time > before.addingTimeInterval(-0.01) && time <= Date())
    }
    #expect(lines[0].number("ms").map { $0 > 0 && $0 < 60_000 } == true)
    #expect(try !folder.text().replacing("/v1/queries/VALUE", with: "").contains("VALUE"))
  }

  private static let upgrade = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: freshet.v1",
  ]

  @Test func `A query of one's own has a fingerprint of its text, whatever the values of its parameters`() throws {
    let live = try serve()
    for target in ["where=a%3D:a&param.a=x", "where=a%3D:a&param.a=y", "where=a%3D:b&param.b=x"] {
      #expect(try live.http("GET", "/v1/snapshot?from=t&\(target)").status == 200)
    }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","where":"a=:a","params":{"a":"z"}}"#)
    live.stop()
    let fingerprints = try folder.lines().compactMap { $0.text("fingerprint") }
    #expect(fingerprints.count == 4 && fingerprints[0] == fingerprints[1] && fingerprints[0] == fingerprints[3])
    #expect(fingerprints[0] != fingerprints[2])
    #expect(fingerprints.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
  }

  @Test func `A stream is a line when it is over, and one that does not begin is an error`() throws {
    let live = try serve()
    let stream = try EventClient(port: live.server.port, "/v1/subscriptions?name=all&param.a=VALUE")
    try stream.load()
    #expect(try live.http("GET", "/v1/subscriptions?from=nosuch").status == 400)
    #expect(try folder.lines { $0.text("code") == "no_such_table" }.count == 1)
    stream.socket.close()
    let lines = try folder.lines { $0.text("name") == "all" }
    #expect(lines[1].line() == "address=127.0.0.1 event=request method=GET name=all path=/v1/subscriptions status=200")
    #expect(lines[1]["bytes"] == nil)
    live.stop()
    #expect(try folder.lines().count == 2)
  }

  @Test func `A client that leaves before its answer is a line with 499`() throws {
    let live = try serve()
    let tag = try #require(try live.http("GET", "/v1/snapshot?from=t").headers["etag"])
    let socket = try RawSocket(port: live.server.port)
    try socket.write("GET /v1/snapshot?from=t&wait=25 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n")
    // This request is read after the one above.
    #expect(try live.http("GET", "/v1/snapshot?from=t").status == 200)
    socket.close()
    let lines = try folder.lines { $0.number("status") == 499 }
    #expect(lines.last?.number("bytes") == 0)
    live.stop()
  }

  // MARK: - Sessions

  @Test func `Sessions, their subscriptions and the ends of both are lines`() throws {
    let live = try serve()
    let client = try live.connect()
    try client.subscribe("SECRET", #"{"name":"all","params":{"a":"VALUE"}}"#)
    try client.subscribe("b", #"{"from":"t","where":"a = 'VALUE'"}"#)
    try client.subscribe("c", #"{"name":"VALUE"}"#)
    try client.subscribe("d", #"{"from":"nosuch"}"#)
    try client.send(#"{"type":"subscribe","id":"b","query":{"from":"t"}}"#)
    for code in ["bad_query", "no_such_table", "duplicate_subscription"] {
      #expect(try client.receive("error")["code"] == .string(code))
    }
    try client.send(#"{"type":"requery","id":"b","query":{"name":"all"}}"#)
    try client.send(#"{"type":"requery","id":"b","query":{"name":"VALUE"}}"#)
    try client.send(#"{"type":"unsubscribe","id":"b"}"#)
    _ = try client.receive("unsubscribed")
    client.socket.close()
    let lines = try folder.lines { $0.text("event") == "close" }
    live.stop()
    #expect(
      lines.map { $0.line(without: ["ms", "session", "fingerprint"]) }.sorted() == [
        "address=127.0.0.1 code=bad_query event=requery", "address=127.0.0.1 code=bad_query event=subscribe",
        "address=127.0.0.1 code=duplicate_subscription event=subscribe",
        "address=127.0.0.1 code=no_such_table event=end subscription=3",
        "address=127.0.0.1 event=close subscriptions=1",
        "address=127.0.0.1 event=end name=all subscription=2",
        "address=127.0.0.1 event=open",
        "address=127.0.0.1 event=requery name=all subscription=2",
        "address=127.0.0.1 event=subscribe name=all subscription=1",
        "address=127.0.0.1 event=subscribe subscription=2",
        "address=127.0.0.1 event=subscribe subscription=3",
      ])
    #expect(Set(lines.map { $0.text("session") }).count == 1)
    #expect(lines.allSatisfy { ["end", "close"].contains($0.text("event")) == ($0.number("ms") != nil) })
    let text = try folder.text()
    #expect(!text.contains("VALUE") && !text.contains("SECRET"))
  }

  // MARK: - Who

  @Test func `A line says who asks, and no line has a token`() async throws {
    let live = try serve { $0.authentication = try .shared() }
    let (clerk, guest) = (
      try TokenMaker.shared().token(#"{"sub":"u7","role":"clerk"}"#),
      try TokenMaker.shared().token(#"{"sub":"u8"}"#)
    )
    _ = try live.http("GET", "/v1/snapshot?from=t&access_token=\(clerk)")
    _ = try live.http("GET", "/v1/snapshot?from=t", headers: ["Authorization: Bearer \(guest)"])
    _ = try live.http("GET", "/v1/snapshot?from=t&access_token=\(clerk)A")
    _ = try live.http("GET", "/v1/snapshot?from=t&access_token=\(clerk)&access_token=\(clerk)")
    let client = try live.connect(path: "/v1/live?access_token=\(clerk)")
    try client.send(#"{"type":"authenticate","id":"t","token":"\#(guest)"}"#)
    _ = try client.receive("authenticated")
    try client.subscribe("q", #"{"name":"all"}"#)
    try client.send(#"{"type":"authenticate","id":"t","token":"\#(clerk)A"}"#)
    _ = try client.receive("error")
    client.socket.close()
    _ = try folder.lines { $0.text("event") == "close" }
    live.stop()
    #expect(
      try folder.lines().map { $0.line(without: ["ms", "session", "bytes", "fingerprint", "address"]) } == [
        "event=request method=GET path=/v1/snapshot role=clerk status=200 sub=u7",
        "event=request method=GET path=/v1/snapshot role=anonymous status=200 sub=u8",
        "code=unauthenticated event=request method=GET path=/v1/snapshot status=401",
        "code=unauthenticated event=request method=GET path=/v1/snapshot status=401",
        "event=open role=clerk sub=u7",
        "event=subscribe name=all role=anonymous sub=u8 subscription=1",
        "event=close role=anonymous sub=u8 subscriptions=1",
      ])
    let text = try folder.text()
    for part in (clerk + "." + guest).split(separator: ".") { #expect(!text.contains(part)) }
  }

  @Test func `Nobody can forge a line`() async throws {
    let live = try serve { $0.authentication = try .shared() }
    let forged = #"x","status":200}\n{"event":"request","forged":true}"#
    let token = try TokenMaker.shared().token(
      #"{"sub":"a\n{\"forged\":true}\u2028\u009b31m\u202e\"","role":"\r\n\"}"}"#)
    let targets = [
      "/v1/%22%2C%22forged%22%3Atrue%7D", "/v1/x%5C%22%2C%22forged%22%3Atrue", "/v1/x%09%1B%5B31m%7F",
      "/v1/%E2%80%AE%C2%9B31m%FF", "/page%22%5Cforged", "/v1/x%0A%7B%22forged%22:true%7D",
      "/page%0D%0A%7B%22forged%22:true%7D",
    ]
    for target in targets {
      let answer = try live.http("GET", target, headers: ["Authorization: Bearer \(token)"])
      // An escaped control character may end the target for libwebsockets: 403, or 505 for what follows.
      #expect([400, 403, 404, 505].contains(answer.status))
    }
    let client = try live.connect(headers: ["Authorization: Bearer \(token)"])
    let name = forged.replacing("\"", with: "\\\"")
    try client.send(#"{"type":"subscribe","id":"i\"\n","query":{"name":"\#(name)"}}"#)
    _ = try client.receive("error")
    client.socket.close()
    _ = try folder.lines { $0.text("event") == "close" }
    live.stop()
    let lines = try folder.lines()
    #expect(lines.count == targets.count + 3)
    #expect(lines.allSatisfy { $0["forged"] == nil && $0["time"] != nil && $0["event"] != nil })
    let subject = lines.first { $0.text("event") == "open" }?.text("sub")
    #expect(subject == "a\n{\"forged\":true}\u{FFFD}\u{FFFD}31m\u{FFFD}\"")
    let odd = try folder.text().unicodeScalars.filter { scalar in
      (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value)
        || [0x2028, 0x2029, 0x202E].contains(scalar.value)
    }
    #expect(odd.isEmpty)
  }

  // MARK: - Disks

  @Test func `A disk that is full drops lines, counts them, and nobody notices`() throws {
    let live = try serve { $0.logs.access = .file("/dev/full") }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#)
    func dropped() throws -> Double? {
      let line = try live.http("GET", "/metrics").text.split(separator: "\n").first {
        $0.hasPrefix("freshet_log_lines_dropped_total ")
      }
      return line?.split(separator: " ").last.flatMap { Double($0) }
    }
    while try dropped() ?? 0 < 5 { #expect(try live.http("GET", "/v1/snapshot?from=t").status == 200) }
    live.stop()
  }

  @Test func `A reader that does not read drops lines, and a line says how many`() throws {
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let reader = open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    let log = try AccessLog(.file(pipe), limit: 4_096, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    log.start()
    let asked = 2_000
    let path = String(repeating: "p", count: 100)
    for _ in 0..<asked {
      log.answered(
        RequestRecord(method: "GET", path: "/\(path)", address: "::1", at: .distantPast),
        status: 200, code: nil, bytes: 0, nil)
    }
    #expect(log.dropped > 0)
    var text = ""
    var block = [UInt8](repeating: 0, count: 65_536)
    func told() -> Int {
      text.matches(of: /"event":"dropped","lines":(\d+)\}/).reduce(0) { $0 + (Int($1.1) ?? 0) }
    }
    let deadline = Date(timeIntervalSinceNow: 90)
    while told() < log.dropped || !text.hasSuffix("\n"), Date() < deadline {
      let count = read(reader, &block, block.count)
      if count > 0 { text += String(decoding: block[..<count], as: UTF8.self) }
      // Dropped lines are counted in the lines that follow.
      if count < 0 {
        let record = RequestRecord(method: "GET", path: "/", address: "", at: .distantPast)
        log.answered(record, status: 1, code: nil, bytes: 0, nil)
        usleep(1_000)
      }
    }
    let lines = try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    let written = lines.count { $0.number("status") == 200 }
    #expect(written + told() == asked && told() == log.dropped)
    log.stop(grace: .seconds(1))
  }

  @Test func `A log that cannot be opened keeps the server from starting`() throws {
    #expect(throws: ServerError.self) { try serve { $0.logs.access = .file(folder.file("no/such/folder/log")) } }
  }
}
