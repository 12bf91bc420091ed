package import Ground
package import LiveQuery
package import QueryCompiler
package import Store

/// Settings that all readers of a follower share.
package struct ReaderSettings {
  /// The seed of the stamps of contents.
  let seed = UInt64.random(in: 0...UInt64.max)
  package var limits: ResultReader.Limits
  package let clock: MonotonicClock

  package init(limits: ResultReader.Limits, clock: MonotonicClock) {
    self.limits = limits
    self.clock = clock
  }

  /// The number of rows from which on free memory is returned to the system after a run.
  package static let largeFrom = 20_000

  package func reader(_ statements: QueryStatements, _ parameters: [SQLValue]) -> ResultReader {
    ResultReader(statements.result, parameters: parameters, seed: seed, limits: limits, clock: clock)
  }
}
