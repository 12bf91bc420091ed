import Following
import ServerSupport
import TestSupport
import Testing

/// TPC-H's queries as lists, through commits to all of its tables: inserted and deleted orders with their line items,
/// and changes of single rows.
///
/// `FRESHET_SEED=n swift test --filter TPCHTests` repeats a failure.
@Suite(.serialized) struct TPCHTests {
  private static let seeds: [UInt64] = {
    if let repeated = PropertySeeds.repeated { return [repeated] }
    return (0..<(PropertySeeds.count ?? UInt64(TestDepth.count(2, long: 100)))).map { _ in .random(in: 0..<1 << 40) }
  }()

  @Test(arguments: seeds)
  func listsAgreeWithSQLite(seed: UInt64) throws {
    var commits = TPCHCommits(seed: seed)
    let steps = (0..<40).flatMap { index -> [RunStep] in [.commit(commits.next(index)), .step, .compare] }
    let run = ListRun(
      .stepped, setUp: "PRAGMA journal_mode = WAL;\n\(TPCHLists.schema)\n\(TPCHLists.data)", TPCHLists.queries,
      steps: steps)
    #expect(try run.report("tpch-\(seed)") == nil, "FRESHET_SEED=\(seed)")
  }

  /// A query is kept if no change of a single table runs it again.
  @Test func `Which of them are kept`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL;\n\(TPCHLists.schema)\n\(TPCHLists.data)")
    var runAgain: Set<Int> = []
    for (index, query) in TPCHLists.queries.enumerated() {
      let lists = try SteppedLists(path: path, [query]) { $0.selfCheck = .off }
      // A second step is for queries that are kept by inner lists.
      lists.step()
      lists.step()
      let first = lists.runs
      for commit in TPCHCommits.oneOfEach {
        try lists.writer.run(commit)
        lists.step()
      }
      if lists.runs > first { runAgain.insert(index + 1) }
    }
    #expect(runAgain == TPCHLists.runAgain)
  }
}

/// Transactions of an application: the specification's refreshes, and changes of single rows of every table.
private struct TPCHCommits {
  private var random: SeededGenerator
  private var nextOrder = 60

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// A change of one row of each table.
  static let oneOfEach = [
    "UPDATE lineitem SET l_quantity = l_quantity + 9, l_extendedprice = l_extendedprice + 8 WHERE l_orderkey = 5",
    "UPDATE orders SET o_custkey = 3, o_orderstatus = 'F', o_comment = 'none' WHERE o_orderkey = 8",
    "UPDATE customer SET c_acctbal = c_acctbal + 16, c_nationkey = 1 WHERE c_custkey = 19",
    "UPDATE part SET p_brand = 'Brand#2', p_container = 'MED BOX', p_name = 'forest green' WHERE p_partkey = 4",
    "UPDATE partsupp SET ps_supplycost = ps_supplycost + 1, ps_availqty = 39 WHERE ps_partkey < 12",
    "UPDATE supplier SET s_nationkey = 0, s_comment = 'fine' WHERE s_suppkey = 5",
    "UPDATE nation SET n_name = 'GERMANY' WHERE n_nationkey = 4",
    "UPDATE region SET r_name = 'ASIA' WHERE r_regionkey = 0",
  ]

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func pick(_ texts: String...) -> String { texts.randomElement(using: &random)! }
  private mutating func date() -> String { "date('1995-01-10', '+\(number(0..<700)) days')" }

  private mutating func item(_ order: Int, _ line: Int) -> String {
    "(\(order), \(line), \(number(0..<24)), \(number(0..<8)), \(number(1..<30)), \(number(0..<100)), \(number(0..<4)) * 0.0625, 0.125, '\(pick("R", "A", "N"))', 'O', \(date()), \(date()), \(date()), 'DELIVER', '\(pick("MAIL", "SHIP", "AIR"))')"
  }

  private mutating func statement() -> String {
    let order = number(0..<nextOrder + 1)
    let column = pick("l_shipdate", "l_commitdate", "l_receiptdate")
    switch number(0..<18) {
    case 0, 1:
      defer { nextOrder += 1 }
      let items = (1...number(1..<4)).map { item(nextOrder, $0) }.joined(separator: ", ")
      return
        "INSERT INTO orders VALUES (\(nextOrder), \(number(0..<20)), '\(pick("F", "O"))', \(number(0..<90)), \(date()), '\(number(1..<6))-P', 0, '\(pick("none", "special requests"))'); INSERT INTO lineitem VALUES \(items)"
    case 2: return "DELETE FROM lineitem WHERE l_orderkey = \(order); DELETE FROM orders WHERE o_orderkey = \(order)"
    case 3: return "UPDATE lineitem SET l_quantity = \(number(1..<50)) WHERE l_orderkey = \(order) AND l_linenumber = 1"
    case 4: return "UPDATE lineitem SET \(column) = \(date()) WHERE l_orderkey = \(order)"
    case 5: return "UPDATE lineitem SET l_suppkey = \(number(0..<8)) WHERE l_orderkey = \(order) AND l_linenumber = 1"
    case 6: return "UPDATE lineitem SET l_extendedprice = \(number(0..<100)) WHERE l_partkey = \(number(0..<24))"
    case 7: return "UPDATE orders SET o_orderstatus = '\(pick("F", "O"))' WHERE o_orderkey = \(order)"
    case 8:
      return "UPDATE orders SET o_custkey = \(number(0..<20)), o_orderdate = \(date()) WHERE o_orderkey = \(order)"
    case 9: return "UPDATE customer SET c_acctbal = \(number(-8..<40)) WHERE c_custkey = \(number(0..<20))"
    case 10: return "UPDATE OR REPLACE customer SET c_custkey = \(number(0..<20)) WHERE c_custkey = \(number(0..<20))"
    case 11:
      return
        "UPDATE part SET p_brand = 'Brand#\(number(0..<3))', p_size = \(number(0..<4)) WHERE p_partkey = \(number(0..<24))"
    case 12: return "UPDATE partsupp SET ps_supplycost = \(number(0..<30)) WHERE ps_partkey = \(number(0..<24))"
    case 13: return "INSERT OR REPLACE INTO partsupp VALUES (\(number(0..<24)), \(number(0..<8)), \(number(0..<40)), 4)"
    case 14: return "UPDATE supplier SET s_nationkey = \(number(0..<6)) WHERE s_suppkey = \(number(0..<8))"
    case 15:
      return
        "UPDATE supplier SET s_comment = '\(pick("fine", "a Customer has Complaints"))' WHERE s_suppkey = \(number(0..<8))"
    case 16:
      return "UPDATE nation SET n_name = '\(pick("FRANCE", "GERMANY", "CANADA"))' WHERE n_nationkey = \(number(0..<6))"
    default: return "UPDATE nation SET n_regionkey = \(number(0..<3)) WHERE n_nationkey = \(number(0..<6))"
    }
  }

  mutating func next(_ index: Int) -> String {
    let count = index % 5 == 4 ? number(3..<8) : 1
    return "BEGIN; \((0..<count).map { _ in statement() }.joined(separator: "; ")); COMMIT;"
  }
}
