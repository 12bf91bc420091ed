package import Ground
package import LiveQuery
package import Logging
import Store
import Synchronization

/// Logs slow runs of queries, and counts them by query.
///
/// Its memory is limited: `capacity` queries have counts of their own. If there are more, the one with the fewest slow
/// runs is counted among the others, so queries that are often slow keep their counts.
///
/// Any thread. One lock guards the state.
package final class SlowQueries: Sendable {
  /// Runs that take at least this long are slow; zero if no runs are.
  private let threshold: Nanoseconds
  /// Names of published queries.
  private let names: [Fingerprint: String]
  private let capacity: Int
  private let logger: Logger
  private let state = Mutex<(queries: [Fingerprint: Slow], others: Int)>(([:], 0))

  /// A slow query.
  package struct Slow: Sendable {
    /// The query without its parameters' values and without the client's identity.
    package let query: Query
    package fileprivate(set) var count = 0
    package fileprivate(set) var last = Nanoseconds.zero
    package fileprivate(set) var longest = Nanoseconds.zero
    /// The time order of slow runs: a number that increases with each slow run of any query.
    fileprivate var order = 0

    fileprivate init(_ query: Query) {
      var query = query
      query.parameters = .none
      query.access = Query.Access()
      self.query = query
    }
  }

  package init(
    threshold: Duration, names: [Fingerprint: String] = [:], capacity: Int = 50, logger: Logger
  ) {
    self.threshold = Nanoseconds(threshold)
    self.names = names
    self.capacity = capacity
    self.logger = logger
  }

  /// Called when a query's run has ended, successfully or not.
  package func note(_ query: Query, _ duration: Nanoseconds) {
    guard threshold > .zero, duration >= threshold else { return }
    let fingerprint = Fingerprint(of: query)
    count(query, fingerprint, duration)
    var metadata: Logger.Metadata = [
      "fingerprint": "\(fingerprint)", "milliseconds": "\(duration.count / 1_000_000)",
      "from": "\(QueryOutline.tables(of: query).prefix(200))",
    ]
    if query.access.isPublished, let name = names[fingerprint] { metadata["name"] = "\(name)" }
    logger.warning("a query was slow", metadata: metadata)
    logger.debug(
      "the slow query", metadata: ["fingerprint": "\(fingerprint)", "query": "\(QueryOutline(query))"])
  }

  private func count(_ query: Query, _ fingerprint: Fingerprint, _ duration: Nanoseconds) {
    state.withLock { state in
      if state.queries[fingerprint] == nil, state.queries.count >= capacity,
        let rarest = state.queries.min(by: {
          ($0.value.count, $0.key.description) < ($1.value.count, $1.key.description)
        })
      {
        state.others += rarest.value.count
        state.queries[rarest.key] = nil
      }
      let order = (state.queries.values.map(\.order).max() ?? 0) + 1
      var slow = state.queries[fingerprint] ?? Slow(query)
      slow.count += 1
      slow.last = duration
      slow.longest = max(slow.longest, duration)
      slow.order = order
      state.queries[fingerprint] = slow
    }
  }

  /// The number of slow runs of each query with a count of its own, and of all other queries together.
  package var counts: (queries: [(fingerprint: Fingerprint, count: Int)], others: Int) {
    state.withLock { state in
      (
        state.queries.map { ($0.key, $0.value.count) }.sorted { $0.1 > $1.1 },
        state.others
      )
    }
  }

  /// Queries with counts of their own, most recently slow first.
  package var newest: [Slow] {
    state.withLock { state in state.queries.values.sorted { $0.order > $1.order } }
  }
}
