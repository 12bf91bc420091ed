package import LiveQuery
package import Logging
package import Store
import Synchronization

/// Runs of queries that took long: logged, and counted by query.
///
/// Memory is bounded: counts are kept of `capacity` queries. When there are more, the one with the fewest slow runs is counted among the
/// others from then on, so what is slow often stays.
///
/// Any thread: one lock.
package final class SlowQueries: Sendable {
  /// Runs that take at least so long are slow; zero: none is.
  private let threshold: Nanoseconds
  /// Of the published queries.
  private let names: [Fingerprint: String]
  private let capacity: Int
  private let logger: Logger
  private let state = Mutex<(counts: [Fingerprint: Int], others: Int)>(([:], 0))

  package init(
    threshold: Duration, names: [Fingerprint: String] = [:], capacity: Int = 50, logger: Logger
  ) {
    self.threshold = Nanoseconds(threshold)
    self.names = names
    self.capacity = capacity
    self.logger = logger
  }

  /// A run of a query has ended, well or not.
  package func note(_ query: Query, _ duration: Nanoseconds) {
    guard threshold > .zero, duration >= threshold else { return }
    let fingerprint = Fingerprint(of: query)
    count(fingerprint)
    var metadata: Logger.Metadata = [
      "fingerprint": "\(fingerprint)", "milliseconds": "\(duration.count / 1_000_000)",
    ]
    if query.access.isPublished, let name = names[fingerprint] { metadata["name"] = "\(name)" }
    logger.warning("a query was slow", metadata: metadata)
  }

  private func count(_ fingerprint: Fingerprint) {
    state.withLock { state in
      if state.counts[fingerprint] == nil, state.counts.count >= capacity,
        let rarest = state.counts.min(by: { ($0.value, $0.key.description) < ($1.value, $1.key.description) })
      {
        state.others += rarest.value
        state.counts[rarest.key] = nil
      }
      state.counts[fingerprint, default: 0] += 1
    }
  }

  /// Slow runs of each query that is told apart, and of all others.
  package var counts: (queries: [(fingerprint: Fingerprint, count: Int)], others: Int) {
    state.withLock { state in
      (
        state.counts.map { ($0.key, $0.value) }.sorted { $0.1 > $1.1 },
        state.others
      )
    }
  }
}
