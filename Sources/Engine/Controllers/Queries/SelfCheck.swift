package import Store

/// How much a server checks of what it shows.
package enum SelfCheckMode: String, CaseIterable, Sendable {
  /// Nothing.
  case off
  /// A list now and then, while there is nothing else to do.
  case idle
  /// Every list after every change: for tests.
  case always

  /// How long nothing is checked after a check that took so long: they take at most 2 % of the time.
  package static func pause(after duration: Nanoseconds, atLeast least: Nanoseconds) -> Nanoseconds {
    max(least, duration * 49)
  }
}

/// When lists are compared with a fresh run of their queries, and which.
///
/// Pure: the follower posts what it says. A check costs a reader what a run of the query does, at most 2 % of the time.
struct SelfCheck {
  /// A list of more rows would take too much memory twice.
  static let mostRows = 2_000_000
  private static let interval = Nanoseconds.milliseconds(1_000)

  /// A check that a reader makes.
  struct Pending {
    let query: FetchedResultsController
    /// Of the version that is checked.
    let version: Int
    /// It was found to differ, and is looked at more closely.
    let isConfirmed: Bool
    let started: Instant
  }

  let mode: SelfCheckMode
  /// By the number of the reader's job.
  private(set) var pending: [UInt64: Pending] = [:]
  private var due: Instant

  init(_ mode: SelfCheckMode, _ now: Instant) {
    self.mode = mode
    due = now + Self.interval
  }

  /// When a list is to be chosen; `distantFuture`: not by the clock.
  var next: Instant { mode == .idle && pending.isEmpty ? due : .distantFuture }

  mutating func begin(_ id: UInt64, _ check: Pending) { pending[id] = check }

  func isPending(_ query: FetchedResultsController) -> Bool { pending.values.contains { $0.query === query } }

  /// Nothing could be checked: there is no list, or something else to do.
  mutating func postpone(_ now: Instant) { due = now + Self.interval }

  /// - Returns: nil when the job is none of these.
  mutating func end(_ id: UInt64, _ now: Instant) -> Pending? {
    guard let check = pending.removeValue(forKey: id) else { return nil }
    due = now + SelfCheckMode.pause(after: now - check.started, atLeast: Self.interval)
    return check
  }
}
