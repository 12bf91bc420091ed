import GRDBSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Gives up what runs too long on a connection: its statement fails with `SQLITE_INTERRUPT`.
///
/// Owner: the thread that uses the connection, until which is closed this has to live.
package final class Deadline {
  /// When the statement that runs is to be given up; `.max` for never.
  private var nanoseconds: UInt64 = .max

  /// How many of the virtual machine's operations pass between two looks at the clock: at 64 MB a value, one of them can
  /// take milliseconds.
  private static let interval: Int32 = 200

  package init(of connection: OpaquePointer) {
    sqlite3_progress_handler(
      connection, Self.interval,
      { context in
        let deadline = Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue()
        return monotonicNanoseconds() > deadline.nanoseconds ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs `body`, whose statements have so long altogether.
  package func limited<Result, Failure: Error>(
    milliseconds: Int, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    nanoseconds = monotonicNanoseconds() &+ UInt64(milliseconds) &* 1_000_000
    defer { nanoseconds = .max }
    return try body()
  }
}

/// Nanoseconds of a clock that never goes back.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
