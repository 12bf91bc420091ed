import CSQLite
import LiveQuery
import Testing

@testable import Store

/// Which of SQLite's errors are a client's, which may pass, and which stay.
@Suite struct WriteFailureTests {
  @Test(
    arguments: [
      (SQLITE_READONLY, ErrorCode.readOnly), (SQLITE_PERM, .readOnly), (SQLITE_CANTOPEN, .overloaded),
      (SQLITE_BUSY, .overloaded), (SQLITE_LOCKED, .overloaded), (SQLITE_IOERR, .overloaded), (SQLITE_FULL, .overloaded),
      (SQLITE_READONLY | (4 << 8), .overloaded), (SQLITE_CONSTRAINT, .constraint), (SQLITE_AUTH, .notAllowed),
    ])
  func codesSayWhetherToTryAgain(code: Int32, expected: ErrorCode) {
    // Every transaction begins one; what another test's on this thread ran out of is forgotten.
    let budget = Budget.beginQuery()
    defer { budget.end() }
    #expect(FreshetError(writeFailure: SQLiteFailure(of: nil, code)).code == expected)
  }
}
