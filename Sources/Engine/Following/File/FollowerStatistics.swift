package import ChangeCapture
package import Ground

/// Statistics for `/metrics`: counts since the follower's start, and present amounts.
package struct FollowerStatistics: Sendable {
  /// Queries followed.
  package var controllers = 0
  package var subscriptions = 0
  /// Versions kept for clients that resume.
  package var versions = 0
  /// Ticks that found a change of the database.
  package var ticks = 0
  /// Ticks that began without a transaction.
  package var frameTicks = 0
  /// Ticks that began without a transaction, and needed one when the file had already changed.
  package var lostStates = 0
  package var capture = CaptureStatistics()
  /// Units of results that were brought up to date: from the pages of commits, and by look-ups.
  package var evaluatedUnits = 0
  package var lookedUpUnits = 0
  /// Queries run from scratch.
  package var refetches = 0
  package var snapshots = 0
  package var patches = 0
  /// Lists that were compared with a fresh run of their queries, and the number of them that differed.
  package var selfChecks = 0
  package var divergences = 0
  package var tickDurations = TickDurations()

  package init() {}
}

/// Durations of ticks, from detecting a commit to handing over the resulting messages.
package struct TickDurations: Sendable {
  /// The number of ticks that have ended. `sum` is the sum of their durations.
  package private(set) var count = 0
  package private(set) var sum = Nanoseconds.zero
  /// Durations of the newest ticks, unordered.
  package private(set) var newest: [Nanoseconds] = []

  private static let kept = 1_024

  package init() {}

  package mutating func note(_ duration: Nanoseconds) {
    count += 1
    sum += duration
    if newest.count >= Self.kept { newest.removeFirst(Self.kept / 2) }
    newest.append(duration)
  }

  /// Adds another follower's durations.
  package mutating func add(_ other: TickDurations) {
    count += other.count
    sum += other.sum
    newest += other.newest
  }
}
