/// When a token is asked for again: some time before it expires, and soon when it was refused. Pure.
struct TokenRenewal: Sendable {
  /// How long before it expires a token is renewed; one of a short life in the middle of it.
  private static let lead = 30.0
  private static let longestRetry = 15.0

  /// Tokens in a row that were refused, or could not be had.
  private var failures = 0

  /// - Parameters:
  ///   - expires: seconds since 1970; nil for a token that does not.
  ///   - now: likewise.
  /// - Returns: seconds until the next one is asked for; nil for never.
  mutating func accepted(expires: Double?, now: Double) -> Double? {
    failures = 0
    guard let expires else { return nil }
    let left = expires - now
    return max(left / 2, left - Self.lead, 1)
  }

  /// - Returns: seconds until another one is asked for.
  mutating func refused() -> Double {
    failures += 1
    return min(Self.longestRetry, Double(1 << min(failures - 1, 10)))
  }
}
