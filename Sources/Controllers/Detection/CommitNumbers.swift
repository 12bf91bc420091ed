import ChangeCapture
import Synchronization

/// The numbers of the file's states, on which all followers agree: the protocol's `commit`.
///
/// A follower that has counted the commits between two states proposes a number for the newer one. The first to see a state decides;
/// the others take what was decided. Counts are exact, so followers that saw different states in between agree all the same. After a
/// doubt the number of commits may not be known, and one of them counts fewer: order is kept then, and a follower's numbers never
/// fall.
///
/// Any thread.
package final class CommitNumbers: Sendable {
  private struct State {
    /// The newest last.
    var known: [(state: StateName, commit: Int64)] = []
    private static let most = 256

    mutating func add(_ name: StateName, _ commit: Int64) -> Int64 {
      if known.count == Self.most { known.removeFirst(Self.most / 2) }
      let isNewest = known.last.map { $0.commit <= commit } ?? true
      known.insert((name, commit), at: isNewest ? known.count : known.firstIndex { $0.commit > commit } ?? 0)
      return commit
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// - Parameters:
  ///   - before: the number of the state that the follower saw before.
  ///   - commits: how many it counted since then.
  func number(of name: StateName, before: Int64, commits: Int64) -> Int64 {
    state.withLock { state in
      // Nearly always it is newer than all that are known.
      if let last = state.known.last, name.isKnownAfter(last.state) {
        return state.add(name, max(before + commits, last.commit + 1))
      }
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return max(known.commit, before) }
      let older = state.known.last { name.isKnownAfter($0.state) }.map { $0.commit + 1 } ?? 0
      var commit = max(before + commits, older)
      if let newer = state.known.first(where: { $0.state.isKnownAfter(name) }) {
        commit = min(commit, newer.commit - 1)
      }
      return state.add(name, max(commit, before))
    }
  }

  /// The number of a state that a reader saw; one not above it where that is not known.
  ///
  /// - Parameter asked: that of an older state.
  func number(of name: StateName, notBefore asked: Int64) -> Int64 {
    state.withLock { state in
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return max(known.commit, asked) }
      let before = state.known.last { name.isKnownAfter($0.state) }
      return before.map { max($0.commit + 1, asked) } ?? asked
    }
  }
}
