import LiveQuery
import QueryCompiler
import Store

// Lists without clients. They are followed for a while, so that clients that come back go on where they were; what that takes is
// bounded, and readers do nothing for them.
extension Follower {
  /// The last client may have left a query: from now on its time runs, and what readers do for it is given up.
  func noteIdle(_ query: FetchedResultsController) {
    guard query.isIdle, !kept.contains(query.query) else { return }
    cancelRun(of: query)
    cancelRecompilation(of: query.shape)
    guard query.idleSince == nil else { return }
    let now = clock.now
    query.idleSince = now
    deadlines.wake(query, at: now + min(intervals.linger, Self.shortLinger))
  }

  /// Whether readers may run a query: a list without clients is run again when one comes.
  func mayRun(_ query: FetchedResultsController) -> Bool { !query.isIdle || kept.contains(query.query) }

  private func cancelRecompilation(of shape: QueryShape) {
    guard let job = shape.recompilation, !shape.queries.values.contains(where: mayRun) else { return }
    readers.cancel(job)
    recompilations[job] = nil
    shape.recompilation = nil
  }

  /// How long each list lingers, however many do.
  static let shortLinger = Nanoseconds.milliseconds(5_000)
  /// What lists may hold that linger for longer: the one whose clients left last may hold any amount.
  static let lingeringBytes = 4 << 20

  /// - Returns: whether the query had no clients for so long that it was let go.
  func letGoIfIdle(_ query: FetchedResultsController, _ now: Instant) -> Bool {
    // With others, just now.
    if queries[query.query] !== query { return true }
    guard query.isIdle, let since = query.idleSince else { return false }
    if since + intervals.linger <= now {
      forget(query)
      return true
    }
    if since + Self.shortLinger <= now { letGoCrowd(now) }
    if queries[query.query] !== query { return true }
    deadlines.wake(query, at: since + (since + Self.shortLinger <= now ? intervals.linger : Self.shortLinger))
    return false
  }

  /// Lets go of lists beyond what those may hold that linger, the longest idle first. O(lists × log lists).
  private func letGoCrowd(_ now: Instant) {
    let idle = queries.values.compactMap { query in query.idleSince.map { (query, since: $0) } }
      .filter { $0.0.isIdle }
      .sorted { $0.since > $1.since }
    var bytes = 0
    for (place, (query, since)) in idle.enumerated() {
      bytes += query.heldBytes
      if place > 0, bytes > Self.lingeringBytes, since + Self.shortLinger <= now { forget(query) }
    }
  }
}

extension FetchedResultsController {
  /// About what a list takes besides its rows, in rows.
  static let rowsWorthOfStatements = 1_000
  /// About what a list holds, in bytes.
  var heldBytes: Int { (rowCount + Self.rowsWorthOfStatements) * (compiled.isRefetched ? 200 : 90) }
}
