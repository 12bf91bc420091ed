import GRDBSQLite
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Bounds what statements on a connection may take: one that goes beyond fails with `SQLITE_INTERRUPT`.
///
/// Owner: the thread that uses the connection, until which is closed this has to live. Mutable state: the bounds of what runs at
/// present.
package final class Deadline {
  /// When the statement that runs is given up; `.max` for never.
  private var nanoseconds: UInt64 = .max
  /// How many more looks at the bounds it may take.
  private var looks = Int.max
  private var interruption: Interruption?
  /// Whether the last statement that was given up had taken too many steps, and not too long.
  package private(set) var isOutOfSteps = false

  /// How many of the virtual machine's steps pass between two looks at the bounds: with values of 64 MB, one step can take
  /// milliseconds.
  private static let interval: Int32 = 200

  package init(of connection: OpaquePointer) {
    sqlite3_progress_handler(
      connection, Self.interval,
      { context in Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue().hasPassed() ? 1 : 0 },
      Unmanaged.passUnretained(self).toOpaque())
  }

  private func hasPassed() -> Bool {
    looks -= 1
    if looks < 0 {
      isOutOfSteps = true
      return true
    }
    let now = monotonicNanoseconds()
    return now > nanoseconds || interruption?.isDue(now) == true
  }

  /// Runs `body`, whose statements have so long altogether.
  ///
  /// - Parameters:
  ///   - steps: of SQLite's virtual machine, which do not depend on how busy the machine is.
  ///   - interruption: another reason for giving up.
  package func limited<Result, Failure: Error>(
    milliseconds: Int, steps: Int = .max, interruption: Interruption? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    nanoseconds = monotonicNanoseconds() &+ UInt64(milliseconds) &* 1_000_000
    looks = steps == .max ? .max : steps / Int(Self.interval)
    self.interruption = interruption
    isOutOfSteps = false
    defer {
      nanoseconds = .max
      looks = .max
      self.interruption = nil
    }
    return try body()
  }
}

/// How another thread stops a statement.
package final class Interruption: Sendable {
  private let stops = Atomic<Bool>(false)
  /// From when on it gives way to others.
  private let givesWayAt: UInt64
  /// How many others wait.
  private let others: (@Sendable () -> Int)?
  private let gaveWay = Atomic<Bool>(false)

  /// - Parameters:
  ///   - givesWayAt: in nanoseconds of the monotonic clock.
  ///   - others: how many wait for this thread at present.
  package init(givesWayAt: UInt64 = .max, others: (@Sendable () -> Int)? = nil) {
    self.givesWayAt = givesWayAt
    self.others = others
  }

  /// Any thread.
  package func stop() { stops.store(true, ordering: .relaxed) }

  package var isStopped: Bool { stops.load(ordering: .relaxed) }

  /// Whether the statement ended because others waited.
  package var hasGivenWay: Bool { gaveWay.load(ordering: .relaxed) }

  fileprivate func isDue(_ now: UInt64) -> Bool {
    if isStopped { return true }
    guard now > givesWayAt, let others, others() > 0 else { return false }
    gaveWay.store(true, ordering: .relaxed)
    return true
  }
}

/// Nanoseconds of a clock that never goes back.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
