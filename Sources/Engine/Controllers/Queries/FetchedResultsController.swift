import LiveQuery
import QueryCompiler
import RankedCollections
import Store

/// One query being followed by a follower: its statements, its result, and who subscribes.
///
/// Its `phase` says what it shows.
///
/// Owner: the follower's thread.
final class FetchedResultsController {
  let query: Query
  @exclusivity(unchecked) private(set) var shape: QueryShape
  /// In its shape.
  private(set) var number = 0
  private(set) var parameters: [SQLValue]
  @exclusivity(unchecked) private(set) var reader: ResultReader
  @exclusivity(unchecked) private(set) var result: VersionedResult
  var compiled: CompiledQuery { shape.compiled }

  /// In no order.
  var subscriptions: [SubscriptionKey: Subscription] = [:]
  /// Of those that get patches: who waits for a snapshot, or the rest of one, is in none of them.
  @exclusivity(unchecked) var groups = SubscriberGroups()
  /// Who waits for another version than the one that they have: requests for snapshots.
  var waiters: [WaitingRequest] = []
  /// When it is to be looked at next. To be set by `Deadlines` alone.
  var deadline = Deadlines.Place()
  /// When the last subscription left; nil while there is one.
  var idleSince: Instant?
  /// Whether all who get patches have the newest version.
  var isSettled: Bool { groups.all.allSatisfy { $0.state.held === result.newest } }
  var isIdle: Bool { subscriptions.isEmpty && waiters.isEmpty && blocked.isEmpty && reads.isEmpty }

  @exclusivity(unchecked) var phase = Phase.following { didSet { notePhase(oldValue) } }
  /// What clients asked, to be answered at a state that is not older than the one at which they asked.
  var blocked: [(command: FollowerCommand, commit: Int64)] = []
  /// Subscriptions whose clients did.
  var blockedSubscriptions: [(subscription: Subscription, commit: Int64)] = []
  /// Contents that readers are reading, or have read for those who wait.
  var reads: [PendingRead] = []
  /// How often in a row a run could not be joined, as too much had changed meanwhile.
  var failedJoins = 0
  /// When it has to be run again whatever happens; `distantFuture` for never.
  var refreshDue = Instant.distantFuture
  /// Whether it does not compile at the moment, which subscribers have been told.
  var awaitsSchema = false
  /// Whether subscribers have been told that it cannot be read at the moment.
  @exclusivity(unchecked) var hasFailed = false
  /// The self-check found it wrong: the next run begins from nothing.
  var isDistrusted = false
  /// What was checked last: how many ticks had seen changes, and the version.
  var checkedTick = -1
  var checkedVersion: ResultVersion?
  @exclusivity(unchecked) private(set) var trail = ListTrail()
  private(set) var lastRun = (end: Instant.distantPast, duration: Nanoseconds.zero)
  private let clock: MonotonicClock
  private let refreshInterval: Nanoseconds?

  /// Of the states that the follower has seen.
  let commits: FollowedCommits
  @exclusivity(unchecked) var names: VersionNames
  /// Part of the names of versions that are of no commit for certain: those of two controllers never agree.
  @exclusivity(unchecked) var nonce = FetchedResultsController.newNonce
  var sideVersions = 0
  /// The tick that has brought it to its newest version.
  @exclusivity(unchecked) var newestTick: UInt64 = 0
  @exclusivity(unchecked) var history: VersionHistory
  /// About what the newest version takes beside the one before, in bytes.
  @exclusivity(unchecked) private var newestBytes: Int
  /// For the newest versions, which columns of which units a version changed; nil: any.
  @exclusivity(unchecked) private var changes: [(version: Int, units: ConcernedUnits?)] = []
  /// Units in `changes`, and how many there may be: a client further behind is told all columns of a row that changed.
  @exclusivity(unchecked) private var notedUnits = 0
  private static let notedUnitsLimit = 20_000

  /// A change of one row copies about so much of a tree.
  private static let bytesPerChange = 4 << 10
  private static let bytesPerRow = 64

  /// - Parameter fetched: what its first run gave.
  init(
    _ query: Query, _ shape: QueryShape, _ settings: ReaderSettings, history: VersionHistory.Budget,
    _ commits: FollowedCommits, _ names: VersionNames, fetched: FetchedResult, duration: Nanoseconds
  ) {
    self.query = query
    self.shape = shape
    self.commits = commits
    self.names = names
    clock = settings.clock
    refreshInterval = query.refreshEvery.map { Nanoseconds($0) }
    parameters = shape.compiled.values(of: query)
    reader = settings.reader(shape.statements, parameters)
    reader.memory = fetched.memory
    result = VersionedResult(fetched.editor, limit: shape.compiled.limit, alongside: fetched.alongside)
    newestBytes = fetched.editor.tree.count * Self.bytesPerRow
    self.history = VersionHistory(history)
    number = shape.add(self)
    // Long ago: after the first change it is run again at once.
    lastRun = (.distantPast, duration)
    scheduleRefresh(clock.now)
    beginSpan()
  }

  /// To be called when nobody follows it any more.
  func close() {
    shape.remove(number)
    history.removeAll()
  }

  // MARK: - Versions

  var versionCount: Int { history.count }

  var description: OpenList {
    OpenList(
      query: query, subscriptions: subscriptions.count, rows: result.newest.tree.count,
      sections: result.newest.tree.sectionCount, maintenance: compiled.maintenance, reason: compiled.sentence,
      tables: compiled.tableNames)
  }

  /// The newest version is sent to somebody, who may come back with its name.
  func newestWasSent(_ now: Instant) { history.add(result.newest, bytes: newestBytes, now: now) }

  // MARK: - Following

  /// Looks up units that may have changed.
  ///
  /// - Returns: whether there is a new version.
  /// - Throws: what keeps it from being followed so: it has to be run again, or is over.
  func follow(_ units: ConcernedUnits, alongside: Bool) throws(FreshetError) -> Bool {
    do {
      let values = alongside ? try reader.alongside() : nil
      let isNew = try result.update(alongside: values) { editor in try reader.refresh(units, in: &editor) }
      if isNew { note(units, bytes: units.count * Self.bytesPerChange) } else { reader.forgetContents() }
      trail.note(.looked, units: units.count, commit: commits.number.commit, version: result.newest.number)
      return isNew
    } catch let error as FreshetError { throw error } catch { throw FreshetError(.internal, "\(error)") }
  }

  /// Runs the query again, on this thread.
  ///
  /// - Returns: whether there is a new version.
  func runHere() throws(FreshetError) -> Bool {
    let start = clock.now
    defer { noteRun(clock.now - start) }
    return install(try reader.run(into: result.editor), at: commits.number)
  }

  /// Takes a reader's result for the newest version.
  ///
  /// - Parameters:
  ///   - number: of the state that the run saw.
  ///   - duration: of the run.
  /// - Returns: whether there is a new version.
  func install(_ fetched: FetchedResult, at number: CommitNumber, duration: Nanoseconds) -> Bool {
    defer { noteRun(duration) }
    return install(fetched, at: number)
  }

  private func install(_ fetched: FetchedResult, at number: CommitNumber) -> Bool {
    reader.memory = fetched.memory
    reader.forgetContents()
    let way = isDistrusted ? ListTrail.Way.mended : .ran
    isDistrusted = false
    let isNew = result.replace(fetched.editor, alongside: fetched.alongside)
    if isNew {
      let rows = result.newest.tree.count
      let bytes = fetched.changes.map { min(rows * Self.bytesPerRow, ($0.count + 1) * Self.bytesPerChange) }
      note(fetched.changes, bytes: bytes ?? rows * Self.bytesPerRow)
    }
    trail.note(way, units: fetched.changes?.count, commit: number.commit, version: result.newest.number)
    return isNew
  }

  private func noteRun(_ duration: Nanoseconds) {
    let now = clock.now
    lastRun = (now, duration)
    scheduleRefresh(now)
  }

  private func scheduleRefresh(_ now: Instant) {
    if let refreshInterval { refreshDue = now + refreshInterval }
  }

  /// The same query, compiled anew: its result is to be fetched next.
  ///
  /// - Returns: whether its columns are what they were.
  func adopt(_ shape: QueryShape, _ settings: ReaderSettings) -> Bool {
    let before = compiled
    self.shape.remove(number)
    self.shape = shape
    parameters = shape.compiled.values(of: query)
    reader = settings.reader(shape.statements, parameters)
    number = shape.add(self)
    let isSame = compiled.columns == before.columns && compiled.keyColumns == before.keyColumns
    if !isSame {
      // Rows of before cannot be told from those of now.
      forgetVersions()
    }
    return isSame
  }

  func hasRows(ofUnit unit: Bytes) -> Bool {
    compiled.unit?.isKey == true ? result.contains(unit) : reader.hasRows(ofUnit: Array(unit))
  }

  // MARK: - Changed columns

  private func note(_ units: ConcernedUnits?, bytes: Int) {
    noteVersion()
    newestBytes = bytes
    if commits.holdsEveryVersion { newestWasSent(clock.now) }
    changes.append((result.newest.number, units))
    // A version counts as a unit, so that empty ones do not pile up.
    notedUnits += 1 + (units?.count ?? 0)
    while notedUnits > Self.notedUnitsLimit, let oldest = changes.first {
      notedUnits -= 1 + (oldest.units?.count ?? 0)
      changes.removeFirst()
    }
  }

  /// By row of the newest version, the columns in which it may differ from `held`, a version of this query.
  func changedColumns(of rows: [SectionedTree.Row], since held: ResultVersion) -> [ColumnSet] {
    guard let oldest = changes.first?.version, oldest <= held.number + 1 else {
      return Array(repeating: .all, count: rows.count)
    }
    let since = changes.suffix(changes.count - (changes.lastIndex { $0.version <= held.number } ?? -1) - 1)
    let identityIsUnit = reader.identityIsUnit
    return rows.map { row in
      var columns = ColumnSet()
      for change in since {
        guard let units = change.units else { return .all }
        let known =
          identityIsUnit
          ? units.columns(of: row)
          : reader.unit(of: row.withIdentity { Array($0) })?.withUnsafeBytes { units.columns(of: $0) }
        if let known { columns.formUnion(known) }
      }
      // Another unit may give the row of this key now.
      let mayBeAnother =
        !identityIsUnit && compiled.keyColumns.indices.contains { columns.contains($0) }
      return columns.isEmpty || mayBeAnother ? .all : columns
    }
  }
}

/// A request for a snapshot that waits for another version.
struct WaitingRequest {
  let request: FollowerCommand.SnapshotRequest
  let deadline: Instant
  /// The version that its client has; nil: of another epoch.
  var held: ResultVersion?
  /// What its client calls it.
  let version: String
}

/// What all readers of a follower have in common.
struct ReaderSettings {
  /// Of the stamps of contents.
  let seed = UInt64.random(in: 0...UInt64.max)
  var limits: ResultReader.Limits
  let clock: MonotonicClock

  func reader(_ statements: QueryStatements, _ parameters: [SQLValue]) -> ResultReader {
    ResultReader(statements.result, parameters: parameters, seed: seed, limits: limits, clock: clock)
  }
}
