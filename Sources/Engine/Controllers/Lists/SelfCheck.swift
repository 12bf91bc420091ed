package import Store

/// How much a server checks of what it shows.
package enum SelfCheckMode: String, CaseIterable, Sendable {
  /// Nothing.
  case off
  /// A list now and then, while there is nothing else to do.
  case idle
  /// Every list after every change: for tests.
  case always

  /// How long nothing is checked after a check that took so long: checks take at most 2 % of the time.
  package static func pause(after duration: Nanoseconds, atLeast least: Nanoseconds) -> Nanoseconds {
    max(least, duration * 49)
  }
}

/// When lists are compared with a fresh run of their queries, and which.
///
/// Pure: `ListChecks` does what it says. A check costs a reader what a run of the query does, at most 2 % of the time.
struct SelfCheck {
  /// A list of more rows would take too much memory twice.
  static let mostRows = 2_000_000
  private static let interval = Nanoseconds.milliseconds(1_000)

  /// A check that a reader makes.
  struct Pending {
    let list: LiveList
    /// The number of the version that is checked.
    let version: Int
    /// The version was found to differ, and is looked at more closely.
    let isConfirmation: Bool
    let started: Instant
  }

  let mode: SelfCheckMode
  /// Lists that readers check.
  private var pending: [ObjectIdentifier] = []
  private var due: Instant

  init(_ mode: SelfCheckMode, _ now: Instant) {
    self.mode = mode
    due = now + Self.interval
  }

  /// When a list is to be chosen; `distantFuture`: not by the clock.
  var next: Instant { mode == .idle && pending.isEmpty ? due : .distantFuture }

  mutating func began(_ list: LiveList) { pending.append(ObjectIdentifier(list)) }

  func isPending(_ list: LiveList) -> Bool { pending.contains(ObjectIdentifier(list)) }

  /// Nothing could be checked: there is no list, or something else to do.
  mutating func postpone(_ now: Instant) { due = now + Self.interval }

  mutating func ended(_ check: Pending, _ now: Instant) {
    pending.firstIndex(of: ObjectIdentifier(check.list)).map { _ = pending.remove(at: $0) }
    due = now + SelfCheckMode.pause(after: now - check.started, atLeast: Self.interval)
  }
}
