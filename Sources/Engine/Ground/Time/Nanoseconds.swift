/// A span of time in 64 bits. A `Duration` has 128 bits, so each is converted once, when it is set.
///
/// Sums and products that would overflow are the largest span.
public struct Nanoseconds: Comparable, Hashable, Sendable {
  public let count: UInt64
  public var seconds: Double { Double(count) / 1e9 }

  public init(_ count: UInt64) { self.count = count }

  /// Zero for a negative duration.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (whole, isTooLong) = UInt64(Swift.max(seconds, 0)).multipliedReportingOverflow(by: 1_000_000_000)
    let rest = UInt64(Swift.max(attoseconds, 0)) / 1_000_000_000
    self = isTooLong ? .max : Nanoseconds(whole) + Nanoseconds(rest)
  }

  public static let zero = Nanoseconds(0)
  public static let max = Nanoseconds(.max)

  public static func microseconds(_ count: UInt64) -> Nanoseconds { Nanoseconds(count * 1_000) }
  public static func milliseconds(_ count: UInt64) -> Nanoseconds { Nanoseconds(count * 1_000_000) }

  public static func < (left: Nanoseconds, right: Nanoseconds) -> Bool { left.count < right.count }

  public static func + (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
    let (sum, isTooLarge) = left.count.addingReportingOverflow(right.count)
    return isTooLarge ? .max : Nanoseconds(sum)
  }

  public static func += (left: inout Nanoseconds, right: Nanoseconds) { left = left + right }

  /// The difference; zero if `right` is longer.
  public static func - (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
    Nanoseconds(left.count > right.count ? left.count - right.count : 0)
  }

  public static func -= (left: inout Nanoseconds, right: Nanoseconds) { left = left - right }

  public static func * (span: Nanoseconds, factor: UInt64) -> Nanoseconds {
    let (product, isTooLarge) = span.count.multipliedReportingOverflow(by: factor)
    return isTooLarge ? .max : Nanoseconds(product)
  }

  public static func / (span: Nanoseconds, divisor: UInt64) -> Nanoseconds {
    Nanoseconds(span.count / divisor)
  }
}
