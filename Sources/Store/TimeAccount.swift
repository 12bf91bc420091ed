/// How long something may take whoever asks for it, and how often: time that is spent comes back slowly.
///
/// Times are nanoseconds of one clock that never goes back.
struct TimeAccount {
  private let limit: UInt64
  private var spent: UInt64 = 0
  /// When `spent` was brought up to date.
  private var updated: UInt64 = 0

  /// So much slower than it was spent.
  private static let slowness: UInt64 = 4

  init(limit: UInt64) { self.limit = limit }

  /// What is left at a time; 0: nothing.
  mutating func left(at now: UInt64) -> UInt64 {
    let returned = (now - min(updated, now)) / Self.slowness
    spent -= min(returned, spent)
    updated = now
    return limit - min(spent, limit)
  }

  /// Takes off what passed since `left` was called.
  mutating func spend(until now: UInt64) {
    spent += now - min(updated, now)
    updated = now
  }
}
