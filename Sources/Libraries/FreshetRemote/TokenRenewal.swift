/// When to request the next token: some time before the present one expires, at once if it has expired, soon if it was
/// rejected. Pure.
///
/// State: `failures` counts useless tokens in a row, including a token that equals the last one; `expires` is the last
/// token's.
struct TokenRenewal: Sendable {
  /// How long before its expiry a token is renewed; a short-lived one at half of its life.
  private static let lead = 30.0
  private static let longestRetry = 15.0

  private var failures = 0
  private var expires: Double?

  /// - Parameters:
  ///   - expires: seconds since 1970; nil: never.
  ///   - now: seconds since 1970.
  /// - Returns: seconds until the next request; nil: never.
  mutating func accepted(expires: Double?, now: Double) -> Double? {
    if expires == nil || expires != self.expires { failures = 0 }
    self.expires = expires
    guard let expires else { return nil }
    let left = expires - now
    return max(left / 2, left - Self.lead, 1, failures == 0 ? 0 : pause)
  }

  /// The server reports that the token has expired.
  ///
  /// - Returns: seconds until the next request.
  mutating func expired() -> Double {
    failures += 1
    return failures == 1 ? 0 : pause
  }

  /// - Returns: seconds until the next request.
  mutating func refused() -> Double {
    failures += 1
    return pause
  }

  private var pause: Double { min(Self.longestRetry, Double(1 << min(failures - 1, 10))) }
}
