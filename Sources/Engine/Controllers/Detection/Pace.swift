import Store

/// How long a follower rests between ticks while commits come faster than it can follow one by one.
///
/// A tick takes in all commits since the last one, so rarer ticks cost less for each; and what a server does not take of the
/// processors is the writer's. A follower that works a fifth of its time or less never rests: nobody notices that it follows at
/// once. Beyond that it rests after a tick for four times as long as the tick took.
struct Pace {
  private static let restPerWork: UInt64 = 4
  /// At most: 250 patches a second are more than anybody can see.
  private static let longestRest = Nanoseconds.milliseconds(4)
  /// So much work beyond its share is let pass: a burst, not a stream.
  private static let allowance = Nanoseconds.milliseconds(5)

  /// Work beyond the share, which rest pays off.
  private var debt = Nanoseconds.zero
  private var lastEnd = Instant.distantPast
  /// When the rest ends.
  private var end = Instant.distantPast

  /// A tick followed commits.
  ///
  /// - Parameter comparesTables: it has compared whole tables, which costs what they hold, under a lock that is in writers' way:
  ///   half of the time at most.
  mutating func note(start: Instant, end: Instant, comparesTables: Bool = false) {
    debt = debt - (start - lastEnd) / Pace.restPerWork + (end - start)
    // What was long ago is forgotten.
    debt = min(debt, Pace.allowance * 2)
    lastEnd = end
    if comparesTables { self.end = end + (end - start) }
    if debt > Pace.allowance { self.end = max(self.end, end + min((end - start) * Pace.restPerWork, Pace.longestRest)) }
  }

  /// What is left of the rest.
  func rest(_ now: Instant) -> Nanoseconds { end - now }
}
