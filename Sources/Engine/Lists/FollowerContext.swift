package import Following
package import Ground
package import LiveQuery
package import Logging
package import Requests
import Store

/// Settings and counters that a follower's parts share. The settings are immutable.
///
/// Owner: the follower's thread.
package final class FollowerContext {
  package let configuration: FollowerConfiguration
  package let clock: MonotonicClock
  package let intervals: Intervals
  package let output: any SubscriptionOutput
  package let readers: ReaderPool
  package let logger: Logger
  /// Its number in the pool.
  package let number: Int
  private let readerSettings: ReaderSettings
  @exclusivity(unchecked) package var statistics = FollowerStatistics()
  /// When each list needs attention without an event.
  @exclusivity(unchecked) package var deadlines = Deadlines()
  /// Whether work remains that no event will announce, so that the loop must not wait.
  @exclusivity(unchecked) package var mustTick = false
  /// The number of rows freed or built since free memory was last returned to the system.
  @exclusivity(unchecked) var freedRows = 0

  package init(
    _ configuration: FollowerConfiguration, output: any SubscriptionOutput, readers: ReaderPool, logger: Logger,
    number: Int
  ) {
    self.configuration = configuration
    clock = configuration.clock
    intervals = Intervals(configuration)
    self.output = output
    self.readers = readers
    self.logger = logger
    self.number = number
    var limits = ResultReader.Limits(
      rows: configuration.rowLimit, bytes: configuration.resultBytes, time: configuration.queryTimeout)
    limits.keptRowBytes = configuration.keptRowBytes / 2
    readerSettings = ReaderSettings(limits: limits, clock: clock)
  }

  private func limits(of query: Query) -> QueryLimits? { query.access.role.flatMap { configuration.queryLimits[$0] } }

  /// The settings for reading a query's result.
  func settings(of query: Query) -> ReaderSettings {
    guard let limits = limits(of: query) else { return readerSettings }
    var settings = readerSettings
    settings.limits.rows = min(settings.limits.rows, limits.rows ?? .max)
    settings.limits.bytes = min(settings.limits.bytes, limits.bytes ?? .max)
    settings.limits.time = timeout(of: query)
    return settings
  }

  /// The longest that a query may run.
  package func timeout(of query: Query) -> Nanoseconds {
    guard let time = limits(of: query)?.time else { return intervals.queryTimeout }
    return min(intervals.queryTimeout, Nanoseconds(time))
  }
}

/// The configuration's durations, converted once.
package struct Intervals {
  package let linger: Nanoseconds
  package let queryTimeout: Nanoseconds
  let refetch: Nanoseconds
  package let retry: Nanoseconds

  init(_ configuration: FollowerConfiguration) {
    linger = Nanoseconds(configuration.linger)
    queryTimeout = Nanoseconds(configuration.queryTimeout)
    refetch = Nanoseconds(configuration.refetchInterval)
    retry = Nanoseconds(configuration.retryInterval)
  }
}
