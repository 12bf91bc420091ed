/// The state that a follower has reached, and the states that it has seen. All of its lists share this object.
///
/// Owner: the follower's thread.
package final class FollowedCommits {
  /// The number of the last tick's state.
  @exclusivity(unchecked) package private(set) var number: CommitNumber
  /// The number of the previous tick's state.
  @exclusivity(unchecked) package private(set) var before: CommitNumber
  @exclusivity(unchecked) package private(set) var seen = SeenCommits()
  /// The number of ticks.
  @exclusivity(unchecked) package private(set) var ticks: UInt64 = 0
  /// The epoch of versions; see `FileEpochs`.
  package private(set) var epoch: FileEpochs.Epoch
  /// Whether all versions are held for a while, not only those that were sent, because clients may bring names that
  /// another server gave.
  package let holdsEveryVersion: Bool
  /// The memory that the versions of all lists may take.
  package let historyBudget: VersionHistory.Budget

  init(
    first: Int64, _ epoch: FileEpochs.Epoch, holdsEveryVersion: Bool, _ historyBudget: VersionHistory.Budget
  ) {
    self.historyBudget = historyBudget
    number = CommitNumber(first, isExact: false)
    before = number
    self.epoch = epoch
    self.holdsEveryVersion = holdsEveryVersion
  }

  /// Called when a tick sees a state, which may be the same as before.
  func see(_ number: CommitNumber) {
    ticks += 1
    before = self.number
    self.number = number
    if number.isExact { seen.add(number.commit) }
  }

  /// Adds the commits of the epoch that the previous process has seen.
  package func remember(_ seen: SeenCommits) { if ticks == 0 { self.seen = seen } }

  /// Called when another epoch begins.
  ///
  /// - Parameter number: the number of the tick's state; nil if no state of the epoch was seen yet.
  func enter(_ epoch: FileEpochs.Epoch, at number: CommitNumber?) {
    self.epoch = epoch
    ticks += 1
    seen.removeAll()
    // The lists show states of the former epoch, so they count as older.
    let older = number.map { $0.commit - 1 } ?? self.number.commit
    before = CommitNumber(older, isExact: false)
    self.number = number ?? before
    if self.number.isExact { seen.add(self.number.commit) }
  }
}
