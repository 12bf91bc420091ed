package import Following
import Lists
package import Logging
package import Requests

/// A follower without a thread: it ticks on the caller's thread. Measurements are then free of waking and waiting, and
/// repeatable.
package final class SteppedFollower {
  private static let mostRounds = 16
  /// The mailbox. Declared first, because the follower does not own it.
  private let thread = FollowerThread()
  private let follower: Follower
  private let readers: ReaderPool

  /// - Throws: the error that keeps the database from being opened.
  package init(_ configuration: FollowerConfiguration, output: any SubscriptionOutput, logger: Logger) throws {
    let file = FollowedFile(configuration.path, numbers: CommitNumbers(startingAt: configuration.firstCommit))
    readers = ReaderPool(
      file, access: configuration.access, count: 0, clock: configuration.clock,
      readsPosition: configuration.readsPosition, logger: logger)
    follower = try Follower(
      configuration, output: output, readers: readers, logger: logger, thread: thread)
  }

  deinit { follower.close() }

  package func post(_ command: FollowerCommand) { thread.post(command) }

  /// See `FollowerThread.requestTick`.
  package func requestTick() { thread.requestTick() }

  /// Performs what was posted and committed, and hands over the resulting messages, as a follower's thread does between
  /// two waits.
  package func step() {
    follower.tickOnce()
    // Readers' jobs are done before the step ends. Lists whose queries keep failing may always have one.
    for _ in 0..<Self.mostRounds {
      guard readers.runAll() else { return }
      follower.tickOnce()
    }
  }

  /// A step without readers' jobs, which stay in the queue.
  package func tick() { follower.tickOnce() }

  /// Does the readers' jobs in the file's present state.
  package func runReaders() { _ = readers.runAll() }

  /// Whether work remains that needs no event. Not after a failed tick: the file decides when the next one succeeds.
  package var isBusy: Bool { follower.context.mustTick && !follower.isFailing }
}
