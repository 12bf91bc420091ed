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
  }

  private let state = Mutex(State())
  private static let most = 256

  package init() {}

  /// - Parameters:
  ///   - before: the number of the state that the follower saw before.
  ///   - commits: how many it counted since then.
  func number(of name: StateName, before: Int64, commits: Int64) -> Int64 {
    state.withLock { state in
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return max(known.commit, before) }
      let older = state.known.last { name.isKnownAfter($0.state) }.map { $0.commit + 1 } ?? 0
      var commit = max(before + commits, older)
      if let newer = state.known.first(where: { $0.state.isKnownAfter(name) }) {
        commit = min(commit, newer.commit - 1)
      }
      commit = max(commit, before)
      if state.known.count == Self.most { state.known.removeFirst(Self.most / 2) }
      let place = state.known.firstIndex { $0.commit > commit } ?? state.known.count
      state.known.insert((name, commit), at: place)
      return commit
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
