/// A point in time of a `MonotonicClock`; those of two clocks have nothing to do with each other.
///
/// Public, as is `Nanoseconds`: operators of package access are not inlined in other modules.
public struct Instant: Comparable, Sendable {
  /// Since a moment before which there are no instants.
  private let nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Before everything that happens.
  public static let distantPast = Instant(nanoseconds: 0)
  /// Never.
  public static let distantFuture = Instant(nanoseconds: .max)

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// `distantFuture` beyond the last instant.
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
