import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Values that JSON cannot carry, in every place of the protocol; what is run again by the clock; and values beside a
/// result.
@Suite struct LiveValuesTests {
  private static let encodings = ["UTF-8", "UTF-16le", "UTF-16be"]

  private static let schema = """
    CREATE TABLE t(k PRIMARY KEY, v, n INT) WITHOUT ROWID;
    INSERT INTO t VALUES (9007199254740993, x'00ff', 1), (x'616263', 9223372036854775807, 1), ('é', x'', 2), ('😀', 2.5, 2);
    CREATE TABLE d(k REFERENCES t, text TEXT COLLATE NOCASE); CREATE INDEX d_k ON d(k);
    INSERT INTO d VALUES (9007199254740993, 'big'), (x'616263', 'blob'), ('é', 'accent'), ('😀', 'face');
    """

  private static let big = #"{"$int":"9007199254740993"}"#
  private static let blob = #"{"$blob":"YWJj"}"#

  private func live(_ encoding: String, _ schema: String = schema) throws -> LiveServer {
    try LiveServer("PRAGMA encoding = '\(encoding)';\n\(schema)") { $0.access.allowsWrites = true }
  }

  // MARK: - Values

  @Test(arguments: encodings) func keysAndCellsAreWholeInEveryPlace(encoding: String) throws {
    let live = try live(encoding)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"t","orderBy":["n"]}"#)
    try client.subscribe("s", #"{"from":"t","select":["n"],"sectionBy":"k"}"#)
    try client.subscribe("v", #"{"from":"t","select":["n"],"key":["v"]}"#)
    for (index, key) in [Self.big, Self.blob, "\"é\"", "\"😀\""].enumerated() {
      try client.send("{\"type\":\"locate\",\"id\":\"q\",\"key\":\(key)}")
      let located = try client.receive("located")
      #expect(located["key"] == (try JSONParser.parse(Array(key.utf8))) && located["offset"] != .null, "\(key)")
      try client.send("{\"type\":\"locate\",\"id\":\"q\",\"key\":[\(key)]}")
      #expect(try client.receive("located")["offset"] == located["offset"], "\(key)")
      try client.subscribe(
        "p\(index)", "{\"from\":\"t\",\"select\":[\"n\"],\"where\":\"k = :k\",\"params\":{\"k\":\(key)}}")
      #expect(client.models["p\(index)"]?.total == 1, "\(key)")
      try client.subscribe(
        "a\(index)", "{\"from\":\"t\",\"select\":[\"n\"],\"where\":\"k IN (?)\",\"params\":[\(key)]}")
      #expect(client.line("a\(index)") == client.line("p\(index)"))
    }
    #expect(
      client.line("s") == """
        {$int:'9007199254740993'}/9: {$int:'9007199254740993'},1 | 'é'/É: 'é',2 | '😀'/😀: '😀',2 | \
        {$blob:'YWJj'}/: {$blob:'YWJj'},1
        """ || encoding != "UTF-8")
    for sql in ["n = n + 1", "v = x'ff'", "v = k", "v = -9223372036854775807, n = 0"] {
      for key in [Self.big, Self.blob, "\"é\"", "\"😀\""] {
        let statement = "{\"sql\":\"UPDATE t SET \(sql) WHERE k = :k\",\"params\":{\"k\":\(key)}}"
        try client.send("{\"type\":\"transact\",\"id\":\"w\",\"statements\":[\(statement)]}")
        #expect(try client.receive("committed")["changes"] == .integer(1), "\(key)")
        try client.catchUp(["q", "s"])
        let fresh = try live.connect()
        try fresh.subscribe("q", #"{"from":"t","orderBy":["n"]}"#)
        try fresh.subscribe("s", #"{"from":"t","select":["n"],"sectionBy":"k"}"#)
        #expect(client.line("q") == fresh.line("q") && client.line("s") == fresh.line("s"))
      }
    }
    live.stop()
  }

  @Test(arguments: encodings) func joinsAndManyQueriesFollowTextInEveryEncoding(encoding: String) throws {
    let live = try live(encoding)
    let client = try live.connect()
    let join = #"{"from":"t LEFT JOIN d ON d.k = t.k","select":["text","n"],"key":["t.k","d.rowid AS r"]}"#
    try client.subscribe("join", join)
    let texts = ["BIG", "blob", "Accent", "face", "é", "😀", "x"] + (0..<8).map { "\($0)" }
    let query = { (text: String) in
      "{\"from\":\"d\",\"select\":[\"text\"],\"where\":\"text = :t\",\"params\":{\"t\":\"\(text)\"}}"
    }
    for text in texts { try client.subscribe(text, query(text)) }
    for commit in [
      "UPDATE d SET text = 'ACCENT' WHERE text = 'face'", "UPDATE t SET n = 7 WHERE k = 'é'", "UPDATE d SET k = '😀'",
      "UPDATE d SET text = '😀' WHERE rowid < 3", "UPDATE t SET k = 'e' WHERE k = '😀'",
      "UPDATE d SET k = 'e', text = 'é'",
      "DELETE FROM t WHERE k = 'e'", "DELETE FROM d WHERE rowid = 2",
      "INSERT INTO d VALUES ('é', '3'), (x'616263', '3')",
    ] {
      try live.writer.run(commit)
      try client.catchUp(["join"] + texts)
      let fresh = try live.http("POST", "/v1/snapshot", body: "{\"query\":\(join),\"shape\":\"arrays\"}")
      let rows = try JSONParser.parse(fresh.body).list("rows")
      let model = client.models["join"]!
      #expect(model.rows.map { row in .array(model.columns.map { row![$0]! }) } == rows, "\(commit)")
      for text in texts {
        let rows = try live.queue.read { db in
          try OracleQuery(
            table: "d", keys: ["rowid"], select: ["text"], filter: "text = '\(text)'", section: nil, orderBy: [],
            limit: nil,
            window: nil
          ).answer(db)
        }
        #expect(client.models[text]?.difference(from: rows) == nil, "\(text) after \(commit)")
      }
    }
    live.stop()
  }

  // MARK: - Values alongside

  @Test func whatChangesBesideTheResultAloneIsSentAlone() throws {
    let live = try live("UTF-8")
    let client = try live.connect()
    let alongside = """
      "alongside":{"longest":"SELECT max(length(text)) FROM d","big":"SELECT max(k) FROM t WHERE typeof(k) = 'integer'",
      "blob":"SELECT k FROM t WHERE typeof(k) = 'blob'","none":"SELECT k FROM t WHERE 0"}
      """
    try client.subscribe("q", "{\"from\":\"t\",\"where\":\"n > 1\",\(alongside)}")
    #expect(
      client.models["q"]?.alongside.mapValues(\.short) == [
        "longest": "6", "big": "{$int:'9007199254740993'}", "blob": "{$blob:'YWJj'}", "none": "null",
      ])
    for (commit, isSent) in [
      ("INSERT INTO d VALUES ('é', 'the longest of all')", true), ("UPDATE d SET k = NULL", false),
      ("INSERT INTO t VALUES (9223372036854775807, NULL, 0)", true), ("UPDATE t SET v = 1 WHERE n = 0", false),
      ("DELETE FROM d", true),
    ] {
      let before = client.changes["q"]!
      try live.writer.run(commit)
      try client.catchUp(["q"])
      #expect(client.changes["q"] == before + (isSent ? 1 : 0), "\(commit)")
      guard isSent, let patch = client.last["q"]?.members else { continue }
      #expect(
        Set(patch.keys).isSubset(of: ["type", "id", "from", "to", "commit", "total", "alongside"]), "\(patch.keys)")
    }
    #expect(client.models["q"]?.alongside["big"]?.short == "{$int:'9223372036854775807'}")
    #expect(client.models["q"]?.alongside["longest"] == .null)
    live.stop()
  }

  // MARK: - By the clock

  @Test(arguments: ["datetime('now')", "current_timestamp", "random()", "strftime('%f', 'now')", "julianday()"])
  func whatDependsOnTheTimeIsRunAgainByTheClock(expression: String) throws {
    let live = try live("UTF-8")
    let client = try live.connect()
    let query = "\"from\":\"t\",\"select\":[\"\(expression) AS x\"],\"where\":\"n = 1\""
    try client.subscribe("refused", "{\(query)}")
    #expect(try client.errors["refused"]?.required("message").text().contains("refreshEvery") == true)
    for wrong in ["0", "-1", "\"a\"", "0.5"] {
      client.others = []
      try client.send("{\"type\":\"subscribe\",\"id\":\"w\",\"query\":{\(query),\"refreshEvery\":\(wrong)}}")
      let message = try client.receive("error").required("message").text()
      #expect(message.contains("refreshEvery must be a number of seconds from 1 up"), "\(wrong)")
    }
    try client.subscribe("q", "{\(query),\"refreshEvery\":1}")
    let start = ContinuousClock.now
    for _ in 0..<2 { #expect(try client.receive()["type"] == .string("patch")) }
    let elapsed = ContinuousClock.now - start
    #expect(elapsed > .milliseconds(1_000) && elapsed < .seconds(8), "\(elapsed)")
    live.stop()
  }
}
