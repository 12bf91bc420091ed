import GRDB
import ServerSupport
import Store
import TestSupport
import Testing

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
    let pragmas = statements.pragmas()
    let queries = try randomQueries(schema, &generator)
    let steps = (0..<Self.commits).flatMap { step -> [RunStep] in
      [.commit(step % 25 == 24 ? "VACUUM;" : statements.commit()), .compare]
    }
    let run = ListRun(
      .sockets, setUp: schema.sql + "\nPRAGMA journal_mode = WAL;", preparation: pragmas, expectsSilence: true, queries,
      steps: steps)
    let problem = try run.report("tables-\(schema)-\(seed)")
    #expect(problem == nil, "FRESHET_SEED=\(seed), \(schema)")
  }

  private func randomQueries(
    _ schema: RandomSchema, _ generator: inout SeededGenerator
  ) throws -> [OracleQuery] {
    let folder = try ProgramFolder(schema.sql)
    let queue = try DatabaseQueue(path: folder.database)
    let tables = try queue.read { try DatabaseSchema.read($0.sqliteConnection!) }.tables.filter { $0.key != nil }
    return (0..<8).map { _ in randomQuery(tables.randomElement(using: &generator)!, &generator) }
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
