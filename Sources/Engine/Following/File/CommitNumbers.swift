package import ChangeCapture
import Synchronization

/// The number of a state of the file: the protocol's `commit`.
package struct CommitNumber: Equatable, Sendable {
  package var commit: Int64
  /// Whether no other state has this number. The number of commits may be unknown after a doubt.
  package var isExact: Bool

  package init(_ commit: Int64, isExact: Bool) {
    self.commit = commit
    self.isExact = isExact
  }
}

/// The numbers of the file's states, on which all followers agree.
///
/// A follower that has counted the commits between two states proposes a number for the newer one. The first follower
/// to see a state decides, and the others adopt its number. Counts are exact, so followers that saw different
/// intermediate states agree as well. After a doubt the number of commits may be unknown, so that one follower counts
/// fewer. Even then the order is kept, and a follower's numbers never decrease. A number that another state may also
/// have is not exact.
///
/// Any thread.
package final class CommitNumbers: Sendable {
  private struct State {
    /// Oldest first.
    var known: [(state: StateName, number: CommitNumber)] = []
    /// The highest number of a forgotten state.
    var forgotten = Int64.min
    private static let most = 256

    mutating func add(_ name: StateName, _ number: CommitNumber) -> CommitNumber {
      if known.count == Self.most {
        forgotten = known[Self.most / 2 - 1].number.commit
        known.removeFirst(Self.most / 2)
      }
      let isNewest = known.last.map { $0.number.commit <= number.commit } ?? true
      known.insert(
        (name, number), at: isNewest ? known.count : known.firstIndex { $0.number.commit > number.commit } ?? 0)
      return number
    }

    /// A number higher than all known and forgotten ones.
    func next(from first: Int64) -> Int64 {
      guard let last = known.last?.number.commit ?? (forgotten == .min ? nil : forgotten) else { return first }
      return last + 1
    }

    /// Whether no other state can have this number.
    func isFree(_ commit: Int64) -> Bool {
      commit > forgotten && !known.contains { $0.number.commit == commit }
    }
  }

  private let state = Mutex(State())
  /// The number of the first state.
  package let first: Int64

  /// - Parameter first: the number to continue with after a restart. Precondition: the file is at this commit.
  package init(startingAt first: Int64 = 0) { self.first = first }

  /// The highest number that was given.
  package var highest: Int64 {
    state.withLock { state in max(first, state.known.last?.number.commit ?? first, state.forgotten) }
  }

  /// Called when the file was replaced, because its states cannot be compared with earlier ones. Numbers continue.
  func forgetStates() {
    state.withLock { state in
      state.forgotten = max(state.forgotten, state.known.last?.number.commit ?? state.forgotten)
      state.known = []
    }
  }

  /// - Parameters:
  ///   - before: the number of the last state that the follower saw; `first` if it saw none.
  ///   - commits: the number of commits that it counted since then.
  package func number(of name: StateName, before: Int64, commits: Int64) -> CommitNumber {
    state.withLock { state in
      // In nearly all cases the state is newer than all known ones.
      if let last = state.known.last, name.isKnownAfter(last.state) {
        return state.add(name, CommitNumber(max(before + commits, last.number.commit + 1), isExact: true))
      }
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return known.number.notBefore(before) }
      let older = state.known.last { name.isKnownAfter($0.state) }.map { $0.number.commit + 1 }
      // A connection's first state cannot be compared with any other, and counts as the newest.
      var commit = max(before + commits, older ?? (commits == 0 ? state.next(from: first) : first))
      if let newer = state.known.first(where: { $0.state.isKnownAfter(name) }) {
        commit = min(commit, newer.number.commit - 1)
      }
      commit = max(commit, before)
      let isExact = state.isFree(commit) && (commit > before || state.known.isEmpty)
      return state.add(name, CommitNumber(commit, isExact: isExact))
    }
  }

  /// The number of a state that a reader saw; if unknown, a number not above it that is not exact.
  ///
  /// - Parameter asked: the number of an older state.
  package func number(of name: StateName, notBefore asked: Int64) -> CommitNumber {
    state.withLock { state in
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return known.number.notBefore(asked) }
      let before = state.known.last { name.isKnownAfter($0.state) }
      let number = before.map { $0.number.commit + (name.mayHaveContents(of: $0.state) ? 0 : 1) }
      return CommitNumber(max(number ?? asked, asked), isExact: false)
    }
  }
}

extension CommitNumber {
  fileprivate func notBefore(_ least: Int64) -> CommitNumber {
    commit < least ? CommitNumber(least, isExact: false) : self
  }
}
