import GRDB
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
/// A turn reads one state of the database: it follows the change log, does what it was asked, and sends everybody who
/// can take it what leads from the version they have to the newest.
///
/// All state belongs to the worker's thread.
final class WorkerLoop {
  let configuration: WorkerConfiguration
  let output: any SubscriptionOutput
  let logger: Logger
  /// Owns the thread that runs this, and outlives it.
  private unowned let worker: Worker

  let connection: WorkerConnection
  let checker: FragmentChecker
  private let watcher: DatabaseWatcher
  /// Of the stamps of contents.
  let seed = UInt64.random(in: 0...UInt64.max)

  /// Nil while the database is not tracked.
  private var log: ChangeLogReader?
  /// Up to where the log was followed: the `commit` of everything that is sent.
  private(set) var sequence: Int64 = 0
  private var schemaVersion: Int64 = -1
  private(set) var tables: [TrackedTable] = []

  var queries: [Query: FollowedQuery] = [:]
  /// By session, then by the number in the subscription's key.
  var sessions: [UInt64: [UInt64: Subscription]] = [:]
  /// Queries that have subscriptions behind the newest version.
  var dirty: [ObjectIdentifier: FollowedQuery] = [:]
  /// Subscriptions whose snapshot is on its way in parts.
  var loading: [SubscriptionKey: Subscription] = [:]
  /// Subscriptions that get a snapshot at the end of this turn.
  var snapshots: [SnapshotGroup: [Subscription]] = [:]
  /// When the next `minInterval` ends.
  var nextDue: UInt64 = .max

  private var isStopping = false
  /// The last turn could not read the database.
  private var hasFailed = false
  /// There is something to do that no event will tell of.
  var mustTurn = false
  /// How many of `looks` have passed since somebody wrote to the files.
  private var look: Int

  /// When to look again after a write was noticed whose commit cannot be read yet: it becomes visible later, and silently.
  /// The last one is all that follows a commit that was found.
  private static let looks: [UInt64] = [1_000_000, 4_000_000, 16_000_000, 64_000_000, 20_000_000]
  /// How often to look when nothing tells of writes; and, to be safe, when something does.
  private var pollInterval: UInt64 { watcher.descriptor < 0 ? 20_000_000 : 1_000_000_000 }

  init(
    _ configuration: WorkerConfiguration, output: any SubscriptionOutput, logger: Logger, worker: Worker
  ) throws {
    self.configuration = configuration
    self.output = output
    self.logger = logger
    self.worker = worker
    connection = try WorkerConnection(path: configuration.path)
    checker = try FragmentChecker(path: configuration.path)
    watcher = DatabaseWatcher(path: configuration.path)
    look = Self.looks.count
  }

  func run() {
    while !isStopping {
      let commands = worker.takeCommands()
      if hasDatabaseChanged() || mustTurn || !commands.isEmpty || monotonicNanoseconds() >= nextDue { turn(commands) }
      dropIdleQueries()
      if !isStopping { wait() }
    }
  }

  /// Most often the commit can be read by the time its writes have woken this thread. When not, it is so within
  /// microseconds, unless the writer waits for its disk: then `wait` looks again after a while, and again.
  private func hasDatabaseChanged() -> Bool {
    let wasWritten = look == 0
    for attempt in 0..<(wasWritten ? 3 : 1) {
      if attempt > 0 { usleep(50) }
      if (try? connection.hasChanged()) ?? true {
        // What was written and is not to be read yet belongs to another commit: rare, but it must not be missed.
        if wasWritten { look = Self.looks.count - 1 }
        return true
      }
    }
    return false
  }

  private func turn(_ commands: [WorkerCommand]) {
    mustTurn = false
    hasFailed = false
    do {
      try connection.snapshot { db in
        try follow(db)
        for command in commands { perform(command) }
        flush()
      }
    } catch {
      // The change log stays where it was: the next turn follows the same changes, which is harmless.
      logger.error("a turn failed", metadata: ["error": "\(error)"])
      mustTurn = true
      hasFailed = true
      let error = FreshetError(.overloaded, "the database cannot be read at the moment")
      for command in commands { reject(command, error) }
    }
  }

  func requestStop() { isStopping = true }

  private func wait() {
    let now = monotonicNanoseconds()
    var timeout = look < Self.looks.count ? Self.looks[look] : pollInterval
    if nextDue != .max { timeout = min(timeout, nextDue > now ? nextDue - now : 0) }
    if mustTurn { timeout = hasFailed ? min(timeout, 50_000_000) : 0 }
    look = min(look + 1, Self.looks.count)

    var descriptors = [pollfd(fd: worker.wake.readEnd, events: Int16(POLLIN), revents: 0)]
    if watcher.descriptor >= 0 { descriptors.append(pollfd(fd: watcher.descriptor, events: Int16(POLLIN), revents: 0)) }
    _ = poll(&descriptors, nfds_t(descriptors.count), Int32((timeout + 999_999) / 1_000_000))
    if descriptors[0].revents != 0 { worker.wake.clear() }
    if descriptors.count > 1, descriptors[1].revents != 0, watcher.drain() { look = 0 }
  }

  private func dropIdleQueries() {
    let now = monotonicNanoseconds()
    let linger = UInt64(configuration.linger) * 1_000_000
    for (query, followed) in queries {
      if let idleSince = followed.idleSince, now - idleSince >= linger { queries[query] = nil }
    }
  }
}

// Following the database.
extension WorkerLoop {
  /// Brings every query to the state of the database that the transaction sees.
  private func follow(_ db: Database) throws {
    guard let log = try openLog(db) else { return }
    var changed: [Int64: [[UInt8]: ColumnMask]] = [:]
    var key: [UInt8] = []
    let outcome: ReadOutcome
    do {
      outcome = try log.read(after: sequence) { change in
        guard let table = tables.first(where: { $0.id == change.table }) else { return }
        key.removeAll(keepingCapacity: true)
        for column in table.key.names.indices {
          PreparedStatement.appendKey(
            change.statement, ChangeRow.firstKeyColumn + Int32(column), .identity, to: &key)
        }
        let mask = changed[change.table]?[key]?.rawValue ?? 0
        changed[change.table, default: [:]][key] = ColumnMask(rawValue: mask | change.columns.rawValue)
      }
    } catch {
      guard error.code == ErrorCode.notTracked else { throw error }
      loseTracking()
      return
    }
    sequence = outcome.head.sequence
    var isGap = false
    if case .gap = outcome { isGap = true }
    // `freshet track` may have brought the list of tables up to date with the schema, which leaves a gap alone.
    if isGap || outcome.head.schemaVersion != schemaVersion {
      try reloadSchema(db, outcome.head)
    } else {
      for query in queries.values {
        guard let rows = changed[query.compiled.table.id] else { continue }
        attempt(query) { () throws(FreshetError) in try query.follow(rows, commit: sequence) }
      }
    }
  }

  private func openLog(_ db: Database) throws -> ChangeLogReader? {
    if let log { return log }
    do {
      let log = try ChangeLogReader(connection: connection.raw)
      let head = try log.head()
      self.log = log
      sequence = head.sequence
      try reloadSchema(db, head)
      return log
    } catch let error as StoreError {
      guard error.code == ErrorCode.notTracked else { throw error }
      return nil
    }
  }

  private func loseTracking() {
    log = nil
    tables = []
    schemaVersion = -1
    let error = FreshetError(.schemaChanged, "the database is not tracked any more")
    for query in queries.values { end(query, error) }
  }

  /// The schema is another one: statements are compiled anew, and whatever may have changed with it is read again.
  private func reloadSchema(_ db: Database, _ head: LogHead) throws {
    tables = try ChangeLog.followedTables(db)
    schemaVersion = head.schemaVersion
    for query in queries.values { recompile(query) }
  }

  private func recompile(_ query: FollowedQuery) {
    do throws(FreshetError) {
      let (compiled, reader) = try compile(query.query)
      let isSame = try query.recompile(compiled, reader, commit: sequence)
      dirty[ObjectIdentifier(query)] = query
      if isSame { return }
      for subscription in query.subscriptions.values { startOver(subscription) }
    } catch {
      end(query, FreshetError(.schemaChanged, "the schema has changed: \(error.message)"))
    }
  }

  func compile(_ query: Query) throws(FreshetError) -> (CompiledQuery, ResultReader) {
    let compiled = try QueryCompiler.compile(query, tables: tables, checker: checker)
    let reader = try ResultReader(compiled, connection: connection.raw, encoding: connection.encoding, seed: seed)
    return (compiled, reader)
  }

  /// Changes a query's version; when that fails the query is over.
  private func attempt(_ query: FollowedQuery, _ change: () throws(FreshetError) -> Void) {
    do throws(FreshetError) {
      try change()
      dirty[ObjectIdentifier(query)] = query
    } catch { end(query, error) }
  }

  /// Ends all subscriptions of a query with an error.
  private func end(_ query: FollowedQuery, _ error: FreshetError) {
    queries[query.query] = nil
    dirty[ObjectIdentifier(query)] = nil
    for subscription in query.subscriptions.values { end(subscription, error) }
  }

  func end(_ subscription: Subscription, _ error: FreshetError) {
    subscription.deferred = []
    remove(subscription)
    output.subscriptionEnded(subscription.key)
    output.send(.error(error, isFatal: true), shape: subscription.shape, to: [subscription.key])
  }
}
