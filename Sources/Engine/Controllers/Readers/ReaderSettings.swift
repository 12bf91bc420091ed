import Ground
import LiveQuery
import QueryCompiler
import Store

/// Settings that all readers of a follower share.
struct ReaderSettings {
  /// Seeds the stamps of contents.
  let seed = UInt64.random(in: 0...UInt64.max)
  var limits: ResultReader.Limits
  let clock: MonotonicClock

  /// Rows from which on memory is given back after a run.
  static let largeFrom = 20_000

  func reader(_ statements: QueryStatements, _ parameters: [SQLValue]) -> ResultReader {
    ResultReader(statements.result, parameters: parameters, seed: seed, limits: limits, clock: clock)
  }
}
