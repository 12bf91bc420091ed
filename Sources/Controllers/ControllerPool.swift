package import LiveQuery
package import Logging

/// Shares one controller among all subscriptions of a query, and spreads queries over workers.
///
/// A query is followed by one worker, which its text decides: queries that differ only in the values of their parameters are
/// followed together. What is asked about it goes there.
package final class ControllerPool: Sendable {
  private let workers: [Worker]
  /// What they do may be asked of it.
  package let readers: ReaderPool

  /// - Throws: what keeps the database from being opened.
  package init(
    _ configuration: WorkerConfiguration, followers count: Int, readers readerCount: Int,
    output: any SubscriptionOutput, logger: Logger
  ) throws {
    let readers = ReaderPool(path: configuration.path, count: max(1, readerCount), logger: logger)
    self.readers = readers
    let numbers = CommitNumbers()
    var workers: [Worker] = []
    for _ in 0..<max(1, count) {
      workers.append(try Worker(configuration, output: output, readers: readers, numbers: numbers, logger: logger))
    }
    self.workers = workers
  }

  /// Which worker follows a query.
  package func worker(for query: Query) -> Worker {
    if workers.count == 1 { return workers[0] }
    return workers[Int(UInt(bitPattern: query.withoutValues.hashValue) % UInt(workers.count))]
  }

  /// To all workers. Any thread.
  package func post(_ command: WorkerCommand) {
    for worker in workers { worker.post(command) }
  }

  /// Ends all workers and waits for them.
  package func stop() {
    readers.stop()
    for worker in workers { worker.stop() }
  }
}
