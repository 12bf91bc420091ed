package import Ground

/// How much a server compares its lists with their queries.
package enum SelfCheckMode: String, CaseIterable, Sendable {
  case off
  /// One list now and then, when there is nothing else to do.
  case idle
  /// Every list after every change, for tests.
  case always

  /// The pause after a check, so that checks take at most 2 % of the time.
  package static func pause(after duration: Nanoseconds, atLeast least: Nanoseconds) -> Nanoseconds {
    max(least, duration * 49)
  }
}
