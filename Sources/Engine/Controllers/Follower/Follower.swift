import ChangeCapture
import LiveQuery
import Logging
import QueryCompiler
import Store

/// What a follower's thread does: wait, then one tick; again.
///
/// A tick reads one state of the database: it follows what changed, does what it was asked, and sends everybody who can
/// take it what leads from the version they have to the newest.
///
/// All state belongs to the follower's thread.
final class Follower {
  let configuration: FollowerConfiguration
  let clock: MonotonicClock
  let intervals: Intervals
  let output: any SubscriptionOutput
  let logger: Logger
  /// Owns the thread that runs this, and outlives it.
  unowned let thread: FollowerThread
  let readers: ReaderPool
  private let detection: CommitDetection
  let readerSettings: ReaderSettings
  let historyBudget: VersionHistory.Budget

  /// The file as it was last opened; nil while it is not there, or cannot be read.
  @exclusivity(unchecked) var database: OpenDatabase?
  /// What its tables are to each role.
  var roles: RoleSchemas
  /// The states of the file that were seen.
  let commits: FollowedCommits
  /// What the state of the database that was last seen is called: the protocol's `commit`.
  var commit: Int64 { commits.number.commit }
  @exclusivity(unchecked) var statistics = FollowerStatistics()

  var shapes: [Query: QueryShape] = [:]
  var shapeCount = 0
  /// By the number that capture gave to a table, the shapes that read it.
  @exclusivity(unchecked) var shapesByTable: [Int: [ObjectIdentifier: QueryShape]] = [:]
  /// By the number that capture gave to a table, how its rows are stored.
  @exclusivity(unchecked) var storages: [Int: TableStorage] = [:]
  /// Shapes that any commit may concern.
  @exclusivity(unchecked) var shapesOfEveryCommit: [ObjectIdentifier: QueryShape] = [:]
  var queries: [Query: FetchedResultsController] = [:]
  /// Those that are never let go.
  var kept: Set<Query> = []
  /// By session, then by the number in the subscription's key.
  var sessions: [UInt64: [UInt64: Subscription]] = [:]
  /// Subscriptions to queries that are not followed yet, likewise.
  var early: [UInt64: [UInt64: EarlySubscription]] = [:]
  /// Queries that readers run for the first time.
  var openings: [Query: Opening] = [:]
  var openingsByJob: [UInt64: Opening] = [:]
  /// Followed queries that readers run or read contents of, by the number of the reader's job.
  var runs: [UInt64: FetchedResultsController] = [:]
  var queriesByRead: [UInt64: FetchedResultsController] = [:]
  /// Runs that readers have begun since the last tick.
  @exclusivity(unchecked) var begun: [BegunRun] = []
  /// Shapes that readers compile anew, by the number of the job.
  var recompilations: [UInt64: QueryShape] = [:]
  /// What they have compiled, until it is taken up.
  var recompiled: [(outdated: QueryShape, result: Result<Recompilation, FreshetError>)] = []
  /// Queries with contents that readers have read, which are kept until this tick ends.
  @exclusivity(unchecked) var queriesWithContents: [ObjectIdentifier: FetchedResultsController] = [:]
  /// The query whose waiting commands are performed at present.
  var resumed: FetchedResultsController?
  let numbers: CommitNumbers
  let epochs: FileEpochs
  /// Taken before the tick's transaction began; see `FileEpochs.read`.
  private(set) var ticket: UInt64 = 0
  /// Who waits for a commit.
  var awaited = AwaitedCommits()
  @exclusivity(unchecked) private var inbox = Inbox()
  /// How long commands are performed in one tick: the others wait for the next one.
  static let commandTime = Nanoseconds.milliseconds(2)
  @exclusivity(unchecked) var drained = DrainedSessions()
  /// Queries that have subscriptions behind the newest version, or somebody who waits for one.
  @exclusivity(unchecked) var dirty: [ObjectIdentifier: FetchedResultsController] = [:]
  /// When each query is due without an event.
  @exclusivity(unchecked) var deadlines = Deadlines()
  /// Subscriptions whose snapshot is on its way in parts.
  @exclusivity(unchecked) var loading: [SubscriptionKey: Subscription] = [:]
  /// Subscriptions that get a snapshot at the end of this tick.
  @exclusivity(unchecked) var snapshots: [SnapshotGroup: [Subscription]] = [:]
  /// Counts the ticks that sent something, or could have.
  @exclusivity(unchecked) var flushes: UInt64 = 0
  var recentSnapshots = RecentSnapshots()

  /// Whether this loop has a thread, which may rest.
  @exclusivity(unchecked) private var isPaced = false
  private var isStopping = false
  /// Files that were deleted while they were open, until they are out of use.
  @exclusivity(unchecked) var lostFiles: LostFiles?
  var hasWarnedOfSharedMemory = false
  /// Why the file that is there is not open.
  var openingFailure: FreshetError?
  /// Since when ticks cannot read the database; nil: the last one could.
  @exclusivity(unchecked) private(set) var outage: Outage?
  var hasFailed: Bool { outage != nil }
  /// There is something to do that no event will tell of.
  @exclusivity(unchecked) var mustTick = false
  var selfCheck: SelfCheck
  @exclusivity(unchecked) var trail = TickTrail()
  /// Of results that were let go, and of large ones that were made, since free memory was returned.
  @exclusivity(unchecked) var freedRows = 0

  init(
    _ configuration: FollowerConfiguration, output: any SubscriptionOutput, readers: ReaderPool, numbers: CommitNumbers,
    epochs: FileEpochs, logger: Logger, thread: FollowerThread
  ) throws {
    self.configuration = configuration
    clock = configuration.clock
    intervals = Intervals(configuration)
    selfCheck = SelfCheck(configuration.selfCheck, clock.now)
    self.output = output
    self.logger = logger
    self.thread = thread
    self.readers = readers
    self.numbers = numbers
    self.epochs = epochs
    commits = FollowedCommits(
      first: numbers.first, epochs.current, holdsEveryVersion: configuration.readsPosition || configuration.sharesEpochs
    )
    roles = RoleSchemas(configuration.access, .empty)
    readerSettings = ReaderSettings(
      limits: .init(
        rows: configuration.rowLimit, bytes: configuration.resultBytes, time: configuration.queryTimeout),
      clock: clock)
    historyBudget = VersionHistory.Budget(
      bytes: configuration.historyBytes, age: Nanoseconds(configuration.historyAge),
      count: configuration.historyCount)
    detection = CommitDetection(path: configuration.path, wake: thread.wake, clock: clock)
    if FileIdentity(path: configuration.path) == nil { return }
    do {
      let opened = try open()
      database = opened
      fileWasOpened(opened.connection.file)
    } catch let error as SQLiteFailure where error.isLock {
      // Wait, as for a file that is not there: a lock ends.
      openingFailure = FreshetError(unreadable: error)
      if thread.number == 0 {
        logger.warning("the database is locked: waiting for it", metadata: ["path": "\(configuration.path)"])
      }
    }
  }

  func run() {
    isPaced = true
    while !isStopping {
      step()
      if !isStopping { wait() }
    }
    close()
  }

  /// What there is to do now, without waiting for more.
  func step() {
    inbox.add(thread.takeCommands())
    restoreSharedMemory()
    let now = clock.now
    let isResting = inbox.isEmpty && rest(now) > .zero
    let hasChanged = !isResting && !isUnused && hasCommit()
    if detection.mayBeReplaced(isOpen: database != nil, hasChanged: hasChanged, now) { openIfReplaced() }
    if hasChanged || mustTick || !inbox.isEmpty || clock.now >= deadlines.next { tick() }
    if clock.now >= awaited.nextDeadline { awaited.refuseOverdue(clock.now) }
    thread.noteTaken(inbox.count)
    output.flush()
    checkLists()
    // After the tick: who waited for the result has it by now.
    returnFreeMemory()
  }

  /// Queries, shapes and subscriptions keep one another.
  func close() {
    for subscription in sessions.values.flatMap(\.values) { remove(subscription) }
    for query in queries.values { forget(query) }
    for opening in openings.values { readers.cancel(opening.id) }
    openings = [:]
    openingsByJob = [:]
    snapshots = [:]
    inbox.add(thread.takeCommands())
    for case .awaitCommit(let waiter) in inbox.takeAll() { waiter.refuse(CommitWaiter.stopping) }
    awaited.refuseAll(CommitWaiter.stopping)
  }

  private func hasCommit() -> Bool {
    guard let capture = database?.connection.capture else { return false }
    return detection.hasCommit(capture, isPaced: isPaced)
  }

  /// Nothing is followed here, so commits need not wake this thread. After a tick: before it the files in use are not known.
  private var isUnused: Bool {
    isPaced && queries.isEmpty && openings.isEmpty && awaited.isEmpty
      && database?.connection.capture.hasSeenState != false
  }

  /// For how long commits are left alone; see `Pace`.
  private func rest(_ now: Instant) -> Nanoseconds { isPaced && !mustTick ? detection.rest(now) : .zero }

  private func tick() {
    let start = clock.now
    mustTick = false
    do {
      guard let connection = database?.connection else { throw unavailability }
      let ticks = statistics.ticks
      if configuration.readsPosition { ticket = epochs.ticket() }
      begun = thread.takeBegun(after: begun)
      try connection.snapshot {
        try follow()
        if outage?.isAnnounced == true { announceRecovery() }
        performCommands()
        awaited.reached(commit, in: commits.epoch.name)
        flush()
        // Tables that were followed just now, or are large.
        if connection.capture.readOn() { mustTick = true }
      }
      outage = nil
      if statistics.ticks > ticks {
        let end = clock.now
        statistics.tickDurations.note(end - start)
        detection.noteTick(start: start, end: end, comparesTables: connection.capture.comparesTables)
      }
    } catch {
      // What is followed stays where it was: the next tick follows the same changes, which is harmless.
      let failure = FreshetError(unreadable: error)
      noteOutage(error, failure)
      for command in inbox.takeAll() { reject(command, failure) }
    }
  }

  private func noteOutage(_ error: any Error, _ failure: FreshetError) {
    if outage == nil { logger.error("the database cannot be read", metadata: ["error": "\(error)"]) }
    var outage = outage ?? Outage(since: clock.now)
    if !outage.isAnnounced, clock.now >= outage.since + intervals.retry {
      outage.isAnnounced = true
      announce(failure)
    }
    self.outage = outage
    mustTick = database != nil
  }

  /// As many as there is time for: who asks much waits for others to be served.
  private func performCommands() {
    for command in inbox.takeControl() { perform(command) }
    takeUpRecompiled()
    if inbox.isEmpty { return }
    let end = clock.now + Self.commandTime
    repeat {
      guard let command = inbox.next() else { return }
      perform(command)
    } while clock.now < end
    if !inbox.isEmpty { mustTick = true }
  }

  func requestStop() { isStopping = true }

  private func wait() {
    let now = clock.now
    var limit = min(deadlines.next, awaited.nextDeadline, queries.isEmpty ? .distantFuture : selfCheck.next) - now
    if mustTick { limit = hasFailed ? min(limit, .milliseconds(50)) : .zero }
    if lostFiles != nil { limit = min(limit, .milliseconds(5)) }
    detection.wait(
      .init(
        limit: limit, rest: rest(now), isUnused: isUnused,
        canAskOften: database?.connection.capture.canAskOften == true))
  }
}

/// The database cannot be read.
struct Outage {
  let since: Instant
  /// Lists were sent why.
  var isAnnounced = false
}

/// The configuration's durations, converted once.
struct Intervals {
  let linger: Nanoseconds
  let queryTimeout: Nanoseconds
  let refetch: Nanoseconds
  let retry: Nanoseconds

  init(_ configuration: FollowerConfiguration) {
    linger = Nanoseconds(configuration.linger)
    queryTimeout = Nanoseconds(configuration.queryTimeout)
    refetch = Nanoseconds(configuration.refetchInterval)
    retry = Nanoseconds(configuration.retryInterval)
  }
}
