package import Following
import Lists
package import Logging
package import Requests

/// A follower without a thread, which ticks on the caller's thread. So measurements are repeatable, and do not include
/// waking and waiting.
package final class SteppedFollower {
  private static let mostRounds = 16
  /// The mailbox. Declared first, because the follower does not own it.
  private let thread = FollowerThread()
  private let follower: Follower
  private let readers: ReaderPool

  /// - Throws: the error if the database cannot be opened.
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

  /// Performs everything that was posted and committed, and sends the resulting messages, as a follower does between
  /// two rests.
  package func step() {
    follower.tickOnce()
    // The readers' jobs are done before the step ends. The number of rounds is limited, because lists whose queries
    // keep failing may always have a job.
    for _ in 0..<Self.mostRounds {
      guard readers.runAll() else { return }
      follower.tickOnce()
    }
  }

  /// Makes a step without the readers' jobs, which stay in the queue.
  package func tick() { follower.tickOnce() }

  /// Does the readers' jobs in the file's present state.
  package func runReaders() { _ = readers.runAll() }

  /// Whether work remains that needs no event. False after a failed tick, because the file decides when the next tick
  /// succeeds.
  package var isBusy: Bool { follower.context.mustTick && !follower.isFailing }
}
