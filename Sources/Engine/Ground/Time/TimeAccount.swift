/// Limits the time that work may take, however many requests share it: each second of work takes four seconds to come
/// back.
///
/// All instants must be of one clock.
package struct TimeAccount {
  private let limit: Nanoseconds
  private var spent = Nanoseconds.zero
  /// When `spent` was last updated.
  private var updated = Instant.distantPast

  /// Spent time comes back this many times more slowly than it was spent.
  private static let slowness: UInt64 = 4

  package init(limit: Nanoseconds) { self.limit = limit }

  /// The time left at `now`.
  package mutating func left(at now: Instant) -> Nanoseconds {
    spent -= (now - updated) / Self.slowness
    updated = now
    return limit - spent
  }

  /// Counts the time since `left` was called as spent.
  package mutating func spend(until now: Instant) {
    spent += now - updated
    updated = now
  }
}
