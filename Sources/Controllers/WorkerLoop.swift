import CSystem
import ChangeCapture
import LiveQuery
import Logging
import Store

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a worker's thread does: wait, then one turn; again.
///
/// A turn reads one state of the database: it follows what changed, does what it was asked, and sends everybody who can
/// take it what leads from the version they have to the newest.
///
/// All state belongs to the worker's thread.
final class WorkerLoop {
  let configuration: WorkerConfiguration
  let output: any SubscriptionOutput
  let logger: Logger
  /// Owns the thread that runs this, and outlives it.
  unowned let worker: Worker
  let readers: ReaderPool
  private let watcher: DatabaseWatcher
  let readerSettings: ReaderSettings
  let historyBudget: VersionHistory.Budget

  /// The file as it was last opened; nil while it is not there, or cannot be read.
  var database: OpenDatabase?
  /// What the state of the database that was last seen is called: the protocol's `commit`.
  var commit: Int64 = 0
  var statistics = WorkerStatistics()

  var shapes: [Query: QueryShape] = [:]
  var shapeCount = 0
  /// By the number that capture gave to a table, the shapes that read it.
  var shapesByTable: [Int: [ObjectIdentifier: QueryShape]] = [:]
  /// By the number that capture gave to a table, how its rows are stored.
  var storages: [Int: TableStorage] = [:]
  /// Shapes that any commit may concern.
  var shapesOfEveryCommit: [ObjectIdentifier: QueryShape] = [:]
  var queries: [Query: FollowedQuery] = [:]
  /// By session, then by the number in the subscription's key.
  var sessions: [UInt64: [UInt64: Subscription]] = [:]
  /// Subscriptions to queries that are not followed yet, likewise.
  var early: [UInt64: [UInt64: EarlySubscription]] = [:]
  /// Queries that readers run for the first time.
  var openings: [Query: Opening] = [:]
  var openingsByJob: [UInt64: Opening] = [:]
  /// By reader's job, the followed queries that readers run, and those of which they read contents.
  var runs: [UInt64: FollowedQuery] = [:]
  var queriesByRead: [UInt64: FollowedQuery] = [:]
  /// Queries with contents that readers have read, which are kept until this turn ends.
  var queriesWithContents: [ObjectIdentifier: FollowedQuery] = [:]
  /// The query whose waiting commands are performed at present.
  var resumed: FollowedQuery?
  let numbers: CommitNumbers
  private var inbox = Inbox()
  /// How long commands are performed in one turn, in nanoseconds: the others wait for the next one.
  private static let commandTime: UInt64 = 2_000_000
  var readiness = SessionReadiness()
  /// Queries that have subscriptions behind the newest version, or somebody who waits for one.
  var dirty: [ObjectIdentifier: FollowedQuery] = [:]
  /// Queries that have to be run again, or will be when their time comes.
  var timed: [ObjectIdentifier: FollowedQuery] = [:]
  /// Queries of which somebody waits for another version.
  var waiting: [ObjectIdentifier: FollowedQuery] = [:]
  /// Queries without subscriptions.
  var idle: [ObjectIdentifier: FollowedQuery] = [:]
  /// Subscriptions whose snapshot is on its way in parts.
  var loading: [SubscriptionKey: Subscription] = [:]
  /// Subscriptions that get a snapshot at the end of this turn.
  var snapshots: [SnapshotGroup: [Subscription]] = [:]
  /// Counts the turns that sent something, or could have.
  var flushes: UInt64 = 0
  var recentSnapshots = RecentSnapshots()
  /// When something is due that no event will tell of.
  var nextDue: UInt64 = .max
  private var nextIdleLook: UInt64 = 0

  private var pace = Pace()
  /// Whether this loop has a thread, which may rest.
  private var isPaced = false
  private var isStopping = false
  /// Files that were deleted while they were open, until they are out of use.
  var lostFiles: LostFiles?
  var hasWarnedOfSharedMemory = false
  /// The last turn could not read the database.
  private var hasFailed = false
  /// There is something to do that no event will tell of.
  var mustTurn = false
  /// A large result was made, or let go.
  var hasFreedMuch = false
  /// How many of `looks` have passed since somebody wrote to the files.
  private var look: Int
  /// The last writes were gazed at in vain: they may be the first of many.
  private var hasGazed = false
  private var writeGap = WriteGap()
  /// When the file's identity was last looked at; 0: it is to be looked at again.
  private var identityRead: UInt64 = 0

  /// When to look again after a write was noticed whose commit cannot be read yet: it becomes visible later, and silently.
  /// The last one is all that follows a commit that was found.
  private static let looks: [UInt64] = [200_000, 500_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 20_000_000]
  /// How long to look again and again before that.
  private static let gaze: UInt64 = 100_000
  /// Looked for at every wake.
  private let journal: String
  /// How often to look when nothing tells of writes; and, to be safe, when something does.
  private var pollInterval: UInt64 { watcher.descriptor < 0 ? 20_000_000 : 1_000_000_000 }

  init(
    _ configuration: WorkerConfiguration, output: any SubscriptionOutput, readers: ReaderPool, numbers: CommitNumbers,
    logger: Logger, worker: Worker
  ) throws {
    self.configuration = configuration
    journal = configuration.path + "-journal"
    self.output = output
    self.logger = logger
    self.worker = worker
    self.readers = readers
    self.numbers = numbers
    readerSettings = ReaderSettings(
      limits: .init(
        rows: configuration.rowLimit, bytes: configuration.resultBytes, milliseconds: configuration.queryTimeout))
    historyBudget = VersionHistory.Budget(
      bytes: configuration.historyBytes, age: UInt64(configuration.historyAge) * 1_000_000,
      count: configuration.historyCount)
    watcher = DatabaseWatcher(path: configuration.path)
    look = Self.looks.count
    if FileIdentity(path: configuration.path) != nil { database = try open() }
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
    inbox.add(worker.takeCommands())
    restoreSharedMemory()
    let now = monotonicNanoseconds()
    let isResting = inbox.isEmpty && rest(now) > 0
    let hasChanged = !isResting && !isUnused && hasDatabaseChanged()
    if !hasChanged || identityRead == 0, mayBeReplaced(now) { openIfReplaced() }
    if hasChanged || mustTurn || !inbox.isEmpty || monotonicNanoseconds() >= nextDue { turn() }
    output.flush()
    dropIdleQueries()
    // After the turn: who waited for the result has it by now.
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
  }

  /// Most often the commit can be read by the time its writes have woken this thread. When not, it is so within
  /// microseconds, unless the writer waits for its disk: then `wait` looks again after a while, and again.
  private func hasDatabaseChanged() -> Bool {
    guard let capture = database?.connection.capture else { return false }
    // A rollback journal is there while somebody's transaction is: looking would take a lock that is in its way, and the
    // journal's end wakes this thread. One that is kept for the next transaction is looked past after a while.
    if !capture.canAskOften {
      if isPaced, !writeGap.mayRead(monotonicNanoseconds()) { return false }
      if look < Self.looks.count - 1, FileIdentity.size(path: journal) > 0 { return false }
    }
    let wasWritten = look == 0
    let end = wasWritten && !hasGazed && capture.canAskOften ? monotonicNanoseconds() + Self.gaze : 0
    repeat {
      if capture.hasMoved {
        // What was written and is not to be read yet belongs to another commit: rare, but it must not be missed.
        if wasWritten { look = Self.looks.count - 1 }
        hasGazed = false
        writeGap.noteRead()
        return true
      }
      if end > 0 { sched_yield() }
    } while monotonicNanoseconds() < end
    hasGazed = wasWritten
    return false
  }

  /// Nothing is followed here, so commits need not wake this thread.
  private var isUnused: Bool { isPaced && queries.isEmpty && openings.isEmpty }
  /// How often an unused worker looks whether the file is still the same one.
  private static let unusedInterval: UInt64 = 100_000_000

  /// Whether the file may be another one than when it was opened. Of directories above that are renamed nothing tells.
  private func mayBeReplaced(_ now: UInt64) -> Bool {
    let isDue = database == nil || watcher.descriptor < 0 || now - identityRead >= pollInterval
    if isDue { identityRead = now }
    return isDue
  }

  /// Nanoseconds for which commits are left alone; see `Pace`.
  private func rest(_ now: UInt64) -> UInt64 { isPaced && !mustTurn ? pace.rest(now) : 0 }

  private func turn() {
    let start = monotonicNanoseconds()
    mustTurn = false
    nextDue = .max
    do {
      guard let connection = database?.connection else { throw FreshetError(.overloaded, "the database is not there") }
      let ticks = statistics.ticks
      try connection.snapshot {
        try follow()
        performCommands()
        flush()
        // Tables that were followed just now, or are large.
        if connection.capture.readOn() { mustTurn = true }
      }
      hasFailed = false
      if statistics.ticks > ticks {
        let end = monotonicNanoseconds()
        statistics.tickDurations.note(end - start)
        pace.note(start: start, end: end, comparesTables: connection.capture.comparesTables)
      }
    } catch {
      // What is followed stays where it was: the next turn follows the same changes, which is harmless.
      if !hasFailed { logger.error("the database cannot be read", metadata: ["error": "\(error)"]) }
      mustTurn = database != nil
      hasFailed = true
      let error = FreshetError(.overloaded, "the database cannot be read at the moment")
      for command in inbox.takeAll() { reject(command, error) }
    }
  }

  /// As many as there is time for: who asks much waits for others to be served.
  private func performCommands() {
    for command in inbox.takeControl() { perform(command) }
    if inbox.isEmpty { return }
    let end = monotonicNanoseconds() + Self.commandTime
    repeat {
      guard let command = inbox.next() else { return }
      perform(command)
    } while monotonicNanoseconds() < end
    if !inbox.isEmpty { mustTurn = true }
  }

  func requestStop() { isStopping = true }

  /// Until something happens, or it is time for something.
  private func wait() {
    let now = monotonicNanoseconds()
    let rest = rest(now)
    var timeout = look < Self.looks.count ? Self.looks[look] : pollInterval
    // Every look at a rollback journal's database takes a lock.
    if database?.connection.capture.canAskOften != true { timeout = max(timeout, 1_000_000) }
    if nextDue != .max { timeout = min(timeout, nextDue > now ? nextDue - now : 0) }
    if mustTurn { timeout = hasFailed ? min(timeout, 50_000_000) : 0 }
    if lostFiles != nil { timeout = min(timeout, 5_000_000) }
    if rest > 0 { timeout = rest } else { look = min(look + 1, Self.looks.count) }
    let isUnused = isUnused
    if isUnused { timeout = min(timeout, Self.unusedInterval) }

    var descriptors = [pollfd(fd: worker.wake.readEnd, events: Int16(POLLIN), revents: 0)]
    // Who rests spares the writer waking this thread.
    if watcher.descriptor >= 0, rest == 0, !isUnused {
      descriptors.append(pollfd(fd: watcher.descriptor, events: Int16(POLLIN), revents: 0))
    }
    _ = system_poll(&descriptors, UInt32(descriptors.count), timeout)
    if descriptors[0].revents != 0 { worker.wake.clear() }
    if isUnused || (descriptors.count > 1 && descriptors[1].revents != 0) {
      let events = watcher.drain()
      if events.contains(.written) {
        look = 0
        writeGap.noteWrite(monotonicNanoseconds())
      }
      if events.contains(.replaced) { identityRead = 0 }
    }
  }

  private func dropIdleQueries() {
    let now = monotonicNanoseconds()
    if idle.isEmpty || now < nextIdleLook { return }
    let linger = UInt64(configuration.linger) * 1_000_000
    // All are looked at, so not at every step: some linger a little longer.
    nextIdleLook = now + linger / 64
    for query in idle.values {
      guard let idleSince = query.idleSince, query.isIdle else {
        idle[ObjectIdentifier(query)] = nil
        continue
      }
      if now - idleSince >= linger { forget(query) }
    }
  }
}
