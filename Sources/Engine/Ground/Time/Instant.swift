/// A point in time of a `MonotonicClock`; instants of two clocks cannot be compared.
///
/// Public, as is `Nanoseconds`, because operators of package access are not inlined in other modules.
public struct Instant: Comparable, Sendable {
  /// Nanoseconds since the start of the clock.
  private let nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// An instant before all events.
  public static let distantPast = Instant(nanoseconds: 0)
  /// An instant that never comes.
  public static let distantFuture = Instant(nanoseconds: .max)

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The sum; `distantFuture` if it is too large for an instant.
  public static func + (start: Instant, span: Nanoseconds) -> Instant {
    let (sum, isTooLarge) = start.nanoseconds.addingReportingOverflow(span.count)
    return isTooLarge ? .distantFuture : Instant(nanoseconds: sum)
  }

  public static func + (start: Instant, duration: Duration) -> Instant { start + Nanoseconds(duration) }

  /// The time from `start` to `end`; zero if `end` is earlier.
  public static func - (end: Instant, start: Instant) -> Nanoseconds {
    Nanoseconds(end.nanoseconds > start.nanoseconds ? end.nanoseconds - start.nanoseconds : 0)
  }
}
