package import LiveQuery
package import Logging
import Store

/// Shares one controller among all subscriptions of a query, and spreads queries over followers.
///
/// A query is followed by one follower, which its text decides: queries that differ only in the values of their parameters are
/// followed together. What is asked about it goes there.
package final class ControllerPool: Sendable {
  private let followers: [FollowerThread]
  /// Each has a bit in the sets of those who wait for a session.
  package static let mostFollowers = 64
  /// What they do may be asked of it.
  package let readers: ReaderPool
  /// Of the states of the file, for whoever in this process follows it as well.
  package let numbers: CommitNumbers
  /// Likewise, the epochs that these belong to.
  package let epochs: FileEpochs
  private let output: any SubscriptionOutput
  let clock: MonotonicClock

  /// - Throws: what keeps the database from being opened.
  package init(
    _ configuration: FollowerConfiguration, followers count: Int, readers readerCount: Int,
    output: any SubscriptionOutput, epochs: FileEpochs = FileEpochs(), logger: Logger
  ) throws {
    let readers = ReaderPool(
      path: configuration.path, access: configuration.access, count: max(1, readerCount), clock: configuration.clock,
      slow: SlowQueries(threshold: configuration.slowQuery, names: configuration.queryNames, logger: logger),
      readsPosition: configuration.readsPosition, logger: logger)
    self.readers = readers
    let numbers = CommitNumbers(startingAt: configuration.firstCommit)
    self.numbers = numbers
    self.epochs = epochs
    self.output = output
    clock = configuration.clock
    var followers: [FollowerThread] = []
    let count = min(max(1, count), Self.mostFollowers)
    var configuration = configuration
    configuration.historyBytes /= count
    for number in 0..<count {
      followers.append(
        try FollowerThread(
          configuration, number: number, output: output, readers: readers, numbers: numbers, epochs: epochs,
          logger: logger))
    }
    self.followers = followers
  }

  /// Which follower follows a query.
  package func follower(for query: Query) -> FollowerThread {
    if followers.count == 1 { return followers[0] }
    return followers[Int(UInt(bitPattern: query.text.hashValue) % UInt(followers.count))]
  }

  package var count: Int { followers.count }

  /// To the follower of a number, from 0 up. Any thread.
  package func post(_ command: FollowerCommand, to follower: Int) { followers[follower].post(command) }

  /// Commands that wait for each follower. Any thread.
  package var waitingCommands: [Int] { followers.map(\.waitingCommands) }

  /// To all followers. Any thread.
  package func post(_ command: FollowerCommand) {
    for follower in followers { follower.post(command) }
  }

  /// Has all followers take a tick soon: this process has committed. Any thread.
  package func requestTick() { for follower in followers { follower.requestTick() } }

  /// Sessions have drained for which `SubscriptionOutput.isDrained` gave these followers no: a bit each. Any thread.
  package func sessionsDrained(for followers: UInt64) {
    for (number, follower) in self.followers.enumerated() where followers >> number & 1 == 1 { follower.requestTick() }
  }

  /// Begins another epoch of the same file: versions of before are worth nothing from now on. Any thread.
  ///
  /// - Parameter epoch: its name; nil for one that no other has.
  package func beginEpoch(_ epoch: String? = nil) {
    epochs.begin(epoch)
    output.epochChanged()
    requestTick()
  }

  /// Ends all followers and waits for them.
  package func stop() {
    readers.stop()
    for follower in followers { follower.stop() }
  }
}
