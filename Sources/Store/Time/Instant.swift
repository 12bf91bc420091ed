/// A point in time of a `MonotonicClock`; those of two clocks have nothing to do with each other.
package struct Instant: Comparable, Sendable {
  /// Since a moment before which there are no instants.
  @usableFromInline let nanoseconds: UInt64

  @inlinable package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Before everything that happens.
  package static let distantPast = Instant(nanoseconds: 0)
  /// Never.
  package static let distantFuture = Instant(nanoseconds: .max)

  @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// `distantFuture` beyond the last instant.
  @inlinable package static func + (start: Instant, span: Nanoseconds) -> Instant {
    let (sum, isTooLarge) = start.nanoseconds.addingReportingOverflow(span.count)
    return isTooLarge ? .distantFuture : Instant(nanoseconds: sum)
  }

  @inlinable package static func + (start: Instant, duration: Duration) -> Instant { start + Nanoseconds(duration) }

  /// What passes from `start` to `end`; nothing when that is the earlier one.
  @inlinable package static func - (end: Instant, start: Instant) -> Nanoseconds {
    Nanoseconds(end.nanoseconds > start.nanoseconds ? end.nanoseconds - start.nanoseconds : 0)
  }
}
