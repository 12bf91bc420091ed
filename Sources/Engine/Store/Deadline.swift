import CSQLite
package import Ground
import Synchronization

/// Bounds what runs on a connection: a statement that takes too long, too much memory or too many steps, or that
/// another thread stops, fails with `SQLITE_INTERRUPT`.
///
/// Owner: the thread that uses the connection, until which is closed this has to live. Time and memory are the thread's
/// (`Budget`); mutable state here: the other bounds of what runs at present.
package final class Deadline {
  /// How often the bounds may still be checked.
  @exclusivity(unchecked) private var looks = Int.max
  /// As above, for code outside of `limited`, between two calls of it.
  @exclusivity(unchecked) private var looksOutside = Int.max
  @exclusivity(unchecked) private var interruption: Interruption?
  @exclusivity(unchecked) private var isLimited = false
  /// When the thread last let others run.
  @exclusivity(unchecked) private var yielded = Instant.distantPast
  private static let yieldInterval = Nanoseconds.microseconds(200)
  private let clock: MonotonicClock

  /// How many of the virtual machine's steps pass between two checks of the bounds. A step can take some milliseconds;
  /// functions that take longer check by themselves.
  private static let interval: Int32 = 200

  package init(of connection: OpaquePointer, clock: MonotonicClock = .system) {
    self.clock = clock
    sqlite3_progress_handler(
      connection, Self.interval,
      { context in Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue().hasPassed() ? 1 : 0 },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Bounds what runs outside of `limited` as well, for a thread on which others wait: a statement without a bound of
  /// its own then fails instead of stopping them all.
  ///
  /// To be called at the begin of each tick.
  ///
  /// - Parameter steps: of SQLite's virtual machine, from now on and from the end of each call of `limited` on.
  package func boundOutside(steps: Int) {
    looksOutside = steps / Int(Self.interval)
    if !isLimited { looks = looksOutside }
  }

  private func hasPassed() -> Bool {
    looks -= 1
    if looks < 0 || sqlite_budget_is_spent() != 0 { return true }
    guard let interruption else { return false }
    let now = clock.now
    // A thread of lower priority still keeps a processor for some milliseconds from one that has just woken.
    if now - yielded > Self.yieldInterval {
      sched_yield()
      yielded = now
    }
    return interruption.isDue(now)
  }

  /// Runs `body`, whose statements have so long altogether, and as much memory as a query may take. Within another call
  /// both bounds hold.
  ///
  /// - Parameters:
  ///   - steps: of SQLite's virtual machine, which do not depend on how busy the machine is.
  ///   - interruption: another reason for giving up.
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

/// How another thread stops a statement.
package final class Interruption: Sendable {
  private let stops = Atomic<Bool>(false)
  /// From when on it gives way to others.
  private let givesWayAt: Instant
  /// The number of waiting requests of others.
  private let others: (@Sendable () -> Int)?
  private let gaveWay = Atomic<Bool>(false)
  private let share: ProcessorShare?
  private let starved = Atomic<Bool>(false)

  /// - Parameters:
  ///   - givesWayAt: of the clock of the connection that it stops.
  ///   - others: how many wait for this thread at present.
  ///   - share: what the thread gets of a processor; nil: it may get any share.
  package init(
    givesWayAt: Instant = .distantFuture, others: (@Sendable () -> Int)? = nil, share: ProcessorShare? = nil
  ) {
    self.givesWayAt = givesWayAt
    self.others = others
    self.share = share
  }

  /// Any thread.
  package func stop() { stops.store(true, ordering: .relaxed) }

  package var isStopped: Bool { stops.load(ordering: .relaxed) }

  /// Whether the statement ended because others waited.
  package var hasGivenWay: Bool { gaveWay.load(ordering: .relaxed) }

  /// Whether the statement ended so that it is run again later, or on another thread.
  package var isPostponed: Bool { hasGivenWay || hasStarved }

  /// Whether the statement ended because its thread got too little of a processor.
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
