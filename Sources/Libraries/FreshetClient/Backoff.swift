/// How long to wait before the next attempt: twice as long each time, up to a limit, and never the same for all
/// clients of a server that comes back.
struct Backoff: Sendable {
  /// Milliseconds.
  private static let first = 500
  private static let longest = 30_000

  private var attempts = 0

  /// Milliseconds until the next attempt: from half of what it is due up to all of it.
  mutating func next(using generator: inout some RandomNumberGenerator) -> Int {
    let due = min(Self.longest, Self.first << min(attempts, 10))
    attempts += 1
    return Int.random(in: due / 2...due, using: &generator)
  }

  /// The last attempt went well.
  mutating func reset() { attempts = 0 }
}
