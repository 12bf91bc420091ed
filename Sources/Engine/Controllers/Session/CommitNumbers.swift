package import ChangeCapture
import Synchronization

/// What a state of the file is called: the protocol's `commit`.
package struct CommitNumber: Equatable, Sendable {
  package var commit: Int64
  /// Whether no other state has this number. After a doubt the number of commits may not be known.
  package var isExact: Bool

  package init(_ commit: Int64, isExact: Bool) {
    self.commit = commit
    self.isExact = isExact
  }
}

/// The numbers of the file's states, on which all followers agree.
///
/// A follower that has counted the commits between two states proposes a number for the newer one. The first to see a state decides;
/// the others take what was decided. Counts are exact, so followers that saw different states in between agree all the same. After a
/// doubt the number of commits may not be known, and one of them counts fewer: order is kept then, and a follower's numbers never
/// fall; a number that may be another state's too is not exact.
///
/// Any thread.
package final class CommitNumbers: Sendable {
  private struct State {
    /// The newest last.
    var known: [(state: StateName, number: CommitNumber)] = []
    /// The highest number of those that are not known any more.
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

    /// What comes after all that are or were known.
    func next(from first: Int64) -> Int64 {
      guard let last = known.last?.number.commit ?? (forgotten == .min ? nil : forgotten) else { return first }
      return last + 1
    }

    /// Whether a state that is not known can have a number for itself.
    func isFree(_ commit: Int64) -> Bool {
      commit > forgotten && !known.contains { $0.number.commit == commit }
    }
  }

  private let state = Mutex(State())
  /// That of the first state that is seen.
  package let first: Int64

  /// - Parameter first: where to go on after a restart. Who gives it knows that the file is in the state of that number.
  package init(startingAt first: Int64 = 0) { self.first = first }

  /// The file is another one: states of before cannot be told from its own. Numbers go on.
  func forgetStates() {
    state.withLock { state in
      state.forgotten = max(state.forgotten, state.known.last?.number.commit ?? state.forgotten)
      state.known = []
    }
  }

  /// - Parameters:
  ///   - before: the number of the state that the follower saw before; `first` when it saw none.
  ///   - commits: how many it counted since then.
  package func number(of name: StateName, before: Int64, commits: Int64) -> CommitNumber {
    state.withLock { state in
      // Nearly always it is newer than all that are known.
      if let last = state.known.last, name.isKnownAfter(last.state) {
        return state.add(name, CommitNumber(max(before + commits, last.number.commit + 1), isExact: true))
      }
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return known.number.notBefore(before) }
      let older = state.known.last { name.isKnownAfter($0.state) }.map { $0.number.commit + 1 }
      // A connection's first state, which cannot be compared with any, is taken for the newest.
      var commit = max(before + commits, older ?? (commits == 0 ? state.next(from: first) : first))
      if let newer = state.known.first(where: { $0.state.isKnownAfter(name) }) {
        commit = min(commit, newer.number.commit - 1)
      }
      commit = max(commit, before)
      let isExact = state.isFree(commit) && (commit > before || state.known.isEmpty)
      return state.add(name, CommitNumber(commit, isExact: isExact))
    }
  }

  /// The number of a state that a reader saw; where that is not known, one not above it, which is not exact.
  ///
  /// - Parameter asked: that of an older state.
  package func number(of name: StateName, notBefore asked: Int64) -> CommitNumber {
    state.withLock { state in
      if let known = state.known.last(where: { $0.state.isSame(as: name) }) { return known.number.notBefore(asked) }
      let before = state.known.last { name.isKnownAfter($0.state) }
      return CommitNumber(before.map { max($0.number.commit + 1, asked) } ?? asked, isExact: false)
    }
  }
}

extension CommitNumber {
  fileprivate func notBefore(_ least: Int64) -> CommitNumber {
    commit < least ? CommitNumber(least, isExact: false) : self
  }
}
