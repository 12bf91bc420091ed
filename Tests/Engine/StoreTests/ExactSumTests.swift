import GRDB
import TestSupport
import Testing

@testable import Store

/// Sums that are rounded once, whatever the order.
@Suite struct ExactSumTests {
  private static func sum(_ values: [Double]) -> ExactSum {
    var sum = ExactSum()
    for value in values { sum.add(value, sign: 1) }
    return sum
  }

  private static let cases: [([Double], Double)] = [
    ([0.1, 0.2, 0.3], 0.6), ([1e308, 1e308, -1e308], 1e308), ([1e308, 1e308], Double.infinity),
    ([1.0, 1e100, 1.0, -1e100], 2.0), ([0x1p53, 1.0, 0x1p-1074], 9_007_199_254_740_994.0),
    ([0x1p53, 1.0], 0x1p53), ([9_007_199_254_740_994.0, 1.0], 9_007_199_254_740_996.0),
    ([-0x1p53, -1.0, -0x1p-1074], -9_007_199_254_740_994.0), ([0x1p-1074, 0x1p-1074], 0x1p-1073),
    ([Double.infinity, 1.0], Double.infinity), ([-Double.infinity, 1.0], -Double.infinity),
    ([0x1p1023, -0x1p1023], 0.0),
  ]

  @Test(arguments: cases)
  func isRoundedOnce(values: [Double], expected: Double) {
    #expect(Self.sum(values).total == expected)
    #expect(Self.sum(values.reversed()).total == expected)
  }

  @Test func infinityLessInfinityIsNull() { #expect(Self.sum([.infinity, -.infinity]).total == nil) }

  @Test func quotientsAreRoundedOnce() {
    #expect(Self.sum([0.1, 0.2, 0.3]).average == 0.2)
    #expect(Self.sum([1, 0x1p-1074]).average == 0.5)
    // Half of the smallest number is rounded to even: to zero.
    #expect(Self.sum([0x1p-1074, 0]).average == 0)
    #expect(Self.sum([0x1p-1073, 0x1p-1074]).average == 0x1p-1073)
    #expect(Self.sum([1e308, 1e308]).average == 1e308)
    #expect(Self.sum([-10, 0, 0.5]).average == -9.5 / 3)
  }

  @Test func integersOverflowAsSQLiteSays() {
    var sum = ExactSum()
    sum.add(Int64.max, sign: 1)
    #expect(sum.sum == .integer(.max))
    sum.add(Int64(1), sign: 1)
    #expect(sum.sum == .overflow && sum.average == 0x1p62)
    sum.add(0.5, sign: 1)
    #expect(sum.sum == .real(0x1p63))
    sum.add(0.5, sign: -1)
    sum.add(Int64(1), sign: -1)
    #expect(sum.sum == .integer(.max))
  }

  /// The numbers are so close in size that an 80-bit number holds their sum exactly.
  @Test func agreesWithLongerNumbers() {
    var random = SeededGenerator(seed: PropertySeeds.repeated ?? UInt64.random(in: 0..<1 << 40))
    for _ in 0..<2_000 {
      let exponent = Int.random(in: -1_000..<900, using: &random)
      let values = (0..<Int.random(in: 1..<40, using: &random)).map { _ in
        Double(sign: .plus, exponent: exponent, significand: Double(Int.random(in: -1 << 55..<1 << 55, using: &random)))
      }
      #if arch(x86_64)
        let long = values.reduce(Float80(0)) { $0 + Float80($1) }
        #expect(Self.sum(values).total == Double(long))
      #endif
      #expect(Self.sum(values).total == Self.sum(values.shuffled(using: &random)).total)
    }
  }

  @Test func whatIsTakenOutLeavesNothing() {
    var random = SeededGenerator(seed: 1)
    var sum = Self.sum([0.1])
    let values = (0..<300).map { _ in
      Double(
        sign: Bool.random(using: &random) ? .plus : .minus, exponent: .random(in: -1_074..<1_000, using: &random),
        significand: 1.7)
    }
    for value in values { sum.add(value, sign: 1) }
    for value in values.shuffled(using: &random) { sum.add(value, sign: -1) }
    #expect(sum.sum == .real(0.1))
  }

  /// The function in queries: with windows, filters and groups, and over values that are not numbers.
  @Test func replacesSQLitesOwn() throws {
    let queue = try DatabaseQueue()
    try queue.write { db in
      try db.execute(
        sql:
          "CREATE TABLE t(g, x); INSERT INTO t VALUES (1, 0.1), (1, 0.2), (1, 0.3), (2, '3'), (2, 'a'), (2, x'31'), (3, NULL)"
      )
      let sql = """
        SELECT g, sum(x), total(x), avg(x), sum(x) FILTER (WHERE x > 0.1), (SELECT group_concat(typeof(x)) FROM t) FROM t GROUP BY g
        """
      let before = try Row.fetchAll(db, sql: sql)
      #expect(AggregateFunctions.install(on: db.sqliteConnection!) == 0)
      let after = try Row.fetchAll(db, sql: sql)
      #expect(before[1] == after[1] && before[2] == after[2])
      #expect(after[0][1] == 0.6 && after[0][3] == 0.2 && after[0][4] == 0.5)
      let window = "SELECT sum(x) OVER (ORDER BY rowid ROWS 1 PRECEDING) FROM t WHERE g = 1"
      #expect(try Double.fetchAll(db, sql: window) == [0.1, 0.30000000000000004, 0.5])
      #expect(throws: DatabaseError.self) {
        try Row.fetchOne(db, sql: "SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)")
      }
      #expect(try Int64.fetchOne(db, sql: "SELECT sum(x) FROM (SELECT 9223372036854775807 AS x)") == .max)
    }
  }
}
