import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing

/// Expensive SQL of clients: all of it ends, soon, with a code; and the next request is answered.
@Suite(.serialized) struct BoundsTests {
  private static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, big BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO t SELECT i, 'value ' || i, i, NULL
    FROM n;
    CREATE VIEW half AS SELECT x.id AS x, y.a AS y FROM t x JOIN t y ON x.id = y.id JOIN t z ON z.id = y.id;
    CREATE VIEW wide AS SELECT p.x, q.y FROM half p JOIN half q ON p.x = q.x JOIN half r ON q.x = r.x;
    CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE);
    CREATE INDEX person_name ON person(name);
    """

  private func serve(_ timeout: Duration = .seconds(1)) throws -> LiveServer {
    try LiveServer(Self.schema) { configuration in
      configuration.access.allowsWrites = true
      configuration.limits.queryTimeout = timeout
    }
  }

  private func body(_ object: [String: Any]) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
  }

  /// The error's code, or "ok".
  private func code(_ live: LiveServer, _ path: String, _ object: [String: Any]) throws -> String {
    let answer = try live.http("POST", path, body: try body(object))
    if answer.status == 200 { return "ok" }
    let problem = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
    return problem?["code"] as? String ?? "\(answer.status)"
  }

  private func value(_ live: LiveServer, _ sql: String) throws -> String {
    try live.queue.read { try String.fetchOne($0, sql: sql) } ?? "NULL"
  }

  /// On a busy machine, a long attack may run into the time limit instead.
  private func isExpected(_ code: String, _ attack: Attack) -> Bool { attack.codes.contains(code) || code == "timeout" }

  /// The time limit is one second. On a busy machine, the work that it does not count may take several seconds.
  private let bound = Duration.seconds(20)

  @Test(arguments: Attack.all) func `A query ends in time`(attack: Attack) throws {
    let live = try serve()
    let start = ContinuousClock.now
    let code = try code(live, "/v1/snapshot", ["query": ["from": "t", "where": "(\(attack.expression)) IS NOT 'x'"]])
    #expect(isExpected(code, attack), "\(code)")
    #expect(ContinuousClock.now - start < bound)
    #expect(try self.code(live, "/v1/snapshot", ["query": ["from": "t", "where": "id = 1"]]) == "ok")
  }

  @Test(arguments: Attack.all) func `A transaction ends in time`(attack: Attack) throws {
    let live = try serve()
    let start = ContinuousClock.now
    let sql = "UPDATE t SET b = (\(attack.expression)) IS NOT 'x' WHERE id = 1"
    let code = try code(live, "/v1/transactions", ["statements": [["sql": sql]]])
    #expect(isExpected(code, attack), "\(code)")
    #expect(ContinuousClock.now - start < bound)
    let next = "UPDATE t SET b = 'next' WHERE id = 2"
    #expect(try self.code(live, "/v1/transactions", ["statements": [["sql": next]]]) == "ok")
  }

  @Test func `Values of 25 MB are followed and written beside others`() throws {
    let live = try serve(.seconds(30))
    try live.writer.run("UPDATE t SET big = zeroblob(25000000) WHERE id = 3")
    let query: [String: Any] = [
      "from": "t",
      "select": ["id", "a || '!' AS a", "length(big) AS n", "big IS NOT NULL AND substr(big, 1, 1) > x'' AS s"],
      "where": "a LIKE '%alu%' AND instr(big, x'01') = 0",
    ]
    #expect(try code(live, "/v1/snapshot", ["query": query]) == "ok")
    let sql = "UPDATE t SET a = upper(a) WHERE id = 3 AND a LIKE '%alu%'"
    #expect(try code(live, "/v1/transactions", ["statements": [["sql": sql]]]) == "ok")
    #expect(try value(live, "SELECT a || length(big) FROM t WHERE id = 3") == "VALUE 325000000")
  }

  @Test(arguments: ["snippet(page, 0, '[', ']', '…', 10)", "highlight(page, 0, '[', ']')"])
  func `One row full of a word does not stop its search`(call: String) throws {
    let live = try serve(.seconds(30))
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT"
    try live.writer.run("CREATE VIRTUAL TABLE page USING fts5(text)")
    try live.writer.run("INSERT INTO page \(rows) 40000) SELECT group_concat('word', ' ') FROM n")
    let query: [String: Any] = ["from": "page", "select": ["\(call) AS s"], "where": "page MATCH 'word'"]
    // FTS5's own snippet takes half a minute.
    let start = ContinuousClock.now
    #expect(try code(live, "/v1/snapshot", ["query": query]) == "ok")
    #expect(ContinuousClock.now - start < bound)
    try live.writer.run("INSERT INTO page \(rows) 1100000) SELECT group_concat('word', ' ') FROM n")
    #expect(try code(live, "/v1/snapshot", ["query": query]) == "too_large")
  }

  @Test func `A transaction may read what JSON holds`() throws {
    let live = try serve(.seconds(30))
    let sql = "UPDATE t SET b = (SELECT sum(value) FROM json_each('[1,2,3]')) WHERE id = 1"
    #expect(try code(live, "/v1/transactions", ["statements": [["sql": sql]]]) == "ok")
    #expect(try value(live, "SELECT b FROM t WHERE id = 1") == "6")
  }

  @Test func `LIKE is answered as SQLite answers it, and uses an index for a prefix`() throws {
    let live = try serve(.seconds(30))
    try live.writer.run("INSERT INTO person(name) VALUES ('Ada'), ('adam'), ('Bea'), ('a%b'), ('Ärger'), (NULL), (17)")
    for pattern in [
      "'ad%'", "'%D%'", "'a\\%%' ESCAPE '\\'", "'_r%'", "'är%'", "'%7'", "'ada'", "name", "'a' || '%'", "''",
    ] {
      let expected = try value(live, "SELECT count(*) FROM person WHERE name LIKE \(pattern)")
      let answer = try live.http(
        "POST", "/v1/snapshot", body: try body(["query": ["from": "person", "where": "name LIKE \(pattern)"]]))
      #expect(answer.text.contains(#""total":\#(expected)"#), "\(pattern): \(answer.text)")
    }
    let plan = try live.http("GET", "/v1/explain?from=person&where=name%20LIKE%20'ad%25'").text
    #expect(plan.contains("SEARCH person USING") && plan.contains("name>? AND name<?"), "\(plan)")
  }

  @Test func `Many fetches of a slow query do not have the full time each`() throws {
    let live = try serve()
    let client = try live.connect()
    let slow =
      "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) SELECT max(i + t.id) FROM n)"
    let query = #"{"from":"t","select":["id","\#(slow) AS n"],"where":"id = 1"}"#
    // On a busy machine the first run alone may take too long. That ends the subscription, and all fetches with it.
    repeat {
      try client.send(#"{"type":"subscribe","id":"q","query":\#(query),"window":{"offset":0,"limit":0}}"#)
    } while try !client.socket.readFrame().text.contains(#""type":"snapshot""#)
    // Together, the fetches take several times as long as the query's limit.
    let count = 150
    for _ in 0..<count { try client.send(#"{"type":"fetch","id":"q","offset":0,"limit":1}"#) }
    var (answers, refused) = (0, 0)
    while answers < count {
      let text = try client.socket.readFrame().text
      if text.contains(#""code":"timeout""#) { refused += 1 }
      if text.contains(#""type":"rows""#) || text.contains(#""type":"error""#) { answers += 1 }
    }
    #expect(refused > 0 && refused < count, "\(refused)")
  }

  @Test func `A server that is stopped does not wait for a transaction without end`() throws {
    let live = try LiveServer(Self.schema) { configuration in
      configuration.access.allowsWrites = true
      configuration.limits.queryTimeout = .seconds(600)
      configuration.ending.transactionGrace = .milliseconds(100)
    }
    let endless = Attack.all.first { $0.testDescription == "a recursion" }!.expression
    let statement: [String: Any] = ["statements": [["sql": "UPDATE t SET b = \(endless)"]]]
    let text = try body(statement)
    let sockets = try (0..<3).map { _ in try RawSocket(port: live.server.port) }
    for socket in sockets {
      try socket.write(
        "POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
      )
    }
    // When a later request is answered, these messages have been handled.
    #expect(try live.http("GET", "/healthz").status == 200)
    #expect(live.stopInBackground().wait(timeout: .now() + 20) == .success)
    #expect(try value(live, "SELECT count(*) FROM t WHERE b > 30") == "0")
  }
}
