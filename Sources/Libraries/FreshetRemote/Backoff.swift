/// The delay before the next attempt: doubled each time up to a limit, with jitter, so that a restarted server's
/// clients do not all return at once.
struct Backoff: Sendable {
  /// Milliseconds.
  private static let first = 500
  private static let longest = 30_000

  private var attempts = 0

  /// The delay in milliseconds: between half of the present delay and all of it.
  mutating func next(using generator: inout some RandomNumberGenerator) -> Int {
    let due = min(Self.longest, Self.first << min(attempts, 10))
    attempts += 1
    return Int.random(in: due / 2...due, using: &generator)
  }

  /// The last attempt succeeded.
  mutating func reset() { attempts = 0 }
}
