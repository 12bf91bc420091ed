import ChangeCapture
import Following
import Ground
import Store

/// How a list relates to the file: which state it shows, and how and when it reaches the newest one.
///
/// ```
///    ┌── changed: units that can be looked up
///    │       │
///    └──► following ── changed otherwise, failed, outdated ──► stale ── began ──► running
///              ▲                                                 ▲                   │
///              │                                                 ├── cancelled ──────┤
///              │                                                 ├── failed ─────────┤
///              └────────────────────── caughtUp ─────────────────┴── joined ─────────┤
///              └──────────────────────────────────── joined, nothing missing ────────┘
/// ```
///
/// It uses no SQLite, threads or clock. `Lists` sends it events, and performs the actions that it returns.
package struct ListMachine {
  enum Phase {
    /// The list shows the last tick's state.
    case following
    /// The list shows an older state. Its query is run again at `due`; `distantFuture` if an event must come first.
    case stale(shown: CommitNumber, due: Instant)
    /// A reader is running the query.
    case running(Run)
  }

  /// A run on a reader's thread, in a state not older than the one at which it was requested.
  struct Run {
    /// The job's number.
    let id: UInt64
    /// The number of the state that the list shows during the run.
    fileprivate(set) var shown: CommitNumber
    /// The number of the last tick's state when the run was requested.
    let asked: Int64
    /// The number of ticks that had seen changes when the run was requested.
    let ticks: Int
    /// The state that the reader sees, once a tick has stopped there. From then on `missed` has all differences from
    /// it.
    fileprivate(set) var passed: StateName?
    fileprivate(set) var missed = Missed()
  }

  /// Changes during a run. Looking them up brings the run's result to the newest state.
  struct Missed {
    /// The changed units; nil if they are unknown or too many.
    var units: ConcernedUnits? = ConcernedUnits()
    var concernsAlongside = false

    var isNothing: Bool { units?.isEmpty == true && !concernsAlongside }

    mutating func add(_ more: ConcernedUnits?, alongside: Bool) {
      concernsAlongside = concernsAlongside || alongside
      guard let more, units != nil else {
        units = nil
        return
      }
      units!.add(more)
      if units!.count > ListMachine.missedLimit { units = nil }
    }
  }

  /// The most missed units. If there are more, the query is run again.
  static let missedLimit = 20_000
  /// After this many consecutive runs that could not be joined, a tick runs the query itself, so that no change is
  /// missed.
  package static let joinAttempts = 3

  /// Intervals set by the configuration and the query.
  struct Periods {
    /// The least time between two runs.
    let refetch: Nanoseconds
    /// The time between a failure and the retry.
    let retry: Nanoseconds
    /// The longest time between two runs; nil: unbounded.
    let refresh: Nanoseconds?
  }

  private(set) var phase: Phase
  /// Subscribers have been sent the error that keeps the list from being read.
  package private(set) var hasFailed = false
  /// The query does not compile in the present schema, and subscribers have been sent the error.
  package private(set) var awaitsSchema = false
  /// The list was found wrong, so the next run must not use its rows.
  private(set) var isDistrusted = false
  /// When the list lost its last client; nil if it has clients.
  private(set) var idleSince: Instant?
  /// The list answers requests that were made when at most this many ticks had seen changes.
  private var answeredTicks: Int
  /// Consecutive runs that could not be joined.
  private var failedJoins = 0
  private var lastRun: (end: Instant, duration: Nanoseconds)
  /// When `refreshEvery` requires another run; `distantFuture` if it does not.
  private var refreshDue = Instant.distantFuture
  private let periods: Periods

  /// A list whose first run has just ended.
  ///
  /// - Parameters:
  ///   - shown: the state that the list shows, if it is not the tick's.
  ///   - ticks: the number of ticks that had seen changes when the run was requested.
  init(shown: CommitNumber?, ticks: Int, duration: Nanoseconds, periods: Periods, now: Instant) {
    self.periods = periods
    phase = shown.map { .stale(shown: $0, due: .distantPast) } ?? .following
    answeredTicks = ticks
    // A run long ago is assumed, so that the first change runs the query at once.
    lastRun = (.distantPast, duration)
    scheduleRefresh(now)
  }

  // MARK: - State

  var isFollowing: Bool { if case .following = phase { true } else { false } }
  var isRunning: Bool { if case .running = phase { true } else { false } }

  /// The state that the list shows, if it is older than the last tick's.
  var shownBefore: CommitNumber? {
    switch phase {
    case .following: nil
    case .stale(let shown, _): shown
    case .running(let run): run.shown
    }
  }

  /// Whether the list shows a state not older than a request.
  ///
  /// - Parameter ticks: the number of ticks that had seen changes when the request was made.
  package func answers(askedAt ticks: Int) -> Bool { isFollowing || ticks <= answeredTicks }

  /// When the list needs attention; nil if it waits for a reader's result.
  var due: Instant? {
    switch phase {
    case .following: refreshDue == .distantFuture ? nil : refreshDue
    case .stale(_, let due): min(due, refreshDue)
    case .running: nil
    }
  }

  /// The earliest time of the next run. Runs take at most half of the time, and keep the least interval between them.
  private var nextRun: Instant { lastRun.end + max(periods.refetch, lastRun.duration) }

  /// Changes the phase. No other function does.
  private mutating func enter(_ next: Phase) { phase = next }

  // MARK: - The file changes

  /// Called when a change concerns the list.
  ///
  /// - Parameters:
  ///   - units: the result's units that the change concerns; nil if unknown.
  ///   - canLookUp: whether the units can be looked up for less than a run costs.
  ///   - shown: the state that the list shows until it reaches the tick's state.
  /// - Returns: whether to look the units up now. A failure is reported by `failed` or `mustRunAgain`.
  mutating func changed(_ units: ConcernedUnits?, alongside: Bool, canLookUp: Bool, shown: CommitNumber) -> Bool {
    if case .running(var run) = phase {
      // The phase must not keep a second reference to the units, so that they are changed in place.
      enter(.following)
      run.missed.add(units, alongside: alongside)
      enter(.running(run))
      return false
    }
    if units != nil, canLookUp, isFollowing { return true }
    mustRunAgain(shown: shown)
    return false
  }

  /// Called when the query must be run again.
  ///
  /// - Parameter shown: as in `changed`.
  mutating func mustRunAgain(shown: CommitNumber) {
    switch phase {
    case .following: enter(.stale(shown: shown, due: nextRun))
    case .stale(let shown, let due): enter(.stale(shown: shown, due: min(due, nextRun)))
    case .running(var run):
      run.missed.units = nil
      enter(.running(run))
    }
  }

  /// Called when the missed units were looked up, or a tick ran the query, so that the list shows the tick's state.
  mutating func caughtUp() {
    failedJoins = 0
    enter(.following)
  }

  // MARK: - Runs

  /// Called when a run was posted to a reader.
  mutating func began(_ id: UInt64, asked: Int64, ticks: Int, shown: CommitNumber) {
    enter(.running(Run(id: id, shown: shown, asked: asked, ticks: ticks)))
  }

  /// Called when the run's reader has begun and sees a state.
  ///
  /// - Parameter passed: that state, if a tick has stopped there.
  mutating func readerBegan(_ id: UInt64, passed: StateName?) {
    guard case .running(var run) = phase, run.id == id else { return }
    run.passed = passed
    enter(.running(run))
  }

  /// Called when a run has ended. A call of `joined` or `failed` must follow.
  mutating func ended(_ id: UInt64) -> Run? {
    guard case .running(let run) = phase, run.id == id else { return nil }
    enter(.stale(shown: run.shown, due: .distantFuture))
    return run
  }

  /// Called when the run saw another schema than the tick.
  mutating func endedTooEarly() {
    if case .stale(let shown, _) = phase { enter(.stale(shown: shown, due: .distantPast)) }
  }

  /// How a run's result is brought to the tick's state.
  enum Join {
    /// The result shows that state already.
    case complete
    /// The changes that the run missed are looked up. A call of `caughtUp` or `failed` must follow.
    case lookUp(ConcernedUnits, alongside: Bool)
    /// The tick runs the query itself. A call of `caughtUp` or `failed` must follow.
    case runHere
    /// A reader runs the query once more, later.
    case later
  }

  /// Called when the list shows a run's result.
  ///
  /// - Parameters:
  ///   - shown: the number of the state that the run saw.
  ///   - state: that state's name.
  ///   - isTicksState: whether the tick sees the same state.
  ///   - ticks: the number of ticks that have seen changes.
  ///   - canLookUp: whether units can be looked up at all.
  mutating func joined(
    _ run: Run, shown: CommitNumber, state: StateName, isTicksState: Bool, ticks: Int, canLookUp: Bool
  ) -> Join {
    // If `run.missed` has everything that changed since the state that the run saw.
    let isKnown = ticks == run.ticks || run.passed?.isSame(as: state) == true
    answeredTicks = run.ticks
    hasFailed = false
    isDistrusted = false
    if isTicksState || (isKnown && run.missed.isNothing) {
      failedJoins = 0
      enter(.following)
      return .complete
    }
    guard canLookUp else {
      enter(.stale(shown: shown, due: nextRun))
      return .later
    }
    if isKnown, let units = run.missed.units {
      enter(.stale(shown: shown, due: nextRun))
      return .lookUp(units, alongside: run.missed.concernsAlongside)
    }
    enter(.stale(shown: shown, due: .distantPast))
    failedJoins += 1
    return failedJoins < Self.joinAttempts ? .later : .runHere
  }

  /// Called when a reader or a tick has run the query.
  mutating func noteRun(_ duration: Nanoseconds, now: Instant) {
    lastRun = (now, duration)
    scheduleRefresh(now)
  }

  private mutating func scheduleRefresh(_ now: Instant) {
    if let refresh = periods.refresh { refreshDue = now + refresh }
  }

  /// Called when no client waits for the run, or its result cannot be used.
  ///
  /// - Returns: the job to cancel, if any.
  mutating func cancelled() -> UInt64? {
    guard case .running(let run) = phase else { return nil }
    enter(.stale(shown: run.shown, due: .distantFuture))
    return run.id
  }

  // MARK: - Failures

  /// Called when the list could not be brought to the tick's state. It is retried later.
  ///
  /// - Parameter shown: as in `changed`.
  /// - Returns: the job to cancel, if any; and whether this is the first failure, so that subscribers are sent the
  ///   error.
  mutating func failed(shown: CommitNumber, now: Instant) -> (cancelled: UInt64?, isFirst: Bool) {
    let id = cancelled()
    enter(.stale(shown: shownBefore ?? shown, due: now + periods.retry))
    defer { hasFailed = true }
    return (id, !hasFailed)
  }

  /// Called when the list was found wrong.
  ///
  /// - Returns: the job to cancel, if any.
  mutating func distrusted(shown: CommitNumber) -> UInt64? {
    isDistrusted = true
    return mustStartOver(shown: shown, due: .distantPast)
  }

  private mutating func mustStartOver(shown: CommitNumber, due: Instant) -> UInt64? {
    let id = cancelled()
    answeredTicks = .min
    enter(.stale(shown: shownBefore ?? shown, due: due))
    return id
  }

  // MARK: - The schema

  /// Called when the list cannot be followed any further, because its tables or the file were replaced.
  ///
  /// - Parameter due: when to run it again; `distantFuture` to wait for `recompiled`.
  /// - Returns: the job to cancel, if any.
  mutating func outdated(shown: CommitNumber, due: Instant) -> UInt64? { mustStartOver(shown: shown, due: due) }

  /// Called when the query compiles in the present schema.
  mutating func recompiled(shown: CommitNumber) {
    awaitsSchema = false
    enter(.stale(shown: shownBefore ?? shown, due: .distantPast))
  }

  /// Called when the query does not compile in the present schema.
  ///
  /// - Returns: whether to send subscribers the error.
  mutating func doesNotCompile() -> Bool {
    defer { awaitsSchema = true }
    return !awaitsSchema
  }

  /// Called when another epoch has begun. Until a tick finds otherwise, the list shows none of the new epoch's states.
  mutating func epochEntered(before: CommitNumber) {
    answeredTicks = .min
    if case .running(var run) = phase {
      run.shown = before
      enter(.running(run))
    } else if case .stale(_, let due) = phase {
      enter(.stale(shown: before, due: due))
    }
  }

  // MARK: - Clients

  package mutating func gotClient() { idleSince = nil }

  /// - Returns: whether the list had clients until now.
  mutating func lostLastClient(now: Instant) -> Bool {
    if idleSince != nil { return false }
    idleSince = now
    return true
  }
}
