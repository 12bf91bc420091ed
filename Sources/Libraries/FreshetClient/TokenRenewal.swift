/// When a token is asked for again: some time before it expires, at once when it has expired, and soon when it was refused. Pure.
///
/// State: `failures` counts what was of no use in a row, a token that is the last one again among it; `expires` is that of the last
/// one.
struct TokenRenewal: Sendable {
  /// How long before it expires a token is renewed; one of a short life in the middle of it.
  private static let lead = 30.0
  private static let longestRetry = 15.0

  private var failures = 0
  private var expires: Double?

  /// - Parameters:
  ///   - expires: seconds since 1970; nil for a token that does not.
  ///   - now: likewise.
  /// - Returns: seconds until the next one is asked for; nil for never.
  mutating func accepted(expires: Double?, now: Double) -> Double? {
    if expires == nil || expires != self.expires { failures = 0 }
    self.expires = expires
    guard let expires else { return nil }
    let left = expires - now
    return max(left / 2, left - Self.lead, 1, failures == 0 ? 0 : pause)
  }

  /// The server says that the token has expired.
  ///
  /// - Returns: seconds until the next one is asked for.
  mutating func expired() -> Double {
    failures += 1
    return failures == 1 ? 0 : pause
  }

  /// - Returns: seconds until another one is asked for.
  mutating func refused() -> Double {
    failures += 1
    return pause
  }

  private var pause: Double { min(Self.longestRetry, Double(1 << min(failures - 1, 10))) }
}
