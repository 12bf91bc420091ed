/// At which state of the file a follower is, and which it has seen: what all its lists have in common.
///
/// Owner: the follower's thread.
final class FollowedCommits {
  /// Of the state that the last tick saw.
  @exclusivity(unchecked) private(set) var number: CommitNumber
  /// Of the one that the tick before saw.
  @exclusivity(unchecked) private(set) var before: CommitNumber
  @exclusivity(unchecked) private(set) var seen = SeenCommits()
  /// Counts the ticks.
  @exclusivity(unchecked) private(set) var ticks: UInt64 = 0
  /// That of versions; see `FileEpochs`.
  private(set) var epoch: FileEpochs.Epoch
  /// Whether all versions are held for a while, not those alone that were sent: clients may come with names that another server
  /// gave them.
  let holdsEveryVersion: Bool
  /// What the versions of all lists may take together.
  let historyBudget: VersionHistory.Budget

  init(
    first: Int64, _ epoch: FileEpochs.Epoch, holdsEveryVersion: Bool, _ historyBudget: VersionHistory.Budget
  ) {
    self.historyBudget = historyBudget
    number = CommitNumber(first, isExact: false)
    before = number
    self.epoch = epoch
    self.holdsEveryVersion = holdsEveryVersion
  }

  /// A tick sees a state, perhaps the one that was seen before.
  func see(_ number: CommitNumber) {
    ticks += 1
    before = self.number
    self.number = number
    if number.isExact { seen.add(number.commit) }
  }

  /// Another epoch begins.
  ///
  /// - Parameter number: of the state that the tick sees; nil: none of the epoch was seen yet.
  func enter(_ epoch: FileEpochs.Epoch, at number: CommitNumber?) {
    self.epoch = epoch
    ticks += 1
    seen.removeAll()
    // What is shown of before belongs to no state of this epoch.
    let older = number.map { $0.commit - 1 } ?? self.number.commit
    before = CommitNumber(older, isExact: false)
    self.number = number ?? before
    if self.number.isExact { seen.add(self.number.commit) }
  }
}
