import Controllers
import Foundation
import GRDB
import Server
import ServerSupport
import Store
import TestSupport
import Testing
import Wire

/// Random commits by another process, followed by a client over a real socket; SQLite itself is the oracle:
/// `apply(patch, old) == fresh SELECT` after every commit, for random queries over every kind of table.
///
/// `FRESHET_SEED=n swift test --filter LivePropertyTests` repeats a failure. Seeds that failed once are in
/// `Fixtures/seeds.json`, and run first.
@Suite(.serialized) struct LivePropertyTests {
  private static let commits = 60

  @Test(arguments: PropertySeeds.kept("seeds.json"), RandomSchema.all)
  func clientsAgreeWithSQLite(seed: UInt64, schema: RandomSchema) throws {
    var statements = StatementGenerator(schema: schema, seed: seed)
    var generator = SeededGenerator(seed: seed &+ 1)
    let live = try LiveServer(schema.sql) { $0.selfCheck = .always }
    try live.writer.run(statements.pragmas())
    let queries = try randomQueries(live, schema, &generator)
    let client = try live.connect()
    for (id, query) in queries { try client.subscribe(id, query.json, window: query.window) }
    var answersBefore = try answers(live, queries)
    for step in 0..<Self.commits {
      let commit = step % 25 == 24 ? "VACUUM;" : statements.commit()
      let before = client.changes
      try live.writer.run(commit)
      try client.catchUp(queries.map(\.id))
      let answersAfter = try answers(live, queries)
      defer { answersBefore = answersAfter }
      for (id, query) in queries {
        let context =
          "FRESHET_SEED=\(seed), \(schema), \(query.json) \(String(describing: query.window)) after:\n\(commit)"
        let answer = answersAfter[id]!
        if client.ended[id] != nil {
          // It ended now, or could not be opened again after the commit before.
          let hadDuplicates = answer.hasDuplicates || answersBefore[id]!.hasDuplicates
          #expect(client.ended[id] == "duplicate_key" && hadDuplicates, "\(client.ended[id]!): \(context)")
          try client.subscribe(id, query.json, window: query.window)
          continue
        }
        #expect(!answer.hasDuplicates, "\(context)")
        let difference = client.models[id]?.difference(from: answer)
        #expect(difference == nil, "\(context)")
        if difference != nil || client.models[id] == nil { return }
        if answersBefore[id]!.rows == answer.rows, answersBefore[id]!.names == answer.names {
          #expect(client.changes[id] == before[id], "nothing changed, yet \(client.last[id]!) came: \(context)")
        }
      }
    }
    live.stop()
  }

  private func answers(
    _ live: LiveServer, _ queries: [(id: String, query: OracleQuery)]
  ) throws -> [String: OracleQuery.Answer] {
    try live.queue.read { db in
      var answers: [String: OracleQuery.Answer] = [:]
      for (id, query) in queries { answers[id] = try query.answer(db) }
      return answers
    }
  }

  private func randomQueries(
    _ live: LiveServer, _ schema: RandomSchema, _ generator: inout SeededGenerator
  ) throws -> [(id: String, query: OracleQuery)] {
    let tables = try live.queue.read { try DatabaseSchema.read($0) }.tables.filter { $0.key != nil }
    return (0..<8).map { index in
      let table = tables.randomElement(using: &generator)!
      return ("q\(index)", randomQuery(table, &generator))
    }
  }

  private func randomQuery(_ table: DatabaseSchema.Table, _ generator: inout SeededGenerator) -> OracleQuery {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    let column = { (generator: inout SeededGenerator) in table.columnNames.randomElement(using: &generator)! }
    let a = column(&generator)
    let b = column(&generator)
    let c = column(&generator)
    let sections: [(String, Bool)?] = [
      nil, (a, false), (a, true), ("typeof(\(b))", false), ("substr(\(a), 1, 1)", false),
      ("\(a) COLLATE NOCASE", false),
      ("\(b) COLLATE RTRIM", true), ("\(a) > 1", false),
    ]
    let orders = [
      "\(b)", "\(b) DESC", "\(c) COLLATE NOCASE", "\(c) COLLATE RTRIM DESC", "\(a) NULLS LAST", "\(b) DESC NULLS FIRST",
      "upper(\(c))", "\(a) + 1", "length(\(b)) DESC", "typeof(\(a))",
    ]
    let filters = [nil, nil, "\(a) IS NOT NULL", "\(b) > 1", "\(c) = 'a' COLLATE NOCASE", "typeof(\(b)) <> 'text'"]
    let selects = [
      table.columnNames, table.columnNames, ["upper(\(a)) AS u", "\(b)"], [], ["+\(c) AS c1", "\(a) || \(b) AS ab"],
    ]
    var query = OracleQuery(
      table: table.name, keys: table.key?.names ?? [], select: pick(selects), filter: pick(filters), section: nil,
      orderBy: [], limit: pick([nil, nil, nil, 1, 3, 7]), window: pick([nil, nil, (0, 2), (1, 3), (4, 5), (0, 0)]))
    if let section = pick(sections) { query.section = (section.0, section.1) }
    query.orderBy = (0..<Int.random(in: 0...2, using: &generator)).map { _ in pick(orders) }
    if query.select.isEmpty { query.select = table.columnNames }
    return query
  }
}

extension OracleQuery.Answer {
  var names: [String] { sections.map { "\($0.name) \($0.count)" } }
}
