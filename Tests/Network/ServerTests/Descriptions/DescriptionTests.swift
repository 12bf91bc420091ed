import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// The server's descriptions of queries, of the database and of itself.
@Suite struct DescriptionTests {
  private static let schema = """
    CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT NOT NULL, depth REAL, operator INT REFERENCES operator);
    CREATE TABLE operator(code TEXT, region TEXT, name, PRIMARY KEY (region, code)) WITHOUT ROWID;
    CREATE VIEW deep AS SELECT * FROM well WHERE depth > 1000;
    INSERT INTO well VALUES (1, 'Aardvark', 5000, NULL);
    """

  // MARK: - Explain

  @Test func `A query over one table is followed by its keys`() throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/explain?from=well&where=depth%3E:d&param.d=10&orderBy=name")
    #expect(response.status == 200, "\(response.text)")
    let json = try JSONParser.parse(response.body)
    #expect(json["maintenance"] == .string("incremental"))
    #expect(try json.required("sql").text().contains("well") && !json.required("reason").text().isEmpty)
    let table = try #require(try json.list("tables").first)
    #expect(table["name"] == .string("well") && table["capture"] == .string("rows"))
    #expect(table["following"] == .string("key"))
    #expect(try !json.list("plan").isEmpty && json["advice"] != nil)
    live.stop()
  }

  @Test func `Without a WAL whole tables are compared, and WAL is advised`() throws {
    let live = try LiveServer(Self.schema, isWAL: false)
    let json = try JSONParser.parse(try live.http("GET", "/v1/explain?from=well").body)
    #expect(json["maintenance"] == .string("incremental"))
    #expect(try json.list("tables").map { $0["capture"] } == [.string("comparison")])
    #expect(try json.list("advice").contains { $0.short.contains("journal_mode = WAL") })
    live.stop()
  }

  @Test(arguments: [
    ("from=nosuch", 400, "no_such_table"), ("", 400, "bad_message"), ("from=well&wait=1", 400, "bad_query"),
    ("from=well&where=depth%3E:d", 400, "bad_query"), ("name=nosuch", 400, "bad_query"),
  ])
  func `What cannot be explained is a problem`(parameters: String, status: Int, code: String) throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/explain?\(parameters)")
    #expect(response.status == status && response.text.contains("\"code\":\"\(code)\""), "\(response.text)")
    live.stop()
  }

  // MARK: - Schema

  @Test func `The schema names what may be read, and nothing of Freshet's own`() throws {
    let live = try LiveServer(Self.schema)
    let response = try live.http("GET", "/v1/schema")
    let tables = try JSONParser.parse(response.body).list("tables")
    #expect(tables.map { $0["name"]?.short ?? "" }.sorted() == ["'deep'", "'operator'", "'well'"])
    let well = try #require(tables.first { $0["name"] == .string("well") })
    #expect(well["kind"] == .string("table"))
    #expect(
      try well.list("columns").map(\.short) == [
        "{key:1 name:'id' notNull:false type:'INTEGER'}", "{key:0 name:'name' notNull:true type:'TEXT'}",
        "{key:0 name:'depth' notNull:false type:'REAL'}", "{key:0 name:'operator' notNull:false type:'INT'}",
      ])
    let keys = try tables.first { $0["name"] == .string("operator") }?.list("columns").map { $0["key"]?.short ?? "" }
    #expect(keys == ["2", "1", "0"])
    #expect(tables.first { $0["name"] == .string("deep") }?["kind"] == .string("view"))
    live.stop()
  }

  @Test func `The schema says what identifies rows, and how tables belong together`() throws {
    let schema = """
      CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT DEFAULT 'nobody', initial TEXT AS (substr(name, 1, 1)));
      CREATE TABLE loose(a, person INT REFERENCES person(id) ON DELETE CASCADE);
      CREATE TRIGGER noted AFTER DELETE ON loose BEGIN DELETE FROM half; END;
      CREATE TABLE pair(x, y, PRIMARY KEY (y, x)) WITHOUT ROWID;
      CREATE TABLE half(a, b, c, FOREIGN KEY (a, b) REFERENCES pair(y, x), FOREIGN KEY (c) REFERENCES person,
        FOREIGN KEY (c) REFERENCES pair);
      CREATE VIRTUAL TABLE person_search USING fts5(name, content = "person", content_rowid = "id");
      CREATE VIRTUAL TABLE note USING FTS5(body);
      """
    let live = try LiveServer(schema) { $0.access.allowsWrites = true }
    let json = try JSONParser.parse(try live.http("GET", "/v1/schema").body)
    let tables = try json.list("tables")
    func member(_ table: String, _ name: String) -> String? {
      tables.first { $0["name"] == .string(table) }?[name]?.short
    }
    #expect(json["writes"] == .string("any"))
    #expect(member("person", "key") == "['id']" && member("loose", "key") == "['rowid']")
    #expect(member("pair", "key") == "['y' 'x']" && member("pair", "withoutRowid") == "true")
    #expect(member("person", "withoutRowid") == nil && member("person", "foreignKeys") == nil)
    #expect(member("person", "columns")?.contains("default:''nobody''") == true)
    #expect(member("person", "columns")?.contains("generated:true") == true)
    let keys = tables.first { $0["name"] == .string("half") }.map { (try? $0.list("foreignKeys")) ?? [] }
    #expect(
      keys?.map(\.short) == [
        "{columns:['a' 'b'] references:['y' 'x'] table:'pair'}", "{columns:['c'] references:['id'] table:'person'}",
        "{columns:['c'] references:[] table:'pair'}",
      ])
    #expect(member("loose", "foreignKeys")?.contains("onDelete:'cascade'") == true)
    #expect(member("loose", "triggers") == "true" && member("half", "triggers") == nil)
    #expect(member("person_search", "content") == "'person'" && member("person_search", "contentRowid") == "'id'")
    #expect(member("note", "module") == "'fts5'" && member("note", "content") == nil)
    live.stop()
  }

  // MARK: - Metrics

  /// Name and value of every sample.
  private func metrics(_ live: LiveServer) throws -> [String: Double] {
    let response = try live.http("GET", "/metrics")
    #expect(response.status == 200 && response.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
    var samples: [String: Double] = [:]
    var described: [String: Set<Substring>] = [:]
    for line in response.text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("#") {
        described[String(words[2]), default: []].insert(words[1])
        continue
      }
      samples[String(words[0])] = Double(words[1])
      let name = words[0].prefix { $0 != "{" }
      let summary = name.replacing(/_(sum|count|bucket)$/, with: "")
      let family = described[String(name)] ?? described[String(summary)]
      #expect(family == ["HELP", "TYPE"], "\(line)")
    }
    return samples
  }

  @Test func `Metrics count what there is and what was done`() throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let idle = try metrics(live)
    #expect(idle["freshet_sessions"] == 0 && idle["freshet_subscriptions"] == 0)
    #expect(idle["process_start_time_seconds"]! > 1.7e9)
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"well"}"#)
    let stream = try EventClient(port: live.server.port, "/v1/subscriptions?from=well&limit=5")
    try stream.load()
    let good = #"{"statements":[{"sql":"UPDATE well SET depth = 1"}]}"#
    #expect(try live.http("POST", "/v1/transactions", body: good).status == 200)
    let bad = #"{"statements":[{"sql":"UPDATE well SET name = NULL"}]}"#
    #expect(try live.http("POST", "/v1/transactions", body: bad).status == 409)
    try client.catchUp(["q"])
    try stream.next()
    let busy = try metrics(live)
    #expect(busy["freshet_sessions"] == 1 && busy["freshet_streams"] == 1)
    #expect(busy["freshet_subscriptions"] == 2 && busy["freshet_controllers"] == 1)
    #expect(busy["freshet_transactions_committed_total"] == 1 && busy["freshet_transactions_failed_total"] == 1)
    #expect(busy["freshet_snapshots_total"]! >= 2 && busy["freshet_patches_total"]! >= 2)
    #expect(busy["freshet_ticks_total"]! >= 1 && busy["freshet_changes_total"]! >= 1)
    #expect(busy["freshet_tick_duration_seconds{quantile=\"0.99\"}"]! > 0)
    #expect(busy["freshet_tick_duration_seconds_sum"]! >= busy["freshet_tick_duration_seconds{quantile=\"0.99\"}"]!)
    stream.socket.close()
    client.socket.close()
    while try metrics(live)["freshet_subscriptions"] != 0 {}
    #expect(try metrics(live)["freshet_streams"] == 0)
    live.stop()
  }

  @Test func `Metrics count commits in the feed, and gaps`() throws {
    let live = try LiveServer(Self.schema)
    let client = try live.connect()
    try client.send(#"{"type":"changes","id":"c","tables":["well"],"since":"nonsense"}"#)
    #expect(try client.receive("gap")["reason"] != nil)
    for _ in 0..<3 {
      try live.writer.run("UPDATE well SET depth = depth + 1")
      _ = try client.receive("changes")
    }
    let busy = try metrics(live)
    #expect(busy["freshet_feed_readers"] == 1 && busy["freshet_feed_gaps_total"] == 1)
    #expect(busy["freshet_feed_commits_total"] == 3 && busy["freshet_feed_joined_commits_total"] == 0)
    #expect(busy["freshet_feed_bytes"]! > 0)
    client.socket.close()
    while try metrics(live)["freshet_feed_readers"] != 0 {}
    live.stop()
  }

  /// The page's chart computes the mean of an interval as the growth of the sum divided by the growth of the count.
  @Test func `Sum and count of ticks grow together, tick by tick`() throws {
    let live = try LiveServer(Self.schema) { $0.limits.followers = 1 }
    let client = try live.connect()
    try client.subscribe("q", #"{"from":"well"}"#)
    let (sum, count) = ("freshet_tick_duration_seconds_sum", "freshet_tick_duration_seconds_count")
    var before = try metrics(live)
    for depth in 1...5 {
      let start = ContinuousClock.now
      try live.writer.run("UPDATE well SET depth = \(depth)")
      try client.catchUp(["q"])
      // Requests within a tick are answered before its end.
      var after = try metrics(live)
      while after[count] == before[count] { after = try metrics(live) }
      #expect(after[count] == before[count]! + 1)
      let grown = after[sum]! - before[sum]!
      #expect(grown > 0 && .seconds(grown) < ContinuousClock.now - start)
      before = after
    }
    live.stop()
  }
}
