package import Following
package import Ground
package import LiveQuery
package import Logging
import Store
import Synchronization

/// The threads that run everything which may take long: first and further runs of queries, reads of many rows, and
/// compilation of clients' queries. Followers join the results to their lists; see `docs/architecture.md`.
package final class ReaderPool: Sendable {
  private let queue: ReaderQueue
  package let slow: SlowQueries
  package let file: FollowedFile
  private let readers: [Reader]
  /// The memory of large results that are on their way to clients.
  package let contents: ContentsBudget
  private let lastID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - access: what roles may read.
  ///   - count: the number of threads; 0: `runAll` does the jobs.
  ///   - contentsBytes: the most bytes of large results on their way to clients.
  ///   - clock: the followers' clock.
  ///   - slow: receives the durations of all runs.
  ///   - readsPosition: whether the file is a replica's.
  package init(
    _ file: FollowedFile, access: AccessRules = .init(), count: Int, contentsBytes: Int = 256 << 20,
    clock: MonotonicClock = .system, slow: SlowQueries? = nil, readsPosition: Bool = false, logger: Logger
  ) {
    let slow = slow ?? SlowQueries(threshold: .zero, logger: logger)
    self.slow = slow
    self.file = file
    contents = ContentsBudget(limit: contentsBytes)
    let queue = ReaderQueue(readers: count, clock: clock)
    self.queue = queue
    // One more takes the jobs that starved.
    let readers = (0...max(1, count)).map {
      Reader($0, file, access, queue, clock, slow, readsPosition: readsPosition, logger)
    }
    self.readers = readers
    if count == 0 { return }
    for reader in readers { reader.worker.start { reader.run { readers[$0].worker.wake.signal() } } }
  }

  /// Returns a number that no other call returns.
  package func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

  /// Any thread.
  package func post(_ job: ReaderJob) {
    switch queue.add(job) {
    case .waits: break
    case .wakes(let reader): readers[reader].worker.wake.signal()
    case .refused: job.failed(FreshetError(.overloaded, "too many queries wait to be run: try again later"))
    }
  }

  /// Cancels a job whose result is no longer wanted. Any thread.
  package func cancel(_ id: UInt64) { queue.cancel(id) }

  /// Cancels all jobs of a requester. Any thread.
  package func cancel(of requester: Requester) { queue.cancel(of: requester) }

  /// Bytes of large results that are on their way to clients. Any thread.
  package var contentsBytes: Int { contents.bytes }

  /// The numbers of waiting and of running jobs. Any thread.
  package var counts: (waiting: Int, running: Int) { queue.counts }

  /// How long jobs waited before they began. Any thread.
  package var waits: DurationHistogram { queue.waits }
  /// How long the oldest waiting job has waited. Any thread.
  package var longestWait: Nanoseconds { queue.longestWait }

  /// Does all jobs on the caller's thread.
  ///
  /// - Returns: whether there were any.
  package func runAll() -> Bool {
    let hasJobs = queue.counts.waiting > 0
    readers[0].doJobs { _ in }
    return hasJobs
  }

  /// Interrupts running jobs, ends the threads and waits for them. Must be called once.
  package func stop() {
    queue.stop()
    for reader in readers { reader.worker.wake.signal() }
    for reader in readers { reader.worker.join() }
  }
}
