import ChangeCapture
import Store

/// How a list relates to the file: which state it shows, what brings it to the newest one, and when.
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
/// Pure: no SQLite, no threads, no clock. `Lists` tells it what happened, and does what the answers say.
struct ListMachine {
  enum Phase {
    /// The list shows the state that the last tick saw.
    case following
    /// The list shows an older state. Its query is to be run again at `due`; `distantFuture`: something else has to happen first.
    case stale(shown: CommitNumber, due: Instant)
    /// A reader runs the query.
    case running(Run)
  }

  /// A run on a reader's thread, in a state not older than the one at which it was asked for.
  struct Run {
    /// The number of the job.
    let id: UInt64
    /// The state that the list shows meanwhile.
    fileprivate(set) var shown: CommitNumber
    /// The number of the last tick's state when the run was asked for.
    let asked: Int64
    /// How many ticks had seen changes by then.
    let ticks: Int
    /// The state that the reader sees, once a tick has stopped there: then `missed` is all that differs from it.
    fileprivate(set) var passed: StateName?
    fileprivate(set) var missed = Missed()
  }

  /// What changed while a run went on. Looking it up brings the run's result to the newest state.
  struct Missed {
    /// Nil: not known, or too many.
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

  /// What a run may miss: beyond it the query is run once more.
  static let missedLimit = 20_000
  /// After so many runs in a row that could not be joined, the next is made in a tick, where nothing can be missed.
  static let joinAttempts = 3

  /// Durations that the configuration and the query decide.
  struct Pace {
    /// Between two runs, at least.
    let refetch: Nanoseconds
    /// Between a failure and the next try.
    let retry: Nanoseconds
    /// Between a run and the next one, whatever happens; nil: no bound.
    let refresh: Nanoseconds?
  }

  private(set) var phase: Phase
  /// Subscribers have heard that the list cannot be read at present.
  private(set) var hasFailed = false
  /// The query does not compile in the present schema, and subscribers have heard so.
  private(set) var awaitsSchema = false
  /// The list was found wrong: the next run uses nothing that is known of it.
  private(set) var isDistrusted = false
  /// When the list lost its last client; nil while it has one.
  private(set) var idleSince: Instant?
  /// What is shown answers requests that were made when no more ticks than these had seen changes.
  private var answeredTicks: Int
  /// Runs in a row that could not be joined.
  private var failedJoins = 0
  private var lastRun: (end: Instant, duration: Nanoseconds)
  /// When the query's own `refreshEvery` has it run again; `distantFuture`: never.
  private var refreshDue = Instant.distantFuture
  private let pace: Pace

  /// A list whose first run has just ended.
  ///
  /// - Parameters:
  ///   - shown: the state that it shows, when that is not the tick's.
  ///   - ticks: how many ticks had seen changes when the run was asked for.
  init(shown: CommitNumber?, ticks: Int, duration: Nanoseconds, pace: Pace, now: Instant) {
    self.pace = pace
    phase = shown.map { .stale(shown: $0, due: .distantPast) } ?? .following
    answeredTicks = ticks
    // Long ago: after the first change the query is run again at once.
    lastRun = (.distantPast, duration)
    scheduleRefresh(now)
  }

  // MARK: - What it shows

  var isFollowing: Bool { if case .following = phase { true } else { false } }
  var isRunning: Bool { if case .running = phase { true } else { false } }

  /// The state that the list shows, when it is older than the last tick's.
  var shownBefore: CommitNumber? {
    switch phase {
    case .following: nil
    case .stale(let shown, _): shown
    case .running(let run): run.shown
    }
  }

  /// Whether what is shown is not older than a request.
  ///
  /// - Parameter ticks: how many ticks had seen changes when it was made.
  func answers(askedAt ticks: Int) -> Bool { isFollowing || ticks <= answeredTicks }

  /// When the list is to be looked at; nil: a reader's result comes first.
  var due: Instant? {
    switch phase {
    case .following: refreshDue == .distantFuture ? nil : refreshDue
    case .stale(_, let due): min(due, refreshDue)
    case .running: nil
    }
  }

  /// When the query may be run again: at most half of the time, and not too often.
  private var nextRun: Instant { lastRun.end + max(pace.refetch, lastRun.duration) }

  /// The only place in which the phase changes.
  private mutating func enter(_ next: Phase) { phase = next }

  // MARK: - The file changes

  /// A change concerns the list.
  ///
  /// - Parameters:
  ///   - units: those of the result that are concerned; nil: not known.
  ///   - canLookUp: whether looking the units up is possible, and costs less than a run.
  ///   - shown: the state that the list shows if it is not brought to the tick's.
  /// - Returns: whether the units are to be looked up now. If that fails, `failed` or `mustRunAgain` follows.
  mutating func changed(_ units: ConcernedUnits?, alongside: Bool, canLookUp: Bool, shown: CommitNumber) -> Bool {
    if case .running(var run) = phase {
      // Kept once, so that it is changed in place.
      enter(.following)
      run.missed.add(units, alongside: alongside)
      enter(.running(run))
      return false
    }
    if units != nil, canLookUp, isFollowing { return true }
    mustRunAgain(shown: shown)
    return false
  }

  /// The query has to be run again.
  ///
  /// - Parameter shown: as of `changed`.
  mutating func mustRunAgain(shown: CommitNumber) {
    switch phase {
    case .following: enter(.stale(shown: shown, due: nextRun))
    case .stale(let shown, let due): enter(.stale(shown: shown, due: min(due, nextRun)))
    case .running(var run):
      run.missed.units = nil
      enter(.running(run))
    }
  }

  /// What a run missed was looked up, or the query was run in the tick: the list shows the tick's state.
  mutating func caughtUp() {
    failedJoins = 0
    enter(.following)
  }

  // MARK: - Runs

  /// A reader was asked to run the query.
  mutating func began(_ id: UInt64, asked: Int64, ticks: Int, shown: CommitNumber) {
    enter(.running(Run(id: id, shown: shown, asked: asked, ticks: ticks)))
  }

  /// The run's reader sees a state.
  ///
  /// - Parameter passed: that state, if a tick has stopped there.
  mutating func readerBegan(_ id: UInt64, passed: StateName?) {
    guard case .running(var run) = phase, run.id == id else { return }
    run.passed = passed
    enter(.running(run))
  }

  /// The result of a run is here. What to do with it is `joined` to say, or `failed`.
  mutating func ended(_ id: UInt64) -> Run? {
    guard case .running(let run) = phase, run.id == id else { return nil }
    enter(.stale(shown: run.shown, due: .distantFuture))
    return run
  }

  /// The run saw another schema than the tick.
  mutating func endedTooEarly() {
    if case .stale(let shown, _) = phase { enter(.stale(shown: shown, due: .distantPast)) }
  }

  /// How the result of a run comes to the tick's state.
  enum Join {
    /// It shows that state.
    case complete
    /// By looking up what the run missed. `caughtUp` or `failed` follows.
    case lookUp(ConcernedUnits, alongside: Bool)
    /// By a run in the tick. `caughtUp` or `failed` follows.
    case runHere
    /// By another run, later.
    case later
  }

  /// The list shows a run's result.
  ///
  /// - Parameters:
  ///   - shown: the state that the run saw.
  ///   - state: its name.
  ///   - isTicksState: whether that is the state that the tick sees.
  ///   - ticks: how many ticks have seen changes.
  ///   - canLookUp: whether there is more to it than running the query again.
  mutating func joined(
    _ run: Run, shown: CommitNumber, state: StateName, isTicksState: Bool, ticks: Int, canLookUp: Bool
  ) -> Join {
    // Whether `run.missed` is all that changed since the state that the run saw.
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
    enter(.stale(shown: shown, due: .distantPast))
    if isKnown, let units = run.missed.units { return .lookUp(units, alongside: run.missed.concernsAlongside) }
    failedJoins += 1
    return failedJoins < Self.joinAttempts ? .later : .runHere
  }

  /// The query was run, by a reader or in a tick.
  mutating func noteRun(_ duration: Nanoseconds, now: Instant) {
    lastRun = (now, duration)
    scheduleRefresh(now)
  }

  private mutating func scheduleRefresh(_ now: Instant) {
    if let refresh = pace.refresh { refreshDue = now + refresh }
  }

  /// Nobody waits for the run, or it can lead to nothing.
  ///
  /// - Returns: the job to be cancelled, if there is one.
  mutating func cancelled() -> UInt64? {
    guard case .running(let run) = phase else { return nil }
    enter(.stale(shown: run.shown, due: .distantFuture))
    return run.id
  }

  // MARK: - Failures

  /// The list could not be brought to the tick's state, and is tried again later.
  ///
  /// - Parameter shown: as of `changed`.
  /// - Returns: the job to be cancelled, if there is one; and whether subscribers are to hear of the failure: the first one only.
  mutating func failed(shown: CommitNumber, now: Instant) -> (cancelled: UInt64?, isFirst: Bool) {
    let id = cancelled()
    enter(.stale(shown: shownBefore ?? shown, due: now + pace.retry))
    defer { hasFailed = true }
    return (id, !hasFailed)
  }

  /// The list was found wrong.
  ///
  /// - Returns: the job to be cancelled, if there is one.
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

  /// What the list shows cannot be followed any further: the query's tables are others, or the file is.
  ///
  /// - Parameter due: when it may be run again; `distantFuture`: after `recompiled`.
  /// - Returns: the job to be cancelled, if there is one.
  mutating func outdated(shown: CommitNumber, due: Instant) -> UInt64? { mustStartOver(shown: shown, due: due) }

  /// The query compiles in the present schema.
  mutating func recompiled(shown: CommitNumber) {
    awaitsSchema = false
    enter(.stale(shown: shownBefore ?? shown, due: .distantPast))
  }

  /// The query does not compile in the present schema.
  ///
  /// - Returns: whether subscribers are to hear of it.
  mutating func doesNotCompile() -> Bool {
    defer { awaitsSchema = true }
    return !awaitsSchema
  }

  /// Another epoch has begun. What the list shows belongs to none of its states, unless a tick says otherwise.
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

  mutating func gotClient() { idleSince = nil }

  /// - Returns: whether it had one until now.
  mutating func lostLastClient(now: Instant) -> Bool {
    if idleSince != nil { return false }
    idleSince = now
    return true
  }
}
