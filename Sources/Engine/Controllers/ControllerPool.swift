package import Feed
package import Following
package import Ground
package import LiveQuery
package import Logging
package import Requests
package import Store

/// Shares one list among all subscriptions of a query, and distributes queries over followers.
///
/// The text of a query determines its follower, so that queries which differ only in parameter values share their work.
/// All commands about a query go to its follower.
package final class ControllerPool: Sendable {
  private let followers: [FollowerThread]
  /// The most followers. Each follower, and the feed, is one bit in sets of those that wait for a session.
  package static let mostFollowers = 63
  /// The readers; package-visible for their statistics.
  package let readers: ReaderPool
  /// State that all followers of the file in this process share.
  package let file: FollowedFile
  /// The feed of changes.
  package let feed: ChangeFeedThread
  private let output: any SubscriptionOutput
  private let keeper: StateKeeper?
  let clock: MonotonicClock

  /// - Parameters:
  ///   - users: shared by all threads of this process that have the file open.
  ///   - journal: keeps the feed's state for the next process; nil if nothing is kept.
  ///   - readerCount: the number of reader threads, if they are not shared.
  ///   - sharedReaders: readers that several files share; nil if the pool has its own.
  ///   - workers: the workers that step the followers and the feed.
  /// - Throws: the error that keeps the database from being opened.
  package init(
    _ configuration: FollowerConfiguration, followers count: Int, readers readerCount: Int = 1,
    output: any SubscriptionOutput, epochs: FileEpochs = FileEpochs(), users: FileUsers? = nil,
    journal: FeedJournal? = nil, sharing sharedReaders: Readers? = nil, workers: Workers = .shared, logger: Logger
  ) throws {
    // Numbers that readers of the feed know are not given again, even in a new epoch that would begin with 0. A
    // replica's file has its own numbers.
    let told = configuration.readsPosition ? 0 : journal?.lastCommit.map { $0 + 1 } ?? 0
    let numbers = CommitNumbers(startingAt: max(configuration.firstCommit, told))
    let file = FollowedFile(configuration.path, numbers: numbers, epochs: epochs, users: users)
    self.file = file
    let readers = ReaderPool(
      file, access: configuration.access, sharing: sharedReaders, count: max(1, readerCount),
      clock: configuration.clock,
      slow: SlowQueries(threshold: configuration.slowQuery, names: configuration.queryNames, logger: logger),
      readsPosition: configuration.readsPosition, logger: logger)
    self.readers = readers
    self.output = output
    keeper = configuration.keeper
    clock = configuration.clock
    var followers: [FollowerThread] = []
    let count = min(max(1, count), Self.mostFollowers)
    var configuration = configuration
    configuration.historyBytes /= count
    do {
      for number in 0..<count {
        followers.append(
          try FollowerThread(
            configuration, number: number, output: output, readers: readers, workers: workers, logger: logger))
      }
    } catch {
      readers.stop()
      for follower in followers { follower.stop() }
      throw error
    }
    self.followers = followers
    var feed = FeedConfiguration()
    feed.historyBytes = configuration.changeBytes
    feed.captureBytes = configuration.captureBytes
    feed.access = configuration.access
    feed.readsPosition = configuration.readsPosition
    feed.clock = configuration.clock
    feed.journal = journal
    self.feed = ChangeFeedThread(
      file, feed, output: output, waiter: count, workers: workers, logger: logger)
  }

  /// The follower of a query.
  package func follower(for query: Query) -> FollowerThread {
    if followers.count == 1 { return followers[0] }
    // The follower of a query is the same in every process, so that a follower's kept state belongs to its lists.
    return followers[Fingerprint(of: query).choice(of: followers.count)]
  }

  package var count: Int { followers.count }

  /// Posts to the follower of this number, counted from 0. Any thread.
  package func post(_ command: FollowerCommand, to follower: Int) { followers[follower].post(command) }

  /// How many commands wait for each follower. Any thread.
  package var waitingCommands: [Int] { followers.map(\.waitingCommands) }

  /// Posts to all followers. Any thread.
  package func post(_ command: FollowerCommand) {
    for follower in followers { follower.post(command) }
    feed.post(command)
  }

  /// Requests a tick of all followers, after a commit by this process. Any thread.
  package func requestTick() {
    for follower in followers { follower.requestTick() }
    feed.requestTick()
  }

  /// Called when sessions drain that `SubscriptionOutput.isDrained` had reported busy; `followers` has one bit for each
  /// follower that waits for them. Any thread.
  package func sessionsDrained(for followers: UInt64) {
    for (number, follower) in self.followers.enumerated() where followers >> number & 1 == 1 { follower.requestTick() }
    if followers >> count & 1 == 1 { feed.requestTick() }
  }

  /// Begins another epoch of the same file, which makes earlier versions invalid. Any thread.
  ///
  /// - Parameter epoch: the epoch's name; nil for a new, unique name.
  package func beginEpoch(_ epoch: String? = nil) {
    file.epochs.begin(epoch)
    output.epochChanged()
    requestTick()
  }

  /// Calls back when all followers have reached a commit of an epoch, or a later commit. From then on every query shows
  /// it. Any thread; any number of waiters.
  ///
  /// - Parameters:
  ///   - epoch: the epoch's name in version names.
  ///   - timeout: the longest wait.
  ///   - reply: called once, on a follower's thread, with the commit, or with `timeout`, or with `overloaded` when the
  ///     server stops.
  package func whenReached(
    _ commit: Int64, epoch: String, timeout: Duration,
    reply: @escaping @Sendable (Result<Int64, FreshetError>) -> Void
  ) {
    let waiter = CommitWaiter(
      commit, epoch: epoch, deadline: clock.now + timeout, followers: count, reply: reply)
    post(.awaitCommit(waiter))
  }

  /// Stops all followers and waits until their connections are closed. Must not be called from a worker.
  ///
  /// - Parameter ended: called when all followers have ended, before the last states are kept.
  package func stop(ended: () -> Void = {}) {
    readers.stop()
    for follower in followers { follower.stop() }
    feed.stop()
    ended()
    keeper?.finish(highest: file.numbers.highest)
  }
}
