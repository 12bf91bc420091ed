import CSQLite
package import Ground
import Synchronization

/// Bounds the statements of a connection: a statement that takes too much time or memory or too many steps, or that
/// another thread stops, fails with `SQLITE_INTERRUPT`.
///
/// Owner: the thread that uses the connection. This object must outlive the connection. Limits of time and memory
/// belong to the thread (`Budget`); mutable state here: the other bounds of the running statements.
package final class Deadline {
  /// How many more times the bounds may be checked; each check stands for `interval` steps.
  @exclusivity(unchecked) private var looks = Int.max
  /// As above, for statements outside of `limited`. Each end of `limited` resets `looks` to this.
  @exclusivity(unchecked) private var looksOutside = Int.max
  @exclusivity(unchecked) private var interruption: Interruption?
  @exclusivity(unchecked) private var isLimited = false
  /// When the thread last yielded its processor to others.
  @exclusivity(unchecked) private var yielded = Instant.distantPast
  private static let yieldInterval = Nanoseconds.microseconds(200)
  private let clock: MonotonicClock

  /// The number of steps of SQLite's virtual machine between two checks of the bounds. A step can take some
  /// milliseconds; functions that take longer check the bounds themselves.
  private static let interval: Int32 = 200

  package init(of connection: OpaquePointer, clock: MonotonicClock = .system) {
    self.clock = clock
    sqlite3_progress_handler(
      connection, Self.interval,
      { context in Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue().hasPassed() ? 1 : 0 },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Bounds statements outside of `limited` as well, for a thread that others wait for: a statement without a bound of
  /// its own then fails, instead of making them wait for ever.
  ///
  /// To be called at the start of each tick.
  ///
  /// - Parameter steps: the most steps of SQLite's virtual machine from now on, and again after each call of `limited`.
  package func boundOutside(steps: Int) {
    looksOutside = steps / Int(Self.interval)
    if !isLimited { looks = looksOutside }
  }

  private func hasPassed() -> Bool {
    looks -= 1
    if looks < 0 || sqlite_budget_is_spent() != 0 { return true }
    guard let interruption else { return false }
    let now = clock.now
    // Even a thread of lower priority would keep its processor for some milliseconds when another thread wakes.
    if now - yielded > Self.yieldInterval {
      sched_yield()
      yielded = now
    }
    return interruption.isDue(now)
  }

  /// Runs `body`, whose statements may take this much time altogether, and the memory of a query. In a nested call the
  /// bounds of both calls hold.
  ///
  /// - Parameters:
  ///   - steps: the most steps of SQLite's virtual machine, which do not depend on how busy the machine is.
  ///   - interruption: another reason to stop a statement.
  package func limited<Result, Failure: Error>(
    to time: Nanoseconds, steps: Int = .max, interruption: Interruption? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let budget = Budget.begin(time)
    let outer = (looks: looks, interruption: self.interruption, isLimited: isLimited)
    let given = steps == .max ? .max : steps / Int(Self.interval)
    looks = isLimited ? min(given, outer.looks) : given
    let start = looks
    self.interruption = interruption ?? outer.interruption
    isLimited = true
    defer {
      let used = start - looks
      looks = outer.isLimited ? (outer.looks == .max ? .max : outer.looks - used) : looksOutside
      (self.interruption, isLimited) = (outer.interruption, outer.isLimited)
      budget.end()
    }
    return try body()
  }
}

/// Lets another thread stop a statement.
package final class Interruption: Sendable {
  private let stops = Atomic<Bool>(false)
  /// From this time on the statement ends if others wait.
  private let givesWayAt: Instant
  /// The number of requests that wait for this thread.
  private let others: (@Sendable () -> Int)?
  private let gaveWay = Atomic<Bool>(false)
  private let share: ProcessorShare?
  private let starved = Atomic<Bool>(false)

  /// - Parameters:
  ///   - givesWayAt: an instant of the connection's clock, from which on the statement ends if others wait.
  ///   - others: returns the number of requests that wait for this thread.
  ///   - share: the processor time that the thread gets. The statement ends if it is too small. Nil if that does not
  ///     matter.
  package init(
    givesWayAt: Instant = .distantFuture, others: (@Sendable () -> Int)? = nil, share: ProcessorShare? = nil
  ) {
    self.givesWayAt = givesWayAt
    self.others = others
    self.share = share
  }

  /// Makes the statement fail. Any thread.
  package func stop() { stops.store(true, ordering: .relaxed) }

  package var isStopped: Bool { stops.load(ordering: .relaxed) }

  /// Whether the statement ended because others waited.
  package var hasGivenWay: Bool { gaveWay.load(ordering: .relaxed) }

  /// Whether the statement ended for a reason that has it run again, later or on another thread.
  package var isPostponed: Bool { hasGivenWay || hasStarved }

  /// Whether the statement ended because its thread got too little processor time.
  package var hasStarved: Bool { starved.load(ordering: .relaxed) }

  fileprivate func isDue(_ now: Instant) -> Bool {
    if isStopped { return true }
    if let share, share.isTooSmall(now) {
      starved.store(true, ordering: .relaxed)
      return true
    }
    guard now > givesWayAt, let others, others() > 0 else { return false }
    gaveWay.store(true, ordering: .relaxed)
    return true
  }
}
