/// How long a follower rests between turns while commits come faster than it can follow one by one.
///
/// A turn takes in all commits since the last one, so rarer turns cost less for each; and what a server does not take of the
/// processors is the writer's. A follower that works a fifth of its time or less never rests: nobody notices that it follows at
/// once. Beyond that it rests after a turn for four times as long as the turn took.
struct Pace {
  private static let restPerWork: UInt64 = 4
  /// At most: 250 patches a second are more than anybody can see.
  private static let longestRest: UInt64 = 4_000_000
  /// So much work beyond its share, in nanoseconds, is let pass: a burst, not a stream.
  private static let allowance: UInt64 = 5_000_000

  /// Work beyond the share, which rest pays off.
  private var debt: UInt64 = 0
  private var lastEnd: UInt64 = 0
  /// When the rest ends.
  private var end: UInt64 = 0

  /// A turn followed commits.
  ///
  /// - Parameter comparesTables: it has compared whole tables, which costs what they hold, under a lock that is in writers' way:
  ///   half of the time at most.
  mutating func note(start: UInt64, end: UInt64, comparesTables: Bool = false) {
    let paid = (start - lastEnd) / Pace.restPerWork
    debt = (debt > paid ? debt - paid : 0) + (end - start)
    // What was long ago is forgotten.
    debt = min(debt, 2 * Pace.allowance)
    lastEnd = end
    if comparesTables { self.end = end + (end - start) }
    if debt > Pace.allowance { self.end = max(self.end, end + min((end - start) * Pace.restPerWork, Pace.longestRest)) }
  }

  /// Nanoseconds of rest that are left.
  func rest(_ now: UInt64) -> UInt64 { end > now ? end - now : 0 }
}
