package import ChangeCapture
import Ground
package import Store

/// The numbers and epochs of the file's states as one follower sees them.
///
/// Owner: the follower's thread.
package final class StateNumbers {
  package let commits: FollowedCommits
  private let numbers: CommitNumbers
  private let epochs: FileEpochs
  private let path: String
  private let readsPosition: Bool
  /// The ticket that was taken before the tick's transaction began; see `FileEpochs.read`.
  @exclusivity(unchecked) private var ticket: UInt64 = 0
  /// Requests that wait for a commit.
  @exclusivity(unchecked) package var awaited = AwaitedCommits()

  /// How the epoch changed.
  package struct EpochChange {
    /// The follower has entered another epoch.
    package var isEntered = false
    /// No other follower was in the epoch before.
    package var isNew = false
  }

  package init(_ configuration: FollowerConfiguration, _ numbers: CommitNumbers, _ epochs: FileEpochs) {
    self.numbers = numbers
    self.epochs = epochs
    path = configuration.path
    readsPosition = configuration.readsPosition
    commits = FollowedCommits(
      first: numbers.first, epochs.current,
      holdsEveryVersion: configuration.readsPosition || configuration.sharesEpochs,
      VersionHistory.Budget(
        bytes: configuration.historyBytes, age: Nanoseconds(configuration.historyAge),
        count: configuration.historyCount))
  }

  /// The number of the last tick's state: the protocol's `commit`.
  package var commit: Int64 { commits.number.commit }

  /// The highest number that was given to a state of the file.
  package var highest: Int64 { max(numbers.highest, commit) }

  /// Called when a transaction is about to begin.
  package func prepare() { if readsPosition { ticket = epochs.ticket() } }

  /// Numbers the state that a tick sees.
  package func note(_ tick: CapturedTick, _ connection: DatabaseConnection) -> EpochChange {
    if let position = connection.position { return note(position, connection.file) }
    let isNewest = epochs.isNewest(commits.epoch)
    // The first tick of a restored capture may report no change, but must still be numbered.
    let isFirst = commits.ticks == 0
    if tick.isQuiet, isNewest, !isFirst {
      commits.see(commits.number)
      return EpochChange()
    }
    let number = numbers.number(
      of: connection.capture.numberedState, before: commit, commits: isFirst ? 0 : tick.commits)
    guard !isNewest, let newest = epochs.joined(by: connection.file), newest != commits.epoch else {
      commits.see(number)
      return EpochChange()
    }
    commits.enter(newest, at: number)
    return EpochChange(isEntered: true)
  }

  /// Takes the number from a replica's file, which has the number of its own state.
  private func note(_ position: ReplicaPosition, _ file: FileIdentity) -> EpochChange {
    let number = CommitNumber(position.commit, isExact: true)
    let epoch = commits.epoch
    let isOther = position.epoch != epoch.name
    let hasFallen = !isOther && position.commit < commit
    if isOther || hasFallen || !epochs.isNewest(epoch) {
      let (newest, isNew) = epochs.read(
        position.epoch, hasFallen: hasFallen, in: epoch, ticket: ticket,
        isOfFile: FileIdentity(path: path) == file)
      if newest != epoch || hasFallen {
        commits.enter(newest, at: number)
        return EpochChange(isEntered: true, isNew: isNew)
      }
    }
    commits.see(number)
    return EpochChange()
  }

  /// Called when a file was opened, which may be a replacement.
  package func fileWasOpened(_ file: FileIdentity) -> EpochChange {
    // A replica's file has the numbers of its own states.
    if readsPosition { return EpochChange() }
    let (epoch, isNew) = epochs.opened(file)
    if isNew { numbers.forgetStates() }
    let isEntered = epoch != commits.epoch
    if isEntered { commits.enter(epoch, at: nil) }
    return EpochChange(isEntered: isEntered, isNew: isNew)
  }

  /// Called when no follower has the file open any more.
  package func fileWasReleased() { numbers.forgetStates() }

  /// Called when the open file's -wal or -shm was deleted.
  package func filesWereLost() { epochs.lost(commits.epoch) }

  /// The number of the state that a reader saw; if unknown, a number not above it.
  ///
  /// - Parameter asked: the number of the last tick's state when the job was posted.
  package func number(of place: StatePlace, asked: Int64) -> CommitNumber {
    guard let position = place.position else { return numbers.number(of: place.state, notBefore: asked) }
    let isOfEpoch = position.epoch == commits.epoch.name && position.commit <= commit
    return isOfEpoch ? CommitNumber(position.commit, isExact: true) : CommitNumber(asked, isExact: false)
  }
}
