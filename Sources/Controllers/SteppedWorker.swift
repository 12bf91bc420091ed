package import Logging

/// A worker without a thread: it takes its turns when it is told to, on the caller's thread. What is measured that way has
/// neither waking nor waiting in it, and comes out the same every time.
package final class SteppedWorker {
  /// The mailbox. Declared first: the loop does not own it.
  private let worker = Worker()
  private let loop: WorkerLoop
  private let readers: ReaderPool

  /// - Throws: what keeps the database from being opened.
  package init(_ configuration: WorkerConfiguration, output: any SubscriptionOutput, logger: Logger) throws {
    readers = ReaderPool(path: configuration.path, count: 0, logger: logger)
    loop = try WorkerLoop(
      configuration, output: output, readers: readers, numbers: CommitNumbers(), logger: logger, worker: worker)
  }

  deinit { loop.close() }

  package func post(_ command: WorkerCommand) { worker.post(command) }

  /// Takes in what was posted and committed, and hands over what that causes, as a worker's thread does between two waits.
  package func step() {
    loop.step()
    // What readers do on threads of their own comes before the step ends.
    while readers.runAll() { loop.step() }
  }

  /// There is something left to do that needs no event.
  package var isBusy: Bool { loop.mustTurn }
}
