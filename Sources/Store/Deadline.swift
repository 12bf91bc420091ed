import CSQLite
import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Gives up what runs too long or takes too much memory on a connection: its statement fails with `SQLITE_INTERRUPT`.
///
/// Owner: the thread that uses the connection. The limits are the thread's (`Budget`).
package final class Deadline {
  /// How many of the virtual machine's operations pass between two looks at the clock. One of them can take some
  /// milliseconds: what takes longer asks by itself.
  private static let interval: Int32 = 200

  package init(of connection: OpaquePointer) {
    sqlite3_progress_handler(connection, Self.interval, { _ in sqlite_budget_is_spent() }, nil)
  }

  /// Runs `body`, whose statements have so long altogether, and as much memory as a query may take.
  package func limited<Result, Failure: Error>(
    milliseconds: Int, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let budget = Budget.begin(nanoseconds: UInt64(milliseconds) &* 1_000_000)
    defer { budget.end() }
    return try body()
  }
}

/// Nanoseconds of a clock that never goes back.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
