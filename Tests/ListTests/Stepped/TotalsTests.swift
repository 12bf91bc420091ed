import ServerSupport
import TestSupport
import Testing
import Wire

/// Totals of lists and of their sections, through random commits of another process: each total of a client that
/// applies patches equals a fresh SELECT.
///
/// `FRESHET_SEED=n swift test --filter TotalsTests` repeats a failure.
@Suite struct TotalsTests {
  private static let schema = """
    CREATE TABLE well(id INTEGER PRIMARY KEY, county TEXT COLLATE NOCASE, operator INT, depth REAL, cost INT, spudded TEXT);
    CREATE TABLE operator(id INTEGER PRIMARY KEY, name TEXT, rate INT);
    INSERT INTO operator VALUES (1, 'Acme', 2), (2, 'Zenith', 3), (3, NULL, NULL);
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO well SELECT i, char(65 + i % 5) || 'x', i % 4, i * 0.5, i * 7 % 13, date('2020-01-01', i || ' days') FROM n;
    """

  private static let queries = [
    OracleQuery(table: "well", keys: ["id"], select: ["county"], orderBy: [], totals: ["n": "count(*)"]),
    // The totaled column is neither selected nor sorted by.
    OracleQuery(
      table: "well", keys: ["id"], select: ["spudded"], filter: "cost > 2", section: ("county", false),
      orderBy: ["spudded"],
      totals: [
        "n": "count(*)", "cost": "sum(cost)", "deep": "count(*) FILTER (WHERE depth > 12)", "last": "max(spudded)",
        "share": "round(100.0 * sum(cost > 6) / count(*), 1)", "kinds": "count(DISTINCT operator)",
      ]),
    OracleQuery(
      table: "well", keys: ["id"], select: ["cost"], section: ("cost % 3", true), orderBy: ["cost DESC"],
      window: (4, 6),
      totals: ["least": "min(cost)", "most": "max(cost)", "mean": "avg(cost)"]),
    OracleQuery(
      table: "well", keys: ["id"], select: ["cost"], section: ("operator IS NULL", false), orderBy: [], window: (0, 0),
      totals: ["sum": "total(cost)"]),
    OracleQuery(
      table: "well LEFT JOIN operator ON operator.id = well.operator", keys: ["well.id AS id"], select: ["name"],
      section: ("operator.name", false), orderBy: ["well.county"], tellsKey: true,
      totals: ["charge": "sum(cost * rate)", "without": "sum(rate IS NULL)"]),
    // Any change of the inner table affects all rows.
    OracleQuery(
      table: "well", keys: ["id"], select: ["county"], section: ("county", true), orderBy: ["county COLLATE BINARY"],
      totals: ["dear": "sum(cost > (SELECT avg(rate) FROM operator))"]),
    // Run again after every change.
    OracleQuery(
      table: "(SELECT id, county, cost, row_number() OVER (ORDER BY cost, id) AS place FROM well)", keys: ["id"],
      select: ["place"], section: ("county COLLATE NOCASE", false), orderBy: ["place"], tellsKey: true,
      totals: ["places": "sum(place)"]),
  ]

  private static let seeds = PropertySeeds.repeated.map { [$0] } ?? (0..<4).map { _ in .random(in: 0..<1 << 40) }

  @Test(arguments: seeds) func `Totals are what a fresh SELECT gives`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func pick(_ texts: [String]) -> String { texts.randomElement(using: &random)! }
    func statement() -> String {
      let id = Int.random(in: 1...70, using: &random)
      let value = pick(["0", "1", "3", "NULL", "'x'", "7", "2.5", "-4"])
      return pick([
        "UPDATE well SET cost = \(value) WHERE id = \(id)", "UPDATE well SET depth = \(value) WHERE id = \(id)",
        "UPDATE well SET county = '\(pick(["ax", "AX", "Bx", "q", ""]))' WHERE id = \(id)",
        "UPDATE well SET operator = \(value) WHERE id % 9 = \(id % 9)", "DELETE FROM well WHERE id = \(id)",
        "REPLACE INTO well VALUES (\(id), '\(pick(["Ax", "new", "Cx"]))', \(id % 5), 1.5, \(value), '2021-02-03')",
        "UPDATE operator SET rate = \(value) WHERE id = \(id % 4)",
        "DELETE FROM well WHERE county = '\(pick(["Bx", "q"]))'",
        "UPDATE OR REPLACE well SET id = \(id + 1) WHERE id = \(id)",
        "UPDATE well SET spudded = spudded || 'x' WHERE id = \(id)",
        "DELETE FROM operator WHERE id = 3", "INSERT OR IGNORE INTO operator VALUES (3, 'Acme', 5)",
        "UPDATE well SET cost = cost + 1 WHERE county = 'Cx'",
      ])
    }
    var steps: [RunStep] = []
    for _ in 0..<TestDepth.count(60, long: 1_000) {
      let statements = (0..<Int.random(in: 1...3, using: &random)).map { _ in statement() }
      steps.append(.commit("BEGIN; " + statements.joined(separator: "; ") + "; COMMIT;"))
      steps.append([.step, .step, .tick, .readers].randomElement(using: &random)!)
      if Int.random(in: 0..<3, using: &random) > 0 { steps += [.step, .compare] }
    }
    let run = ListRun(
      .stepped, setUp: "PRAGMA journal_mode = WAL;\n" + Self.schema, Self.queries, steps: steps + [.step, .compare])
    let problem = try run.report("totals-\(seed)")
    #expect(problem == nil, "FRESHET_SEED=\(seed)")
  }
}
