import ServerSupport
import TestSupport
import Testing

/// Lists as users make them over the files of known applications, while writes come as from the applications. At quiet
/// points each list equals SQLite's own answer, and the self-check finds nothing to repair.
///
/// `FRESHET_SEED=n swift test --filter ApplicationListsTests` repeats a failure; in `make test-long` there are 100,000
/// lists.
@Suite(.serialized) struct ApplicationListsTests {
  private static let lists = 10

  private static let numbers: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    // Neighbouring numbers are different applications.
    let first = UInt64.random(in: 0..<1 << 40) * UInt64(ApplicationSchema.all.count)
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(10, long: 10_000)))).map { first + $0 }
  }()

  @Test(arguments: numbers)
  func listsAgreeWithSQLite(number: UInt64) throws {
    let application = ApplicationSchema.all[Int(number % UInt64(ApplicationSchema.all.count))]
    var generator = ApplicationGenerator(application, seed: number)
    let run = generator.run(lists: Self.lists, transactions: 30)
    let problem = try run.report("application-\(number)")
    #expect(problem == nil, "FRESHET_SEED=\(number), \(application.name)")
  }
}

/// Composes lists over an application's tables, and its transactions.
private struct ApplicationGenerator {
  private let application: ApplicationSchema
  private let seed: UInt64
  private var random: SeededGenerator
  private var statements: StatementGenerator

  init(_ application: ApplicationSchema, seed: UInt64) {
    self.application = application
    self.seed = seed
    random = SeededGenerator(seed: seed)
    statements = StatementGenerator(schema: application.schema, seed: seed &+ 1)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  private mutating func number() -> String { "\(Int.random(in: 0..<30, using: &random))" }

  private func plain(_ column: String) -> String {
    column.firstRange(of: " AS ").map { String(column[..<$0.lowerBound]) } ?? column
  }

  // MARK: - Lists

  mutating func query() -> OracleQuery {
    let (from, keys, columns) = pick(application.sources)
    let all = (keys + columns).map(plain)
    // A join without ON, by a condition in WHERE.
    let joined = from.contains(", ") ? "\(pick(all)) = \(pick(all))" : nil
    let conditions = [joined, chance(55) ? condition(all) : nil, chance(20) ? condition(all) : nil].compactMap(\.self)
    let filter = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    if chance(35) { return grouped(from, columns, filter) }
    var query = OracleQuery(
      table: from, keys: keys, select: columns.filter { !keys.contains($0) }, filter: filter, orderBy: [],
      limit: chance(15) ? 5 : nil, window: pick([nil, nil, (0, 4), (2, 3)]), tellsKey: true)
    if chance(20) { query.select.append("\(subquery(all, pick(["count(*)", "max(_x.rowid)"]))) AS sub") }
    for _ in 0..<pick([0, 1, 1, 2]) {
      query.orderBy.append(pick(all) + pick(["", " DESC", " COLLATE NOCASE", " NULLS LAST"]))
    }
    if chance(35) {
      query.section = (pick([pick(all), "substr(\(pick(all)), 1, 1)", "\(pick(all)) IS NULL"]), chance(50))
    }
    if query.limit == nil, chance(30) {
      query.totals = ["n": "count(*)", "m": "max(length(\(pick(all))))", "s": "sum(length(\(pick(all))))"]
    }
    if chance(15) {
      let (other, _, otherColumns) = pick(application.sources.filter { !$0.from.contains(", ") })
      query.alongside["a"] = "SELECT \(pick(["count(*)", "max(length(\(plain(otherColumns[0]))))"])) FROM \(other)"
    }
    return query
  }

  private mutating func grouped(_ from: String, _ columns: [String], _ filter: String?) -> OracleQuery {
    let group = plain(pick(columns))
    let value = plain(pick(columns))
    var query = OracleQuery(
      table: from, keys: ["\(pick([group, group, "typeof(\(group))"])) AS g"], select: ["count(*) AS n"],
      filter: filter,
      orderBy: chance(50) ? ["n DESC"] : [], tellsKey: true)
    query.groupBy = [plain(query.keys[0])]
    // Under NOCASE, SQLite's plan determines which of two spellings a group shows.
    if ["title", "sort", "name", "format"].contains(where: { query.groupBy[0].hasSuffix($0) }) {
      (query.groupBy, query.keys) = (["length(\(group))"], ["length(\(group)) AS g"])
    }
    query.select += [
      "count(\(value)) AS a", "max(length(\(value))) AS b", "count(DISTINCT typeof(\(value))) AS c",
    ].filter { _ in chance(40) }
    if chance(25) { query.having = pick(["count(*) > 1", "max(length(\(value))) < 4"]) }
    return query
  }

  private mutating func condition(_ columns: [String]) -> String {
    let column = pick(columns)
    return pick([
      "\(column) IS NOT NULL", "\(column) > \(number())", "\(column) BETWEEN 1 AND \(number())", "\(column) LIKE '%a%'",
      "\(column) IN (1, 2, 'a', \(number()))", "\(column) <> \(pick(columns))", "typeof(\(column)) = 'text'",
      "EXISTS \(subquery(columns))", "NOT EXISTS \(subquery(columns))", "\(column) NOT IN \(values(columns))",
      "\(column) IN \(values(columns))", "(\(column) > 3 OR \(pick(columns)) IS NULL)",
    ])
  }

  private mutating func subquery(_ columns: [String], _ value: String = "1") -> String {
    let (table, inner) = pick(application.schema.tables)
    return
      "(SELECT \(value) FROM \(table) _x WHERE _x.\(pick(inner)) \(pick(["=", "=", "IS", ">"])) \(pick(columns)))"
  }

  private mutating func values(_ columns: [String]) -> String {
    let (table, inner) = pick(application.schema.tables)
    let end = chance(60) ? " WHERE _x.\(pick(inner)) = \(pick(columns))" : ""
    return "(SELECT _x.\(pick(inner)) FROM \(table) _x\(end))"
  }

  // MARK: - Transactions

  private mutating func burst() -> String {
    var text = ""
    for character in pick(application.bursts) { text += character == "#" ? number() : String(character) }
    return text.split(separator: ";").map { "\($0);" }.joined(separator: "\n")
  }

  private mutating func transaction() -> String {
    if chance(3) { return "PRAGMA wal_checkpoint(\(pick(["PASSIVE", "TRUNCATE"])));" }
    if chance(2) { return "VACUUM;" }
    if chance(45) { return statements.commit() }
    return (["BEGIN;"] + (0..<pick([1, 1, 2, 4])).map { _ in burst() } + ["COMMIT;"]).joined(separator: "\n")
  }

  mutating func run(lists: Int, transactions: Int) -> ListRun {
    let queries = (0..<lists).map { _ in query() }
    var steps: [RunStep] = []
    for index in 0..<transactions {
      steps.append(.commit(transaction()))
      steps += pick([[.step], [.tick], [.tick], [.readers], []])
      if chance(50) || index == transactions - 1 { steps.append(.compare) }
    }
    return ListRun(
      .stepped, setUp: "PRAGMA journal_mode = wal;\n\(application.schema.sql)",
      preparation: "PRAGMA foreign_keys = \(seed % 2 == 0 ? "ON" : "OFF"); PRAGMA recursive_triggers = OFF;", queries,
      steps: steps)
  }
}
