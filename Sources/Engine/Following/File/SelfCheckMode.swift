package import Ground

/// How often a server compares its lists with their queries.
package enum SelfCheckMode: String, CaseIterable, Sendable {
  case off
  /// One list is compared now and then, when there is no other work.
  case idle
  /// Every list is compared after every change, for tests.
  case always

  /// The pause after a check, so that checks take at most 2 % of the time.
  package static func pause(after duration: Nanoseconds, atLeast least: Nanoseconds) -> Nanoseconds {
    max(least, duration * 49)
  }
}
