import CSQLite
import Foundation
import GRDB
import Gateway
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The feed of changes on a socket and over HTTP: protocol 4.1.
@Suite struct ChangesTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT, status TEXT, total REAL, margin REAL);
    INSERT INTO orders VALUES (1, 7, 'new', 10, 1), (2, 8, 'new', 20, 2), (3, 7, 'paid', 30, 3);
    CREATE TABLE member(customer INT, name TEXT, PRIMARY KEY (customer, name));
    INSERT INTO member VALUES (7, 'ann');
    CREATE TABLE secret(word TEXT);
    CREATE VIEW v AS SELECT * FROM orders;
    """

  private func serve(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws -> LiveServer {
    let live = try LiveServer(Self.schema, configure: configure)
    try live.beginWAL()
    return live
  }

  private func subscribe(_ live: LiveServer, _ more: String = "", id: String = "c") throws -> LiveClient {
    let client = try live.connect()
    try client.send(#"{"type":"changes","id":"\#(id)"\#(more.isEmpty ? "" : ",\(more)")}"#)
    return client
  }

  /// The next message about changes, abbreviated.
  private func next(_ client: LiveClient) throws -> String {
    while true {
      let message = try client.receive()
      switch message["type"] {
      case .string("gap"): return "gap: \(try message.required("reason").text())"
      case .string("error"): return try message.required("code").text()
      case .string("changes"):
        guard message["changes"] != nil else { continue }
        return try ChangesTests.changes(message).joined(separator: "; ")
      default: continue
      }
    }
  }

  private static func changes(_ message: JSONValue) throws -> [String] {
    guard case .array(let changes)? = message["changes"] else { return [] }
    return try changes.map { try short($0) }
  }

  private static func short(_ change: JSONValue) throws -> String {
    let parts = ["key", "old", "new"].compactMap { name in change[name].map { "\(name) \($0.short)" } }
    return ([try change.required("op").text(), try change.required("table").text()] + parts).joined(separator: " ")
  }

  @Test func `A table that is altered, dropped or made is to be read again`() throws {
    let live = try serve()
    let client = try subscribe(live, #""tables":["orders"]"#)
    _ = try client.receive("changes")
    for statement in [
      "ALTER TABLE orders ADD COLUMN note DEFAULT 'x'", "DROP TABLE orders",
      "CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT, total)",
    ] {
      try live.writer.run(statement)
      #expect(try next(client) == "schema orders", "\(statement)")
    }
    try live.writer.run("INSERT INTO orders VALUES (7, 'new', 1)")
    let told = try next(client)
    #expect(told == "insert orders key {id:7} new {id:7 status:'new' total:1}")
  }

  @Test func `Columns and conditions hold for what a row was and for what it is`() throws {
    let live = try serve()
    let client = try subscribe(
      live, #""tables":["orders"],"columns":{"orders":["status"]},"where":{"orders":"total > 15"}"#)
    _ = try client.receive("changes")
    try live.writer.run("UPDATE orders SET total = 16 WHERE id = 1")
    #expect(try next(client) == "insert orders key {id:1} new {status:'new'}")
    // Changes of other tables and columns are not reported.
    try live.writer.run("UPDATE orders SET total = 17 WHERE id = 1; UPDATE orders SET status = 'sent' WHERE id = 1")
    #expect(try next(client) == "update orders key {id:1} old {status:'new'} new {status:'sent'}")
    try live.writer.run("UPDATE orders SET total = 1 WHERE id = 1; DELETE FROM orders WHERE id = 2")
    #expect(try next(client) == "delete orders key {id:1} old {status:'sent'}")
    #expect(try next(client) == "delete orders key {id:2} old {status:'new'}")
    live.stop()
  }

  @Test func `A condition may ask other tables`() throws {
    let live = try serve()
    let client = try subscribe(
      live, #""tables":["orders"],"where":{"orders":"customer IN (SELECT customer FROM member)"}"#)
    _ = try client.receive("changes")
    try live.writer.run("UPDATE orders SET total = 21 WHERE id = 2; UPDATE orders SET total = 11 WHERE id = 1")
    #expect(try next(client).hasPrefix("update orders key {id:1} old {total:10.0} new {"))
    live.stop()
  }

  @Test(arguments: [
    (#""tables":["nosuch"]"#, "no_such_table"), (#""tables":["v"]"#, "bad_query"), (#""tables":[]"#, "bad_query"),
    (#""tables":["orders"],"columns":{"orders":["nosuch"]}"#, "no_such_column"),
    (#""tables":["orders"],"columns":{"member":["name"]}"#, "bad_query"),
    (#""tables":["orders"],"where":{"orders":"1) OR (1"}"#, "bad_query"),
    (#""tables":["orders"],"where":{"orders":"count(*) > 1"}"#, "bad_query"),
    (#""tables":["orders"],"where":{"orders":"id IN (SELECT max(id) FROM orders)"}"#, "bad_query"),
    (#""tables":["orders"],"where":{"orders":"total > random()"}"#, "not_allowed"),
    (#""tables":["sqlite_master"]"#, "not_allowed"), (#""tables":"orders""#, "bad_message"),
    (#""tables":["orders"],"where":{"orders":1}"#, "bad_message"), (#""since":1"#, "bad_message"),
  ])
  func `What is wrong is said, and the next request is served`(request: String, code: String) throws {
    let live = try serve()
    let client = try subscribe(live, request)
    #expect(try next(client) == code)
    try client.send(#"{"type":"changes","id":"c"}"#)
    _ = try client.receive("changes")
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    #expect(try next(client).hasPrefix("delete orders key {id:1}"))
    live.stop()
  }

  @Test func `A feed has an id, is no list, and ends`() throws {
    let live = try serve()
    let client = try subscribe(live)
    _ = try client.receive("changes")
    try client.send(#"{"type":"changes","id":"c"}"#)
    #expect(try next(client) == "duplicate_subscription")
    try client.send(#"{"type":"fetch","id":"c","offset":0,"limit":1}"#)
    #expect(try next(client) == "bad_message")
    try client.send(#"{"type":"unsubscribe","id":"c"}"#)
    _ = try client.receive("unsubscribed")
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    try client.subscribe("c", #"{"from":"orders"}"#)
    #expect(client.models["c"]?.total == 2)
    live.stop()
  }

  @Test func `Whoever comes back is told what was missed, or that it is not known`() throws {
    let live = try serve { $0.limits.changeHistory = 2_000 }
    let client = try subscribe(live)
    let start = try client.receive("changes").required("position").text()
    try live.writer.run("DELETE FROM orders WHERE id = 1; DELETE FROM orders WHERE id = 2")
    #expect(try next(client).hasPrefix("delete orders key {id:1}"))
    client.socket.close()
    let other = try subscribe(live, #""since":"\#(start)""#)
    #expect(try next(other).hasPrefix("delete orders key {id:1}"))
    #expect(try next(other).hasPrefix("delete orders key {id:2}"))
    let all = try subscribe(live, #""since":"oldest""#)
    let oldest = try all.receive("changes")
    #expect(oldest["changes"] == nil && oldest["position"] != nil)
    #expect(try next(all).hasPrefix("delete orders key {id:1}"))
    #expect(try next(all).hasPrefix("delete orders key {id:2}"))
    all.socket.close()
    // The changes of a table are unknown if it was not followed since the position.
    for number in 0..<40 {
      try live.writer.run("INSERT INTO member VALUES (\(number), 'x')")
      _ = try next(other)
    }
    for since in [start, "nonsense", "", "a.1", "1.99999999999999999999"] {
      let late = try subscribe(live, #""since":"\#(since)""#)
      #expect(try next(late) == "gap: the position is older than what is remembered", "\(since)")
      try live.writer.run("UPDATE orders SET total = total + 1 WHERE id = 3")
      #expect(try next(late).hasPrefix("update orders key {id:3}"))
    }
    live.stop()
  }

  @Test func `A position of before a table was followed is too old for it`() throws {
    let live = try serve()
    let client = try subscribe(live, #""tables":["orders"]"#)
    let start = try client.receive("changes").required("position").text()
    try live.writer.run(
      "INSERT INTO member VALUES (1, 'unseen'); UPDATE orders SET total = total + 1 WHERE id = 1")
    #expect(try next(client).hasPrefix("update orders key {id:1}"))
    let late = try subscribe(live, #""tables":["member"],"since":"\#(start)""#)
    #expect(try next(late) == "gap: the position is older than what is remembered")
    let other = try subscribe(live, #""tables":["orders"],"since":"\#(start)""#)
    #expect(try next(other).hasPrefix("update orders key {id:1}"))
    live.stop()
  }

  @Test func `Streams resume by Last-Event-ID, and lines are lines`() throws {
    let live = try serve()
    let first = try EventClient(port: live.server.port, "/v1/changes?table=orders&columns=id,total")
    try first.next()
    try live.writer.run("UPDATE orders SET total = 11 WHERE id = 1")
    let event = try #require(try first.next())
    #expect(event.event == "changes" && event.id == first.lastEventID)
    try live.writer.run("UPDATE orders SET total = 12 WHERE id = 1")
    let second = try EventClient(
      port: live.server.port, "/v1/changes?table=orders&columns=id,total",
      headers: ["Last-Event-ID: \(first.lastEventID)"])
    let change = try #require(try second.next()).json()
    #expect(
      try ChangesTests.changes(change) == ["update orders key {id:1} old {total:11.0} new {id:1 total:12.0}"])
    let socket = try RawSocket(port: live.server.port)
    try socket.write(
      "GET /v1/changes?table=orders&since=\(first.lastEventID) HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n"
    )
    #expect(try socket.readResponse().headers["content-type"] == "application/x-ndjson")
    let line = String(decoding: try socket.readChunk(), as: UTF8.self)
    #expect(line.hasSuffix("]}\n") && line.hasPrefix(#"{"type":"changes","position":"#), "\(line)")
    live.stop()
  }

  @Test func `A condition that takes too long ends its reader alone`() throws {
    let live = try serve()
    let endless =
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0) = 0"
    let slow = try subscribe(live, #""tables":["orders"],"where":{"orders":"\#(endless)"}"#)
    _ = try slow.receive("changes")
    let other = try subscribe(live)
    _ = try other.receive("changes")
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    #expect(try next(other).hasPrefix("delete orders"))
    #expect(try next(slow) == "timeout")
    live.stop()
  }

  @Test func `A commit of more than is remembered is a gap`() throws {
    let live = try serve { $0.limits.changeHistory = 100_000 }
    let client = try subscribe(live)
    _ = try client.receive("changes")
    try live.writer.run(
      "INSERT INTO orders(customer) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n"
    )
    #expect(try next(client) == "gap: which rows of orders changed is not known")
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    #expect(try next(client).hasPrefix("delete orders key {id:1}"))
    live.stop()
  }

  @Test func `A blob that is written in place is an update`() throws {
    let live = try LiveServer(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB); INSERT INTO t VALUES (1, zeroblob(5000))")
    let client = try subscribe(live)
    _ = try client.receive("changes")
    live.queue.writeWithoutTransaction { db in
      var blob: OpaquePointer?
      #expect(sqlite3_blob_open(db.sqliteConnection, "main", "t", "b", 1, 1, &blob) == SQLITE_OK)
      // This changes only an overflow page.
      #expect(sqlite3_blob_write(blob, [1, 2, 3] as [UInt8], 3, 4990) == SQLITE_OK)
      sqlite3_blob_close(blob)
    }
    let message = try client.receive("changes")
    let change = try #require(try message.list("changes") { $0 }.first)
    let zeros = Data(count: 5000)
    var written = zeros
    written.replaceSubrange(4990..<4993, with: [1, 2, 3])
    #expect(change["new"]?["b"]?["$blob"] == .string(written.base64EncodedString()))
    if let old = change["old"]?["b"]?["$blob"] { #expect(old == .string(zeros.base64EncodedString())) }
    live.stop()
  }

  // MARK: - Roles

  private func serve(_ rules: String) throws -> LiveServer {
    let yaml = "roles: {anonymous: {tables: {\(rules)}, queries: [any]}}"
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    return try serve { $0.access.roles = file.roles }
  }

  @Test(arguments: ["customer = 7", "customer IN (SELECT customer FROM member WHERE name = 'ann')"])
  func `Rows that a role may not read are not there, nor are its hidden columns and tables`(rule: String) throws {
    let live = try serve(#"orders: {rows: "\#(rule)", columns: [id, customer, total]}, member: {}"#)
    let client = try subscribe(live)
    _ = try client.receive("changes")
    try live.writer.run("INSERT INTO secret VALUES ('x'); UPDATE orders SET total = 0 WHERE id = 2")
    try live.writer.run("UPDATE orders SET margin = 0; UPDATE orders SET status = 'z'")
    try live.writer.run("UPDATE orders SET total = 12 WHERE id = 1; UPDATE orders SET customer = 8 WHERE id = 3")
    #expect(
      try next(client)
        == "update orders key {id:1} old {total:10.0} new {customer:7 id:1 total:12.0}")
    #expect(try next(client) == "delete orders key {id:3} old {customer:7 id:3 total:30.0}")
    try live.writer.run("UPDATE orders SET customer = 7 WHERE id = 2")
    #expect(try next(client) == "insert orders key {id:2} new {customer:7 id:2 total:0.0}")
    for request in [#""tables":["secret"]"#, #""tables":["v"]"#] {
      let other = try subscribe(live, request)
      #expect(try next(other) == "no_such_table", "\(request)")
    }
    for request in [
      #""tables":["orders"],"columns":{"orders":["margin"]}"#, #""tables":["orders"],"where":{"orders":"margin > 1"}"#,
    ] {
      let other = try subscribe(live, request)
      #expect(try next(other) == "no_such_column", "\(request)")
    }
    live.stop()
  }

  @Test func `Positions tell a role nothing of changes that it may not see`() throws {
    let live = try serve(#"orders: {rows: "customer = 7"}"#)
    let everyone = try subscribe(live)
    var positions = [try everyone.receive("changes").required("position").text()]
    for hidden in [0, 1, 50] {
      for _ in 0..<hidden { try live.writer.run("UPDATE orders SET total = total + 1 WHERE id = 2") }
      try live.writer.run("UPDATE orders SET total = total + 1 WHERE id = 1")
      positions.append(try everyone.receive("changes").required("position").text())
      let late = try subscribe(live)
      positions.append(try late.receive("changes").required("position").text())
    }
    #expect(Set(positions).count == positions.count && Set(positions.map(\.count)).count == 1)
    #expect(Set(positions.map { $0.prefix { $0 != "." } }).count == 1)
    // Each position still leads to the changes after it.
    let again = try subscribe(live, #""since":"\#(positions[1])""#)
    for _ in 0..<2 { #expect(try next(again).hasPrefix("update orders key {id:1}")) }
    live.stop()
  }

  @Test func `A role without queries of its own has no feed`() throws {
    let file = try ConfigurationFile(yaml: "roles: {anonymous: {tables: {orders: {}}}}", name: "x")
    let live = try serve { $0.access.roles = file.roles }
    #expect(try next(try subscribe(live)) == "not_allowed")
    #expect(try live.http("GET", "/v1/changes").status == 403)
    live.stop()
  }

  // MARK: - Slow readers, other files

  @Test func `A reader that stalls gets a gap, and another one notices nothing`() throws {
    let live = try serve {
      $0.limits.changeHistory = 1_000_000
      // With a shorter timeout, the client would be closed because it reads nothing.
      $0.limits.sockets.readTimeout = .seconds(300)
    }
    let stalled = try RawSocket(port: live.server.port, receiveBuffer: 4_096)
    try stalled.write("GET /v1/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try stalled.readResponse().status == 200)
    let other = try subscribe(live)
    _ = try other.receive("changes")
    let text = String(repeating: "x", count: 20_000)
    let updates = String(repeating: "UPDATE orders SET status = '\(text)' || random() WHERE id = 1;\n", count: 10)
    // On a busy machine frames could be overwritten before they are read: a gap for the other one as well.
    try live.writer.run("PRAGMA wal_autocheckpoint = 0")
    var told = 0
    for batch in 1...20 {
      try live.writer.run(updates)
      while told < 10 * batch { told += try commits(ofNext: other) }
    }
    #expect(told == 200)
    var received = ""
    while !received.contains("event: gap") {
      received = try received.suffix(20) + String(decoding: stalled.readChunk(), as: UTF8.self)
    }
    try live.writer.run("DELETE FROM orders WHERE id = 3")
    while !received.contains(#""op":"delete","key":{"id":3}"#) {
      received = try received.suffix(100) + String(decoding: stalled.readChunk(), as: UTF8.self)
    }
    live.stop()
  }

  /// The number of commits in the next message: several if their frames were overwritten before they could be read.
  /// Only this member is parsed, because parsing whole messages would take most of the time.
  private func commits(ofNext client: LiveClient) throws -> Int {
    let begin = String(decoding: try client.readFrame().payload.prefix(200), as: UTF8.self)
    let members = try #require(begin.wholeMatch(of: /\{"type":"changes".*?"commits":(\d+).*/), "\(begin)")
    return try #require(Int(members.1))
  }

  @Test func `Another file in the place of the first is a gap`() throws {
    let live = try serve()
    let client = try subscribe(live, #""tables":["orders"]"#)
    _ = try client.receive("changes")
    let other = live.path + ".new"
    try SQLiteShell(path: other).run(Self.schema + "PRAGMA journal_mode=WAL; UPDATE orders SET total = 99")
    try live.replace(by: other)
    #expect(try next(client).hasPrefix("gap"))
    try SQLiteShell(path: live.path).run("DELETE FROM orders WHERE id = 1")
    #expect(try next(client).hasPrefix("delete orders key {id:1} old {customer:7 id:1 margin:1.0"))
    live.stop()
  }

  @Test func `A transaction says with its answer which change is its own`() throws {
    let live = try serve { $0.access.allowsWrites = true }
    let client = try subscribe(live)
    _ = try client.receive("changes")
    try client.send(#"{"type":"transact","id":"t","statements":[{"sql":"DELETE FROM orders WHERE id = 1"}]}"#)
    var commits: [String: JSONValue] = [:]
    while commits.count < 2 {
      let message = try client.receive()
      if let commit = message["commit"] { commits[try message.required("type").text()] = commit }
    }
    #expect(commits["changes"] == commits["committed"])
    live.stop()
  }
}
