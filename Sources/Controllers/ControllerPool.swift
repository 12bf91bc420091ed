package import LiveQuery
package import Logging

/// Shares one controller among all subscriptions of a query, and spreads queries over workers.
///
/// A query is followed by one worker, which its text and parameters decide; what is asked about it goes there.
package final class ControllerPool: Sendable {
  private let workers: [Worker]

  /// - Throws: what keeps the database from being opened.
  package init(
    _ configuration: WorkerConfiguration, workers count: Int, output: any SubscriptionOutput, logger: Logger
  ) throws {
    var workers: [Worker] = []
    for _ in 0..<max(1, count) { workers.append(try Worker(configuration, output: output, logger: logger)) }
    self.workers = workers
  }

  /// Which worker follows a query.
  package func worker(for query: Query) -> Worker {
    workers[Int(UInt(bitPattern: query.hashValue) % UInt(workers.count))]
  }

  /// To all workers. Any thread.
  package func post(_ command: WorkerCommand) {
    for worker in workers { worker.post(command) }
  }

  /// Ends all workers and waits for them.
  package func stop() {
    for worker in workers { worker.stop() }
  }
}
