import ChangeCapture
import LiveQuery
import Logging
import QueryCompiler
import RankedCollections
import Store

// A server checks itself: a reader runs a list's query in the state that the list shows, and compares. What differs is counted, logged
// with what led there, and mended.
extension Follower {
  /// At the end of a step, outside of transactions.
  func checkLists() {
    switch selfCheck.mode {
    case .off: break
    case .always:
      for query in queries.values
      where query.checkedTick != statistics.ticks || query.checkedVersion !== query.result.newest {
        check(query)
      }
    case .idle:
      let now = clock.now
      if now < selfCheck.next { return }
      guard isIdle, let query = queries.values.randomElement(), check(query) else { return selfCheck.postpone(now) }
    }
  }

  private var isIdle: Bool {
    let jobs = readers.counts
    return !hasFailed && !mustTick && dirty.isEmpty && loading.isEmpty && jobs.waiting == 0 && jobs.running == 0
  }

  /// Has a reader compare a list.
  ///
  /// - Returns: whether it can be compared: it shows the state that was seen last, which others can recognise, and is not too large.
  @discardableResult
  private func check(_ query: FetchedResultsController, isConfirmed: Bool = false) -> Bool {
    guard let place, place.isSame(as: place), query.isCurrent, !query.hasFailed, !query.shape.isOutdated,
      query.query.refreshEvery == nil,
      query.rowCount <= SelfCheck.mostRows, isConfirmed || !selfCheck.isPending(query)
    else { return false }
    query.checkedTick = statistics.ticks
    query.checkedVersion = query.result.newest
    let request = CheckRequest(
      run: runRequest(query, nil, fromNothing: !isConfirmed), tree: query.result.editor.tree,
      alongside: query.result.newest.alongside, place: place)
    let id = post(.server, { .checked($0) }) { database, interruption throws(FreshetError) in
      try database.check(request, interruption)
    }
    selfCheck.begin(
      id, .init(query: query, version: query.result.newest.number, isConfirmed: isConfirmed, started: clock.now))
    return true
  }

  func checked(_ id: UInt64, _ result: Result<CheckResult, FreshetError>) {
    guard let check = selfCheck.end(id, clock.now), queries[check.query.query] === check.query else { return }
    if check.query.isLarge { freedRows += check.query.rowCount }
    switch result {
    // What keeps it from being read is reported by what needs it; another state is seen by another tick.
    case .failure, .success(.moved): break
    case .success(.agrees): statistics.selfChecks += 1
    case .success(.differs(let divergence)):
      if check.isConfirmed {
        statistics.selfChecks += 1
        mend(check.query, divergence)
      } else if check.query.result.newest.number == check.version {
        self.check(check.query, isConfirmed: true)
      }
    }
  }

  private func mend(_ query: FetchedResultsController, _ divergence: ResultDivergence) {
    mend(
      query,
      because: [
        "rows": "\(divergence.heldRows) of \(divergence.freshRows)",
        "sections": "\(divergence.heldSections) of \(divergence.freshSections)",
        "differing": "\(divergence.differingRows)",
      ])
  }

  /// Contents of a list could not be read. Where that shows that the list is wrong, it is read anew.
  ///
  /// - Returns: whether it does.
  @discardableResult
  func mendIfMissing(_ query: FetchedResultsController, _ error: FreshetError) -> Bool {
    guard error == ResultReader.missing, queries[query.query] === query else { return false }
    if !query.isDistrusted { mend(query, because: ["missing": "a row"]) }
    return true
  }

  /// A list is wrong: everybody gets a snapshot of a run that shares nothing with it.
  private func mend(_ query: FetchedResultsController, because reason: Logger.Metadata) {
    statistics.divergences += 1
    let known: Logger.Metadata = [
      "fingerprint": "\(Fingerprint(of: query.query))", "commit": "\(commit)",
      "state": "\(place?.state.description ?? "")",
      "maintenance": "\(query.compiled.maintenance)",
      "ticks": "\(trail.description { storages[$0]?.table.name })",
      "updates": "\(query.trail.description(commit: commit, version: query.result.newest.number))",
    ]
    logger.critical(
      "a list differed from its query; it is read anew", metadata: known.merging(reason) { $1 })
    cancelRun(of: query)
    query.forgetVersions()
    query.isDistrusted = true
    query.phase = .stale(shown: query.shown, due: .distantPast)
    for subscription in query.subscriptions.values { startOver(subscription) }
    run(query)
  }
}
