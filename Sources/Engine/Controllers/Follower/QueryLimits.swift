import LiveQuery
import Store

/// What queries of one role may take, where that is less than what all may.
package struct QueryLimits: Sendable {
  package var time: Duration?
  package var rows: Int?
  package var bytes: Int?

  package init(time: Duration?, rows: Int?, bytes: Int?) {
    self.time = time
    self.rows = rows
    self.bytes = bytes
  }
}

extension Follower {
  private func limits(of query: Query) -> QueryLimits? { query.access.role.flatMap { configuration.queryLimits[$0] } }

  /// How a query is read.
  func settings(of query: Query) -> ReaderSettings {
    guard let limits = limits(of: query) else { return readerSettings }
    var settings = readerSettings
    settings.limits.rows = min(settings.limits.rows, limits.rows ?? .max)
    settings.limits.bytes = min(settings.limits.bytes, limits.bytes ?? .max)
    settings.limits.time = timeout(of: query)
    return settings
  }

  /// How long a query may run.
  func timeout(of query: Query) -> Nanoseconds {
    guard let time = limits(of: query)?.time else { return intervals.queryTimeout }
    return min(intervals.queryTimeout, Nanoseconds(time))
  }
}
