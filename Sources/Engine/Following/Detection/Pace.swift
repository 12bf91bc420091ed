import Ground
import Store

/// How long a follower rests between ticks while commits come faster than it can follow them one by one.
///
/// A tick follows all commits since the last one, so rarer ticks cost less per commit, and leave more processor time
/// for the writer. A follower that works at most a fifth of its time never rests, and follows commits at once. A
/// follower that works more rests after a tick, for four times the tick's duration.
struct Pace {
  private static let restPerWork: UInt64 = 4
  /// The longest rest. Even 250 patches a second are more than a person can see.
  private static let longestRest = Nanoseconds.milliseconds(4)
  /// The work beyond the follower's share that needs no rest, because it is a burst and not a stream.
  private static let allowance = Nanoseconds.milliseconds(5)

  /// The work beyond the follower's share that a rest must make up for.
  private var debt = Nanoseconds.zero
  private var lastEnd = Instant.distantPast
  /// The end of the present rest.
  private var end = Instant.distantPast

  /// Called when a tick has followed commits.
  ///
  /// - Parameter comparesTables: whether it compared whole tables. That takes time proportional to their size and
  ///   blocks writers, so it may use at most half of the time.
  mutating func note(start: Instant, end: Instant, comparesTables: Bool = false) {
    debt = debt - (start - lastEnd) / Pace.restPerWork + (end - start)
    // Debt is limited, so that old work is forgotten.
    debt = min(debt, Pace.allowance * 2)
    lastEnd = end
    if comparesTables { self.end = end + (end - start) }
    if debt > Pace.allowance { self.end = max(self.end, end + min((end - start) * Pace.restPerWork, Pace.longestRest)) }
  }

  /// The remaining rest.
  func rest(_ now: Instant) -> Nanoseconds { end - now }
}
