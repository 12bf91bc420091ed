import Foundation
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// How results are delivered: in parts, in windows, at intervals, and to slow clients.
@Suite struct DeliveryTests {
  // MARK: - Long snapshots, windows

  @Test func `A long snapshot comes in parts, and no patch in between`() throws {
    let live = try LiveServer(SessionTests.many(20_000))
    let client = try live.connect(receiveBuffer: 4_096)
    try client.send(#"{"type":"subscribe","id":"q","query":{"from":"t"}}"#)
    let first = try client.receive()
    #expect(first["complete"] == .bool(false) && first["total"] == .integer(20_000))
    for value in 1...5 { try live.writer.run("UPDATE t SET a = \(value) WHERE id <= 10") }
    try client.send(#"{"type":"fetch","id":"q","offset":19999,"limit":5}"#)
    var types: [String] = []
    while types.last != "fetched" {
      let message = try client.receive()
      let isAnswer = message["type"] == .string("rows") && message["offset"] == .integer(19_999)
      types.append(isAnswer ? "fetched" : try message["type"]!.text())
    }
    #expect(types.first == "rows" && types.contains("patch"))
    #expect(types.firstIndex(of: "patch")! > types.lastIndex(of: "rows")!)
    #expect(client.models["q"]?.rows[9]?["a"] == .integer(5) && client.models["q"]?.rows[10]?["a"] == .string("row 11"))
    live.stop()
  }

  @Test(arguments: [#"{"type":"resync","id":"q"}"#, #"{"type":"unsubscribe","id":"q"}"#])
  func `A snapshot in parts can be begun anew or given up`(request: String) throws {
    let live = try LiveServer(SessionTests.many(50_000))
    let client = try live.connect(receiveBuffer: 4_096)
    try client.send(#"{"type":"subscribe","id":"q","query":{"from":"t"}}"#)
    #expect(try client.receive()["complete"] == .bool(false))
    try client.send(request)
    if request.contains("resync") {
      while try client.receive()["type"] != .string("snapshot") {}
      while client.models["q"]?.isComplete != true { try client.receive() }
      #expect(client.models["q"]?.rows.allSatisfy { $0 != nil } == true)
    } else {
      while try client.receive()["type"] != .string("unsubscribed") {}
      // The id can be used again, and the rest of the snapshot does not come.
      try client.subscribe("q", #"{"from":"t","limit":1}"#)
      #expect(client.line("q") == "''/: 1,'row 1'")
    }
    live.stop()
  }

  @Test func `A window moves, also to where nothing is`() throws {
    let live = try LiveServer(SessionTests.many(100))
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","select":["id"]}"#, window: (10, 3))
    #expect(client.models["q"]?.visibleRows.map { $0?["id"] } == [.integer(11), .integer(12), .integer(13)])
    for (offset, limit, ids) in [(12, 2, [13, 14]), (98, 5, [99, 100]), (500, 5, []), (0, 0, []), (0, 1, [1])] {
      try client.send("{\"type\":\"window\",\"id\":\"q\",\"offset\":\(offset),\"limit\":\(limit)}")
      let rows = try client.receive()
      #expect(rows["window"] == .object(["offset": .integer(Int64(offset)), "limit": .integer(Int64(limit))]))
      #expect(client.models["q"]?.visibleRows.map { $0?["id"] } == ids.map { .integer(Int64($0)) })
      try live.writer.run("UPDATE t SET a = a || '!'")
      try client.catchUp(["q"])
    }
    try live.writer.run("INSERT INTO t VALUES (0, '')")
    try client.catchUp(["q"])
    #expect(client.models["q"]?.visibleRows.map { $0?["id"] } == [.integer(0)], "a window at 0 stays there")
    live.stop()
  }

  @Test func `Rows are fetched without moving the window`() throws {
    let live = try LiveServer(SessionTests.many(100))
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","select":["id"]}"#, window: (0, 2))
    for (offset, limit, ids) in [(50, 2, [51, 52]), (99, 9, [100]), (100, 9, []), (1_000_000, 9, []), (5, 0, [])] {
      try client.send("{\"type\":\"fetch\",\"id\":\"q\",\"offset\":\(offset),\"limit\":\(limit)}")
      let rows = try client.receive("rows")
      #expect(rows["window"] == nil && rows["complete"] == .bool(true))
      #expect(try rows.list("rows") == ids.map { .array([.integer(Int64($0))]) })
    }
    #expect(client.models["q"]?.window?.limit == 2)
    live.stop()
  }

  @Test func `A resync brings what the client should have`() throws {
    let live = try LiveServer(SessionTests.schema)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#, window: (1, 1))
    try client.send(#"{"type":"resync","id":"q"}"#)
    let snapshot = try client.receive()
    #expect(snapshot["type"] == .string("snapshot") && snapshot["offset"] == .integer(1))
    try live.writer.run("UPDATE t SET a = 1")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: ? 2,1 ?")
    live.stop()
  }

  // MARK: - Time

  @Test func `An interval makes few patches of many commits`() throws {
    let live = try LiveServer(SessionTests.schema)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#, more: #""minInterval":200"#)
    let start = ContinuousClock.now
    for value in 1...200 { try live.writer.run("UPDATE t SET a = \(value)") }
    while client.line("q") != "''/: 1,200 2,200 3,200" { try client.receive() }
    let intervals = (ContinuousClock.now - start) / .milliseconds(200)
    #expect(Double(client.changes["q"]! - 1) <= intervals + 1, "\(client.changes["q"]!) messages")
    live.stop()
  }

  @Test func `A client that does not read for a while gets few, larger patches`() throws {
    // Each commit changes 100 kB: far more than sockets hold.
    let live = try LiveServer(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, 0 FROM n;
      """)
    let client = try live.connect(receiveBuffer: 4_096)
    try client.subscribe("q", #"{"from":"t"}"#)
    let reader = try live.connect()
    try reader.subscribe("r", #"{"from":"t","where":"id = 1"}"#)
    let text = String(repeating: "x", count: 1_000)
    for value in 1...1_000 { try live.writer.run("UPDATE t SET a = '\(value)\(text)'") }
    try reader.catchUp(["r"])
    let last = JSONValue.string("1000\(text)")
    while client.models["q"]?.rows[99]?["a"] != last { try client.receive() }
    #expect(client.models["q"]?.rows.allSatisfy { $0?["a"] == last } == true)
    #expect(client.changes["q"]! < 500, "\(client.changes["q"]!) messages")
    live.stop()
  }

  // MARK: - What sends nothing, and what sends much

  @Test(arguments: [
    "BEGIN; UPDATE t SET a = 'b'; UPDATE t SET a = CASE id WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END; COMMIT",
    "BEGIN; DELETE FROM t; INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z'); COMMIT", "BEGIN; DELETE FROM t; ROLLBACK",
    "UPDATE t SET a = a", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM",
    "CREATE TABLE other(x); INSERT INTO other VALUES (1)",
    "CREATE INDEX i ON t(a)", "ANALYZE", "INSERT INTO u VALUES (1)", "REPLACE INTO t VALUES (1, 'x')",
  ])
  func `What leaves the result as it was sends nothing`(commit: String) throws {
    let live = try LiveServer(SessionTests.schema + "CREATE TABLE u(x);")
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","orderBy":["a"]}"#)
    try live.writer.run(commit)
    try client.catchUp(["q"])
    #expect(client.changes["q"] == 1)
    try live.writer.run("DELETE FROM t WHERE id = 2")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,'x' 3,'z'")
    #expect(client.last["q"]?["type"] == .string("patch"))
    live.stop()
  }

  @Test(arguments: [
    ("DELETE FROM t", ""), ("UPDATE t SET id = -id", ""), ("UPDATE t SET a = 'row ' || (1001 - id)", ""),
    (
      "BEGIN; \((1...1_000).map { "UPDATE t SET a = 'new \($0)' WHERE id = \($0);" }.joined(separator: "\n")) COMMIT",
      ""
    ),
    ("DELETE FROM t; INSERT INTO t VALUES (1, 'one')", ""),
  ])
  func `A large transaction arrives whole`(commit: String, unused: String) throws {
    let live = try LiveServer(SessionTests.many(1_000))
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","select":["a"],"sectionBy":"substr(a, 1, 5)","orderBy":["a DESC"]}"#)
    try client.subscribe("w", #"{"from":"t","select":["a"],"orderBy":["a DESC"]}"#, window: (5, 10))
    try live.writer.run(commit)
    try client.catchUp(["q", "w"])
    let query = try live.connect()
    try query.subscribe("q", #"{"from":"t","select":["a"],"sectionBy":"substr(a, 1, 5)","orderBy":["a DESC"]}"#)
    let fresh = try live.http("GET", "/v1/snapshot?from=t&select=a&sectionBy=substr(a,1,5)&orderBy=a+DESC&limit=9999")
    let rows = try JSONParser.parse(fresh.body).list("rows")
    #expect(client.models["q"]?.rows.map { $0.map { JSONValue.object($0) } } == rows)
    #expect(client.line("q") == query.line("q"))
    try query.subscribe(
      "w", #"{"from":"t","select":["a"],"orderBy":["a DESC"]}"#, window: (client.models["w"]!.window!.offset, 10))
    #expect(client.models["w"]?.visibleRows == query.models["w"]?.visibleRows)
    live.stop()
  }

  // MARK: - Values

  @Test func `Values of every kind come and go as they are`() throws {
    let live = try LiveServer(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, v);
      INSERT INTO t(v) VALUES (NULL), (9007199254740991), (9007199254740992), (-9223372036854775808), (1.5), (1e999),
        (-1e999), ('text "quoted" \\ é😀'), (x'00ff10'), (x''), (CAST(x'41ff42' AS TEXT)), (CAST(x'410042' AS TEXT));
      """)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t"}"#, more: #""shape":"objects""#)
    let values = client.models["q"]?.rows.map { $0?["v"]?.short ?? "" }
    #expect(
      values == [
        "null", "9007199254740991", "{$int:'9007199254740992'}", "{$int:'-9223372036854775808'}", "1.5", "inf", "-inf",
        "'text \"quoted\" \\ é😀'", "{$blob:'AP8Q'}", "{$blob:''}", "'A\u{FFFD}B'", "'A\0B'",
      ])
    for (parameter, id) in [
      ("9007199254740991", 2), (#"{"$int":"9007199254740992"}"#, 3), (#"{"$int":"-9223372036854775808"}"#, 4),
      ("1.5", 5),
      ("1e999", 6), ("-1e999", 7), (#"{"$blob":"AP8Q"}"#, 9), (#"{"$blob":""}"#, 10), (#""A\u0000B""#, 12),
    ] {
      try client.subscribe(
        "p", "{\"from\":\"t\",\"select\":[\"id\"],\"where\":\"v = :v\",\"params\":{\"v\":\(parameter)}}")
      #expect(client.line("p") == "''/: \(id)", "\(parameter)")
      try client.send(#"{"type":"unsubscribe","id":"p"}"#)
      _ = try client.receive("unsubscribed")
    }
    try live.writer.run("UPDATE t SET v = 1e999 WHERE id = 1; DELETE FROM t WHERE id > 2")
    try client.catchUp(["q"])
    #expect(client.line("q") == "''/: 1,inf 2,9007199254740991")
    live.stop()
  }
}
