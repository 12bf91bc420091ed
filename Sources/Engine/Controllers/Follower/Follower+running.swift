import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
import Store

// Queries that are run again.
extension Follower {
  /// What a reader may miss while it runs a query; beyond it the query is run once more.
  static let missedLimit = 20_000
  /// After so many runs that could not be joined in a row, the next is made in a tick: it sees the tick's state.
  static let joinAttempts = 3

  /// Has a reader run the query.
  func run(_ query: FetchedResultsController) {
    if case .running = query.phase { return }
    if query.shape.isOutdated { return recompile(query.shape) }
    let wanted = snapshots.keys.first { $0.query == ObjectIdentifier(query) }.map { WantedContents(window: $0.window) }
    let request = runRequest(query, wanted, fromNothing: query.isDistrusted)
    let id = post(query.requester, tellsState: true, { .ran($0) }) { database, interruption throws(FreshetError) in
      try database.run(request, interruption)
    }
    query.phase = .running(.init(id: id, shown: query.shown, asked: commit, ticks: statistics.ticks))
    runs[id] = query
    statistics.refetches += 1
  }

  /// The request that has a reader run a followed query again.
  ///
  /// - Parameter fromNothing: whether what is known of the result is not to be used.
  func runRequest(
    _ query: FetchedResultsController, _ wanted: WantedContents?, fromNothing: Bool = false
  ) -> RunRequest {
    RunRequest(
      query: query.query, compiled: query.compiled,
      before: fromNothing ? nil : (query.result.editor, query.reader.memory),
      wanted: wanted, settings: settings(of: query.query), timeout: timeout(of: query.query))
  }

  /// Somebody waits for what the query gives now.
  func hurry(_ query: FetchedResultsController) { if case .stale = query.phase { run(query) } }

  func ran(
    _ query: FetchedResultsController, _ run: FetchedResultsController.Run, _ result: Result<RunResult, FreshetError>
  ) {
    switch result {
    case .failure(let error):
      query.phase = .stale(shown: run.shown, due: .distantFuture)
      fail(query, error, run.shown)
      rejectBlocked(query, error)
    case .success(let result):
      guard let place, result.place.hasSameSchema(as: place), result.compiled === query.compiled else {
        query.phase = .stale(shown: run.shown, due: .distantPast)
        return scheduleRun(of: query)
      }
      join(query, run, result, place)
    }
  }

  /// What clients asked of a query cannot be answered.
  func rejectBlocked(_ query: FetchedResultsController, _ error: FreshetError) {
    let (commands, subscriptions) = (query.blocked, query.blockedSubscriptions)
    query.blocked = []
    query.blockedSubscriptions = []
    for (command, _) in commands { reject(command, error, hasWaited: true) }
    for (subscription, _) in subscriptions { refuseNext(of: subscription.key, error) }
  }

  private func join(
    _ query: FetchedResultsController, _ run: FetchedResultsController.Run, _ result: RunResult, _ place: StatePlace
  ) {
    let shown = number(of: result.place, asked: run.asked)
    var isNew = query.install(result.fetched, at: shown, duration: result.duration)
    if query.isLarge { freedRows += query.rowCount }
    query.phase = .stale(shown: shown, due: .distantPast)
    query.wasShown(at: shown)
    keep(result, of: query)
    let isKnown = statistics.ticks == run.ticks || run.passed?.isSame(as: result.place.state) == true
    if result.place.isSame(as: place) || (isKnown && run.missed.isNothing) {
      query.phase = .following
    } else if query.compiled.isRefetched {
      query.phase = .stale(shown: shown, due: nextRun(of: query))
    } else {
      isNew = lookUp(isKnown ? run.missed : .unknown, query) || isNew
    }
    if query.isCurrent { query.failedJoins = 0 }
    query.hasFailed = false
    if isNew { dirty[ObjectIdentifier(query)] = query }
    scheduleRun(of: query)
    resumeBlocked(query, asked: run.asked)
  }

  /// Brings the result of a run to the tick's state.
  ///
  /// - Returns: whether there is a new version.
  private func lookUp(_ missed: FetchedResultsController.Missed, _ query: FetchedResultsController) -> Bool {
    do throws(FreshetError) {
      guard let database else { return false }
      let isNew: Bool
      if let units = missed.units {
        isNew = try database.connection.deadline.limited(to: timeout(of: query.query)) {
          () throws(FreshetError) in try query.follow(units, alongside: missed.concernsAlongside)
        }
      } else {
        query.failedJoins += 1
        if query.failedJoins < Self.joinAttempts { return false }
        let start = clock.now
        defer { readers.slow.note(query.query, clock.now - start) }
        isNew = try database.connection.deadline.limited(to: timeout(of: query.query)) {
          () throws(FreshetError) in try query.runHere()
        }
      }
      query.phase = .following
      return isNew
    } catch {
      fail(query, error, query.shown)
      return false
    }
  }

  /// Answers those who waited for what leads to the newest version, and have been sent it.
  func answerBlocked(_ query: FetchedResultsController) {
    guard query.isCurrent, !query.blockedSubscriptions.isEmpty else { return }
    let blocked = query.blockedSubscriptions
    query.blockedSubscriptions = blocked.filter(\.subscription.isBehind)
    for (subscription, _) in blocked where !subscription.isBehind { answerNext(subscription) }
  }

  /// Performs what waited, as far as it was asked before the run was.
  func resumeBlocked(_ query: FetchedResultsController, asked: Int64) {
    let (commands, subscriptions) = (query.blocked, query.blockedSubscriptions)
    let mayResume = { (commit: Int64) in query.isCurrent || commit <= asked }
    query.blocked = commands.filter { !mayResume($0.commit) }
    query.blockedSubscriptions = subscriptions.filter { !mayResume($0.commit) }
    resume(query) {
      for (command, commit) in commands where mayResume(commit) { perform(command) }
      for (subscription, commit) in subscriptions where mayResume(commit) && !subscription.state.isOver {
        answerNext(subscription)
      }
    }
    if !query.blocked.isEmpty || !query.blockedSubscriptions.isEmpty { hurry(query) }
    noteIdle(query)
  }
}
