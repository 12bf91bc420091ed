internal import CGateway

/// How often something may happen: so many times a second for as long as one likes, and a burst of that after a pause.
package struct RateLimit: Sendable {
  /// Times a second; 0 for any number.
  package let perSecond: Int
  /// Times at once.
  package let burst: Int

  package init(perSecond: Int, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }

  /// What one client has used of it; see `gateway_rate_wait`.
  package struct Account: Sendable {
    /// Microseconds.
    fileprivate var paidUntil: Int64 = 0

    package init() {}

    /// Whether it is as one that was never used.
    package func isSettled(at now: Int64) -> Bool { paidUntil <= now }
  }

  /// Takes one time.
  ///
  /// - Parameter now: microseconds.
  /// - Returns: 0, or the microseconds until there is one to take.
  package func take(from account: inout Account, at now: Int64) -> Int64 {
    guard perSecond > 0 else { return 0 }
    let rate = Int32(clamping: perSecond)
    let wait = gateway_rate_wait(account.paidUntil, now, rate, Int32(clamping: burst))
    if wait > 0 { return wait }
    account.paidUntil = gateway_rate_pay(account.paidUntil, now, rate)
    return 0
  }
}
