import CSQLite
import LiveQuery
import Testing

@testable import Store

/// SQLite's errors: those of clients, temporary ones, and lasting ones.
@Suite struct WriteFailureTests {
  @Test(
    arguments: [
      (SQLITE_READONLY, ErrorCode.readOnly), (SQLITE_PERM, .readOnly), (SQLITE_CANTOPEN, .overloaded),
      (SQLITE_BUSY, .overloaded), (SQLITE_LOCKED, .overloaded), (SQLITE_IOERR, .overloaded), (SQLITE_FULL, .overloaded),
      (SQLITE_READONLY | (4 << 8), .overloaded), (SQLITE_CONSTRAINT, .constraint), (SQLITE_AUTH, .notAllowed),
    ])
  func codesSayWhetherToTryAgain(code: Int32, expected: ErrorCode) {
    // Every transaction begins a budget, so a budget that another test on this thread has used up does not matter.
    let budget = Budget.beginQuery()
    defer { budget.end() }
    #expect(FreshetError(writeFailure: SQLiteFailure(of: nil, code)).code == expected)
  }
}
