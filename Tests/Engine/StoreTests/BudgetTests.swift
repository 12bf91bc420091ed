import CSQLite
import Foundation
import Ground
import LiveQuery
import Testing

@testable import Store

/// Memory and time that SQLite may use on a thread.
@Suite struct BudgetTests {
  private func withConnection(_ body: (OpaquePointer) throws -> Void) throws {
    ConnectionLimits.prepare()
    var handle: OpaquePointer?
    sqlite3_open(":memory:", &handle)
    let connection = try #require(handle)
    defer { sqlite3_close(connection) }
    let deadline = Deadline(of: connection)
    try body(connection)
    withExtendedLifetime(deadline) {}
  }

  private func code(_ connection: OpaquePointer, _ sql: String) -> ErrorCode? {
    do throws(SQLiteFailure) {
      try PreparedStatement.run(connection, sql)
      return nil
    } catch { return FreshetError(queryFailure: error, place: nil).code }
  }

  private static let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000)"

  @Test func memoryThatIsUsedUpIsTooLarge() throws {
    try withConnection { connection in
      let before = sqlite_budget_begin(8 << 20, .max, .max, 0)
      #expect(
        code(connection, "\(Self.rows) SELECT count(*) FROM (SELECT i FROM n GROUP BY i || 'abcdefgh')") == .tooLarge)
      sqlite_budget_restore(before)
      #expect(code(connection, "SELECT 1") == nil)
    }
  }

  @Test func timeThatIsUsedUpIsATimeout() throws {
    try withConnection { connection in
      let before = sqlite_budget_begin(.max, 0, .max, 0)
      #expect(code(connection, "\(Self.rows) SELECT max(i) FROM n") == .timeout)
      sqlite_budget_restore(before)
      #expect(code(connection, "SELECT 1") == nil)
    }
  }

  @Test func boundsNestAndWhatIsOutsideHasOneToo() throws {
    ConnectionLimits.prepare()
    var handle: OpaquePointer?
    sqlite3_open(":memory:", &handle)
    let connection = try #require(handle)
    defer { sqlite3_close(connection) }
    let deadline = Deadline(of: connection)
    func count(_ rows: Int) -> ErrorCode? {
      code(
        connection, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(rows)) SELECT max(i) FROM n"
      )
    }
    let hour = Nanoseconds.milliseconds(3_600_000)
    deadline.limited(to: hour, steps: 100_000) {
      deadline.limited(to: hour) { #expect(count(50_000) != nil) }
      // The steps of the inner budget count.
      #expect(count(50_000) != nil)
    }
    #expect(count(50_000) == nil)
    deadline.limited(to: hour) {
      deadline.limited(to: hour, steps: 100_000) { #expect(count(50_000) != nil) }
      #expect(count(50_000) == nil)
    }
    deadline.boundOutside(steps: 100_000)
    #expect(count(50_000) != nil)
    deadline.limited(to: hour) { #expect(count(50_000) == nil) }
    #expect(count(1_000) == nil && count(50_000) != nil)
    withExtendedLifetime(deadline) {}
  }

  /// A thread frees more than it allocates when it closes connections that other threads have used.
  @Test func aThreadThatFreesMoreThanItAllocatesIsNotRefused() async throws {
    final class Memory: @unchecked Sendable { let start = sqlite3_malloc64(8 << 20) }
    let memory = Memory()
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread {
        done.resume(
          with: Result {
            sqlite3_free(memory.start)
            try withConnection { connection in
              let before = sqlite_budget_begin(.max, 1_000_000_000_000, .max, 1)
              #expect(code(connection, "SELECT 1") == nil)
              sqlite_budget_restore(before)
            }
          })
      }
    }
  }

  @Test func anInnerBudgetHasNoMoreThanTheOuter() throws {
    try withConnection { connection in
      let before = sqlite_budget_begin(.max, 0, .max, 0)
      let outer = sqlite_budget_begin(.max, .max, .max, 0)
      #expect(code(connection, "\(Self.rows) SELECT max(i) FROM n") == .timeout)
      sqlite_budget_restore(outer)
      sqlite_budget_restore(before)
      #expect(sqlite_budget_is_spent() == 0)
    }
  }

  @Test func compilingStopsInAllocations() throws {
    try withConnection { connection in
      let values = (0..<20_000).map { "(\($0))" }.joined(separator: ", ")
      let before = sqlite_budget_begin(1 << 20, .max, .max, 1)
      #expect(code(connection, "VALUES \(values)") == .tooLarge)
      sqlite_budget_restore(before)
      #expect(code(connection, "VALUES \(values)") == nil)
    }
  }

  /// SQLite checks the clock between steps of its bytecode machine; a sort is a single step.
  @Test func whatIsSortedIsSortedInPieces() throws {
    try withConnection { connection in
      let before = sqlite_budget_begin(.max, 3_600_000_000_000, .max, 0)
      defer { sqlite_budget_restore(before) }
      let statement = try PreparedStatement(
        connection, "\(Self.rows) SELECT i || 'abcdefghijklmnopqrstuvwxyz' AS s FROM n WHERE i < 300000 ORDER BY s")
      var last = ""
      var count = 0
      sqlite3_memory_highwater(1)
      while try statement.step() {
        let text = statement.text(0) ?? ""
        #expect(last < text)
        last = text
        count += 1
      }
      #expect(count == 299_999)
    }
  }

  @Test(arguments: [
    (0, 0, [], false, 24 << 20), (64, 256, ["instr"], false, 24 << 20), (128, 0, [], false, 12 << 20),
    (0, 1_024, [], false, 6 << 20), (1, 1, ["json_extract"], false, 2 << 20), (1, 1, ["->>"], false, 2 << 20),
    (1, 1, ["json"], true, 256 << 10),
  ])
  func aStatementThatCouldDoMoreHasShorterValues(
    calls: Int, columns: Int, functions: [String], isCostly: Bool, expected: Int
  ) throws {
    var weight = StatementWeight()
    for index in 0..<calls { try weight.addCall(of: index < functions.count ? functions[index] : "abs") }
    for _ in 0..<columns { try weight.addColumn(of: "t") }
    weight.isCostly = isCostly
    #expect(Int(weight.longestValue) == expected)
  }

  @Test(arguments: [
    ("a LIKE 'ab%'", "a LIKE 'ab%'", false), ("a LIKE 'ab'", "a LIKE 'ab'", false),
    ("a like '%b'", "a REGEXP '%b'", false), ("a LIKE 'a_%'", "a REGEXP 'a_%'", false),
    ("a LIKE 'a%' ESCAPE 'x'", "a REGEXP 'a%' ESCAPE 'x'", false), ("a LIKE 'a%' || b", "a REGEXP 'a%' || b", false),
    ("a NOT LIKE ?", "a NOT REGEXP ?", false), ("like('a%', b)", "REGEXP('a%', b)", false),
    ("\"like\"('a%', b)", "REGEXP('a%', b)", false), ("t.\"like\" = 1", "t.\"like\" = 1", false),
    ("a GLOB 'ab*'", "a GLOB 'ab*'", false), ("a GLOB '*b'", "a GLOB '*b'", true), ("a GLOB b", "a GLOB b", true),
    ("[glob]('a', b)", "[glob]('a', b)", true), ("strftime('%Y', a)", "strftime('%Y', a)", false),
    ("strftime(a, b)", "strftime(a, b)", true), ("'x LIKE y'", "'x LIKE y'", false),
  ])
  func patternsBecomeWhatIsBounded(sql: String, expected: String, isCostly: Bool) throws {
    let statement = try WriteStatement("SELECT \(sql)", place: "statement")
    #expect(statement.sql == "SELECT \(expected)")
    #expect(statement.isCostly == isCostly)
  }

  @Test(arguments: ["a REGEXP 'b'", "regexp('a', b)", "\"regexp\"('a', b)"]) func nobodyElseCallsIt(sql: String) throws
  {
    #expect(throws: FreshetError.self) { try WriteStatement("SELECT \(sql)", place: "statement") }
  }
}
