import ChangeCapture
import Store

/// Changes of a list's aggregates while a reader runs its query. They lead from the state that the reader saw to the
/// tick's state.
struct GroupLog {
  private let start: StateName
  private var steps: [GroupStep] = []

  /// - Parameter start: the last tick's state when the run was requested.
  init(from start: StateName) { self.start = start }

  mutating func append(_ more: [GroupStep]) { steps += more }

  /// The changes after a state, in order, by aggregate; nil if they are unknown.
  func changes(after state: StateName) -> [[GroupChanges]]? {
    let first: Int
    if let place = steps.lastIndex(where: { $0.state.isSame(as: state) }) {
      first = place + 1
    } else if start.isSame(as: state) {
      first = 0
    } else {
      return nil
    }
    var changes: [[GroupChanges]] = []
    for step in steps[first...] {
      let known = step.changes.compactMap(\.self)
      if known.count < step.changes.count { return nil }
      changes.append(known)
    }
    return changes
  }
}
