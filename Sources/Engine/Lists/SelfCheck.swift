import Following
import Ground
import Store

/// Chooses which lists to compare with a fresh run of their queries, and when.
///
/// Pure: `ListChecks` performs the checks. One costs a reader as much as a run of the query, at most 2 % of the time.
package struct SelfCheck {
  /// The most rows of a list that is checked: a check holds the result twice.
  static let mostRows = 2_000_000
  private static let interval = Nanoseconds.milliseconds(1_000)

  /// The least time between two checks of a follower: a second. Where many files are followed, those of all together.
  static func interval(among files: Int) -> Nanoseconds { files <= 8 ? interval : interval * UInt64(files) }

  /// A check that a reader is making.
  package struct Pending {
    let list: LiveList
    /// The number of the version that is checked.
    let version: Int
    /// Whether the version was found to differ and is checked a second time.
    let isConfirmation: Bool
    let started: Instant
  }

  let mode: SelfCheckMode
  /// Lists that readers are checking.
  private var pending: [ObjectIdentifier] = []
  private var due: Instant

  init(_ mode: SelfCheckMode, _ now: Instant) {
    self.mode = mode
    due = now + Self.interval
  }

  /// When to choose the next list; `distantFuture`: other events decide.
  var next: Instant { mode == .idle && pending.isEmpty ? due : .distantFuture }

  mutating func began(_ list: LiveList) { pending.append(ObjectIdentifier(list)) }

  func isPending(_ list: LiveList) -> Bool { pending.contains(ObjectIdentifier(list)) }

  /// Nothing could be checked: there is no list, or there is other work.
  mutating func postpone(_ now: Instant, among files: Int) { due = now + Self.interval(among: files) }

  mutating func ended(_ check: Pending, _ now: Instant, among files: Int) {
    pending.firstIndex(of: ObjectIdentifier(check.list)).map { _ = pending.remove(at: $0) }
    due = now + SelfCheckMode.pause(after: now - check.started, atLeast: Self.interval(among: files))
  }
}
