/// How long work may take, however many requests share it: time that is spent comes back slowly.
///
/// Instants are of one clock.
package struct TimeAccount {
  private let limit: Nanoseconds
  private var spent = Nanoseconds.zero
  /// When `spent` was brought up to date.
  private var updated = Instant.distantPast

  /// So much slower than it was spent.
  private static let slowness: UInt64 = 4

  package init(limit: Nanoseconds) { self.limit = limit }

  /// The time left at `now`.
  package mutating func left(at now: Instant) -> Nanoseconds {
    spent -= (now - updated) / Self.slowness
    updated = now
    return limit - spent
  }

  /// Takes off what passed since `left` was called.
  package mutating func spend(until now: Instant) {
    spent += now - updated
    updated = now
  }
}
