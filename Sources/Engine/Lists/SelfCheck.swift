import Following
import Ground
import Store

/// Chooses which lists to compare with a fresh run of their queries, and when.
///
/// It only decides; `ListChecks` performs the checks. A check takes a reader as long as a run of the query; all checks
/// take at most 2 % of the time.
package struct SelfCheck {
  /// The most rows of a list that is checked, because a check holds the result twice in memory.
  static let mostRows = 2_000_000
  private static let interval = Nanoseconds.milliseconds(1_000)

  /// The least time between two checks of a follower: a second. If the process follows many files, this is the average
  /// for all of them together.
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

  /// When to choose the next list; `distantFuture` if other events decide.
  var next: Instant { mode == .idle && pending.isEmpty ? due : .distantFuture }

  mutating func began(_ list: LiveList) { pending.append(ObjectIdentifier(list)) }

  func isPending(_ list: LiveList) -> Bool { pending.contains(ObjectIdentifier(list)) }

  /// Called when no list could be checked, because there is no list or other work is waiting.
  mutating func postpone(_ now: Instant, among files: Int) { due = now + Self.interval(among: files) }

  mutating func ended(_ check: Pending, _ now: Instant, among files: Int) {
    pending.firstIndex(of: ObjectIdentifier(check.list)).map { _ = pending.remove(at: $0) }
    due = now + SelfCheckMode.pause(after: now - check.started, atLeast: Self.interval(among: files))
  }
}
