/// How often something may happen: a number of times a second without end, and a burst after a pause.
///
/// No events are counted: each moves a time (`paidUntil`) forward by the interval of the rate, and that time may be
/// ahead of the clock by the length of a burst.
package struct RateLimit: Sendable {
  /// Times a second; 0 for any number.
  package let perSecond: Int
  /// Times at once.
  package let burst: Int

  package init(perSecond: Int, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }

  /// One client's use of the limit.
  package struct Account: Sendable {
    /// Microseconds.
    fileprivate var paidUntil: Int64 = 0

    package init() {}

    /// Whether the account is as good as new.
    package func isSettled(at now: Int64) -> Bool { paidUntil <= now }
  }

  /// Takes one unit.
  ///
  /// - Parameter now: microseconds.
  /// - Returns: 0, or the microseconds until a unit can be taken.
  package func take(from account: inout Account, at now: Int64) -> Int64 {
    guard perSecond > 0 else { return 0 }
    let wait = wait(account, at: now)
    if wait == 0 { pay(from: &account, at: now) }
    return wait
  }

  /// Charges one unit, also beyond the limit.
  ///
  /// - Returns: 0, or the microseconds until the next one is allowed.
  func charge(_ account: inout Account, at now: Int64) -> Int64 {
    guard perSecond > 0 else { return 0 }
    pay(from: &account, at: now)
    return wait(account, at: now)
  }

  /// Microseconds.
  private var interval: Int64 { max(1, 1_000_000 / Int64(perSecond)) }

  private func wait(_ account: Account, at now: Int64) -> Int64 {
    max(0, max(0, account.paidUntil - now) - (max(1, Int64(burst)) - 1) * interval)
  }

  private func pay(from account: inout Account, at now: Int64) {
    account.paidUntil = max(account.paidUntil, now) + interval
  }
}
