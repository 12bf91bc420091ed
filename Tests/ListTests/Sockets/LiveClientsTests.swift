import Foundation
import GRDB
import Server
import ServerSupport
import TestSupport
import Testing
import Wire

/// Clients that do everything that clients can do, in any order, between random commits of another process. After every
/// step each client's rows equal SQLite's answer to its present query. (`ClientModel` refuses a patch that does not
/// start from the client's version.)
///
/// `FRESHET_SEED=n swift test --filter LiveClientsTests` repeats a failure; `FRESHET_SEEDS=200` tries 200 fresh seeds.
@Suite(.serialized) struct LiveClientsTests {
  private static let seeds = PropertySeeds.freshOrKept("clients.json")

  fileprivate struct Asked {
    var query: OracleQuery
    /// The last requested limit of the window.
    var limit: Int?
    var more: String
  }

  @Test(arguments: seeds, [true, false]) func everyStepLeavesWhatSQLiteAnswers(seed: UInt64, isWAL: Bool) throws {
    var walk = try Walk(seed, isWAL)
    for id in ["a", "b", "c", "d"] { try walk.subscribe(id) }
    for step in 0..<80 {
      let done = try walk.step()
      let difference = try walk.difference()
      #expect(difference == nil, "FRESHET_SEED=\(seed), WAL: \(isWAL), step \(step), \(done)")
      if difference != nil { return }
    }
    walk.live.stop()
  }

  fileprivate struct Walk {
    let live: LiveServer
    var client: LiveClient
    var asked: [String: Asked] = [:]
    var statements: StatementGenerator
    var generator: SeededGenerator

    init(_ seed: UInt64, _ isWAL: Bool) throws {
      statements = StatementGenerator(schema: LiveLibrary.schema, seed: seed)
      generator = SeededGenerator(seed: seed &+ 3)
      live = try LiveServer(LiveLibrary.schema.sql, isWAL: isWAL) { $0.lists.refetchInterval = .milliseconds(5) }
      for _ in 0..<10 { try live.writer.run(statements.commit()) }
      client = try live.connect()
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }

    mutating func query() -> OracleQuery {
      let isBook = pick([true, true, false])
      var query = OracleQuery(
        table: isBook ? "book LEFT JOIN author ON author.id = book.author_id" : "author",
        keys: [isBook ? "book.id" : "author.id"],
        select: isBook ? ["title", "author.name", "year"] : ["name", "country"],
        filter: nil, section: nil, orderBy: [], limit: pick([nil, nil, nil, 4]), window: nil)
      let columns = query.select
      query.filter = pick([nil, nil, "\(columns[0]) IS NOT NULL", "\(columns[1]) > 'A'", "\(query.keys[0]) > 1"])
      if pick([true, false]) {
        query.orderBy = [pick(columns) + pick(["", " DESC", " NULLS LAST", " COLLATE NOCASE"])]
      }
      if pick([true, false]) { query.section = (pick(columns), pick([true, false])) }
      return query
    }

    mutating func window() -> (offset: Int, limit: Int)? { pick([nil, (0, 0), (0, 2), (1, 3), (4, 5), (0, 50)]) }
  }
}

extension LiveClientsTests.Walk {
  mutating func subscribe(_ id: String) throws {
    let query = query()
    let window = window()
    let more = pick(["\"shape\":\"objects\"", "\"shape\":\"arrays\"", "\"minInterval\":30", "\"minInterval\":0"])
    asked[id] = .init(query: query, limit: window?.limit, more: more)
    try client.subscribe(id, query.json, window: window, more: more)
  }

  /// Does a random action, and returns its description.
  mutating func step() throws -> String {
    let id = pick(["a", "b", "c", "d"])
    client.others = []
    let commit = pick([true, false]) ? statements.commit() : ""
    if !commit.isEmpty { try live.writer.run(commit) }
    let action = Int.random(in: 0..<9, using: &generator)
    switch action {
    case 0: try moveWindow(id)
    case 1: try fetch(id)
    case 2: try locate(id)
    case 3, 4: try requery(id)
    case 5: try client.send("{\"type\":\"resync\",\"id\":\"\(id)\"}")
    case 6: try comeBack()
    case 7:
      try client.send("{\"type\":\"unsubscribe\",\"id\":\"\(id)\"}")
      _ = try client.receive("unsubscribed")
      try subscribe(id)
    default: try live.writer.run(statements.commit())
    }
    try client.catchUp(Array(asked.keys))
    return "\(action) of \(id), \(asked[id]!.query.json) after:\n\(commit)"
  }

  private mutating func moveWindow(_ id: String) throws {
    let (offset, limit) = window() ?? (2, 2)
    asked[id]!.limit = limit
    try client.send("{\"type\":\"window\",\"id\":\"\(id)\",\"offset\":\(offset),\"limit\":\(limit)}")
  }

  private mutating func fetch(_ id: String) throws {
    let (offset, limit) = window() ?? (1, 100)
    try client.send("{\"type\":\"fetch\",\"id\":\"\(id)\",\"offset\":\(offset),\"limit\":\(limit)}")
    let answer = try live.queue.read { try asked[id]!.query.answer($0) }
    let rows = try client.receive("rows").list("rows").map { row in
      try row.members.map { members in client.models[id]!.columns.map { members[$0]! } } ?? row.elements()
    }
    #expect(rows == Array(answer.rows.dropFirst(offset).prefix(limit)), "fetch of \(id): \(asked[id]!.query.json)")
  }

  private mutating func locate(_ id: String) throws {
    let answer = try live.queue.read { try asked[id]!.query.answer($0) }
    let key = answer.rows.randomElement(using: &generator)?[0] ?? .integer(77)
    try client.send("{\"type\":\"locate\",\"id\":\"\(id)\",\"key\":\(key.short)}")
    let located = try client.receive("located")
    let offset = answer.rows.firstIndex { $0[0] == key }
    #expect(
      located["offset"] ?? .null == offset.map { .integer(Int64($0)) } ?? .null, "\(id): \(asked[id]!.query.json)")
  }

  private mutating func requery(_ id: String) throws {
    let query = query()
    let window = pick([true, false]) ? window() : nil
    let isSameKind = query.table == asked[id]!.query.table
    asked[id]!.query = query
    let before = client.changes[id]!
    var message = "{\"type\":\"requery\",\"id\":\"\(id)\",\"query\":\(query.json)"
    if let window {
      asked[id]!.limit = window.limit
      message += ",\"window\":{\"offset\":\(window.offset),\"limit\":\(window.limit)}"
    }
    try client.send(message + "}")
    while client.changes[id] == before || client.models[id]?.isComplete == false { try client.receive() }
    try client.catchUp([id])
    if isSameKind { #expect(client.change(id) == "patch", "\(id): \(query.json)") }
  }

  /// Closes the connection, lets something happen, and reconnects.
  private mutating func comeBack() throws {
    let models = client.models
    client = try live.connect()
    if pick([true, false]) { try live.writer.run(statements.commit()) }
    for (id, asked) in asked { try client.resume(id, asked.query.json, models[id]!, more: asked.more) }
  }

  /// The error in the rows that a client holds.
  func difference() throws -> String? {
    for (id, asked) in asked.sorted(by: { $0.key < $1.key }) {
      guard let model = client.models[id] else { return "\(id) has ended: \(client.line(id))" }
      let answer = try live.queue.read { try asked.query.answer($0) }
      if let difference = model.difference(from: answer) {
        return "\(id): \(difference), \(asked.query.json) \(String(describing: model.window))"
      }
      if model.window?.limit != asked.limit { return "\(id): window \(String(describing: model.window)) not \(asked)" }
    }
    return nil
  }
}

/// A query that replaces a slightly different one.
@Suite struct RequeryTests {
  @Test(arguments: [
    (#"{"from":"t","orderBy":["a"]}"#, #"{"from":"t","orderBy":["a DESC"]}"#, "-0 +0 >4 *0"),
    (#"{"from":"t","orderBy":["a"]}"#, #"{"from":"t","orderBy":["a"],"where":"id <> 3"}"#, "-1 +0 >0 *0"),
    (#"{"from":"t","where":"id <> 3"}"#, #"{"from":"t"}"#, "-0 +1 >0 *0"),
    (#"{"from":"t","orderBy":["b"]}"#, #"{"from":"t","orderBy":["b, a"]}"#, ""),
    (#"{"from":"t","limit":2}"#, #"{"from":"t","limit":4}"#, "-0 +2 >0 *0"),
    (#"{"from":"t","orderBy":["b"]}"#, #"{"from":"t","orderBy":["b","a"]}"#, "-0 +0 >0 *0"),
    (#"{"from":"t","orderBy":["a"]}"#, #"{"from":"t","orderBy":["abs(a - 3)","a"]}"#, "-0 +0 >2 *0"),
  ])
  func aPatchLeadsFromOneQueryToAnother(from: String, to: String, change: String) throws {
    let live = try LiveServer(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 5, 0);"
    )
    let client = try live.connect()
    try client.subscribe("q", from)
    try client.send("{\"type\":\"requery\",\"id\":\"q\",\"query\":\(to)}")
    if change.isEmpty {
      #expect(try client.receive("error")["code"] == .string("bad_query"))
    } else {
      let patch = try client.receive("patch")
      let counts = try ["deleted", "inserted", "moved", "updated"].map { try patch.list($0).count }
      #expect("-\(counts[0]) +\(counts[1]) >\(counts[2]) *\(counts[3])" == change)
    }
    let fresh = try live.connect()
    try fresh.subscribe("q", change.isEmpty ? from : to)
    #expect(client.line("q") == fresh.line("q"))
    live.stop()
  }
}

/// As above, over Server-Sent Events: a stream that ends and is resumed by `Last-Event-ID`.
@Suite struct LiveStreamTests {
  @Test func `A stream that is taken up again has what SQLite answers`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var statements = StatementGenerator(schema: LiveLibrary.schema, seed: seed)
    var generator = SeededGenerator(seed: seed)
    let live = try LiveServer(LiveLibrary.schema.sql)
    for _ in 0..<10 { try live.writer.run(statements.commit()) }
    var query = OracleQuery(
      table: "author", keys: ["author.id"], select: ["name", "country"], filter: nil, section: ("country", true),
      orderBy: ["name DESC"], limit: nil, window: nil)
    query.filter = "id <> 2"
    let json = query.json.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
    let target = "/v1/subscriptions?query=\(json)&offset=1&limit=4"
    var stream = try EventClient(port: live.server.port, target)
    try stream.load()
    for step in 0..<25 {
      if Bool.random(using: &generator) {
        let model = stream.model
        if Bool.random(using: &generator) { try live.writer.run(statements.commit()) }
        stream = try EventClient(
          port: live.server.port, target, headers: ["Last-Event-ID: \(stream.lastEventID)"], model: model)
        try stream.next()
      }
      let commit = statements.commit()
      try live.writer.run(commit)
      // Marks the end of this commit's changes for every client.
      try live.writer.run("INSERT OR REPLACE INTO author VALUES (1000, 'mark \(step)', 'zz', NULL)")
      let answer = try live.queue.read { try query.answer($0) }
      while stream.model.difference(from: answer) != nil, try stream.next() != nil {}
      #expect(stream.model.difference(from: answer) == nil, "seed \(seed), step \(step) after:\n\(commit)")
    }
    live.stop()
  }
}
