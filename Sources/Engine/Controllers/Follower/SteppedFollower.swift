package import Logging

/// A follower without a thread: it ticks on the caller's thread. What is measured that way has
/// neither waking nor waiting in it, and comes out the same every time.
package final class SteppedFollower {
  /// The mailbox. Declared first: the follower does not own it.
  private let thread = FollowerThread()
  private let follower: Follower
  private let readers: ReaderPool

  /// - Throws: what keeps the database from being opened.
  package init(_ configuration: FollowerConfiguration, output: any SubscriptionOutput, logger: Logger) throws {
    readers = ReaderPool(
      path: configuration.path, access: configuration.access, count: 0, clock: configuration.clock,
      readsPosition: configuration.readsPosition, logger: logger)
    follower = try Follower(
      configuration, output: output, readers: readers, numbers: CommitNumbers(startingAt: configuration.firstCommit),
      epochs: FileEpochs(), logger: logger, thread: thread)
  }

  deinit { follower.close() }

  package func post(_ command: FollowerCommand) { thread.post(command) }

  /// See `FollowerThread.requestTick`.
  package func requestTick() { thread.requestTick() }

  /// Takes in what was posted and committed, and hands over what that causes, as a follower's thread does between two waits.
  package func step() {
    follower.step()
    // What readers do on threads of their own comes before the step ends.
    while readers.runAll() { follower.step() }
  }

  /// The same without what readers do, which stays to be done.
  package func tick() { follower.step() }

  /// Has readers do what there is to do now, in the state that the file is in now.
  package func runReaders() { _ = readers.runAll() }

  /// There is something left to do that needs no event. After a failed tick there is not: the file decides when the next one works.
  package var isBusy: Bool { follower.context.mustTick && !follower.isFailing }
}
