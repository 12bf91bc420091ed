package import ChangeCapture
import Following
package import Ground
package import LiveQuery
import Logging
import QueryCompiler
import RankedCollections
package import Requests
import Store

/// Compares lists with their queries. A reader runs a list's query in the state that the list shows. A difference is
/// counted, logged with the list's history, and mended.
///
/// Owner: the follower's thread.
package final class ListChecks {
  private let lists: Lists
  private let context: FollowerContext
  @exclusivity(unchecked) private var schedule: SelfCheck
  /// The last ticks, for the log.
  @exclusivity(unchecked) private var trail = TickTrail()

  package init(_ lists: Lists) {
    self.lists = lists
    context = lists.context
    schedule = SelfCheck(context.configuration.selfCheck, context.clock.now)
  }

  /// When to choose a list to check.
  package var next: Instant { lists.byQuery.isEmpty ? .distantFuture : schedule.next }

  package func note(_ tick: CapturedTick, _ capture: ChangeCapture) {
    trail.note(tick, capture.state, commit: lists.commit)
  }

  /// Called at the end of each step, outside transactions.
  ///
  /// - Parameter isBusy: whether the follower has other work.
  package func step(isBusy: Bool) {
    switch schedule.mode {
    case .off: break
    case .always:
      for list in lists.byQuery.values
      where list.checked.tick != context.statistics.ticks || list.checked.version !== list.result.newest {
        check(list)
      }
    case .idle:
      let now = context.clock.now
      if now < schedule.next { return }
      guard !isBusy, isIdle, let list = lists.byQuery.values.randomElement(), check(list) else {
        return schedule.postpone(now, among: fileCount)
      }
    }
  }

  /// How many files the process follows.
  private var fileCount: Int { context.readers.file.watcher.fileCount }

  private var isIdle: Bool {
    let jobs = context.readers.counts
    return !context.mustTick && lists.dirty.isEmpty && jobs.waiting == 0 && jobs.running == 0
  }

  /// Posts a comparison of a list to a reader.
  ///
  /// - Returns: false if the list cannot be compared: it does not show the last tick's state, other connections cannot
  ///   identify that state, or the list is too large.
  @discardableResult
  private func check(_ list: LiveList, isConfirmation: Bool = false) -> Bool {
    guard let place = lists.place, place.isSame(as: place), list.isFollowing, !list.machine.hasFailed,
      !list.shape.isOutdated, list.query.refreshEvery == nil, list.rowCount <= SelfCheck.mostRows,
      isConfirmation || !schedule.isPending(list)
    else { return false }
    list.checked = (context.statistics.ticks, list.result.newest)
    let request = CheckRequest(
      run: lists.runRequest(list, nil, fromNothing: !isConfirmation), tree: list.result.editor.tree,
      alongside: list.result.newest.alongside, place: place)
    let check = SelfCheck.Pending(
      list: list, version: list.result.newest.number, isConfirmation: isConfirmation, started: context.clock.now)
    _ = lists.jobs.post(.check(check), for: .server, { .checked($0) }) { database, interruption throws(FreshetError) in
      try database.check(request, interruption)
    }
    schedule.began(list)
    return true
  }

  package func ended(_ check: SelfCheck.Pending, _ result: Result<CheckResult, FreshetError>) {
    schedule.ended(check, context.clock.now, among: fileCount)
    let list = check.list
    guard lists.byQuery[list.query] === list else { return }
    if list.isLarge { context.freedRows += list.rowCount }
    switch result {
    // Requests report a failed read; a later tick brings the state that the reader saw.
    case .failure, .success(.moved): break
    case .success(.agrees): context.statistics.selfChecks += 1
    case .success(.differs(let divergence)):
      if check.isConfirmation {
        context.statistics.selfChecks += 1
        mend(
          list,
          because: [
            "rows": "\(divergence.heldRows) of \(divergence.freshRows)",
            "sections": "\(divergence.heldSections) of \(divergence.freshSections)",
            "differing": "\(divergence.differingRows)",
          ])
      } else if list.result.newest.number == check.version {
        self.check(list, isConfirmation: true)
      }
    }
  }

  /// Called when a list's contents could not be read. If the error proves that the list is wrong, the query is run from
  /// scratch.
  ///
  /// - Returns: whether the list is wrong.
  @discardableResult
  package func mendIfMissing(_ list: LiveList, _ error: FreshetError) -> Bool {
    guard error == ResultReader.missing, lists.byQuery[list.query] === list else { return false }
    if !list.machine.isDistrusted { mend(list, because: ["missing": "a row"]) }
    return true
  }

  /// Corrects a wrong list: the query is run from scratch, and all subscribers get a snapshot.
  private func mend(_ list: LiveList, because reason: Logger.Metadata) {
    // The comparison proves nothing, because the file is about to be reopened.
    if lists.capture?.isDoubtful == true { return }
    context.statistics.divergences += 1
    let known: Logger.Metadata = [
      "fingerprint": "\(Fingerprint(of: list.query))", "commit": "\(lists.commit)",
      "state": "\(lists.place?.state.description ?? "")",
      "maintenance": "\(list.compiled.maintenance)",
      "ticks": "\(trail.description { lists.evaluation.tableName($0) })",
      "updates": "\(list.history)",
    ]
    context.logger.critical(
      "a list differed from its query; it is read anew", metadata: known.merging(reason) { $1 })
    lists.distrust(list)
  }
}
