package import Following
package import Ground
package import LiveQuery
package import Logging
import Store
import Synchronization

/// Gives one file access to the readers, which do everything that may take long: first and further runs of queries,
/// reads of many rows, and compilation of clients' queries. Followers join the results to their lists; see
/// `docs/architecture.md`.
///
/// Any thread.
package final class ReaderPool: Sendable {
  private let readers: Readers
  private let ownsReaders: Bool
  private let reading: ReaderFile
  package let slow: SlowQueries
  package let file: FollowedFile
  /// The memory of large results that are on their way to clients.
  package let contents: ContentsBudget
  private let lastID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - access: what each role may read.
  ///   - readers: threads that are shared with other files; nil if the pool has its own.
  ///   - count: the number of its own threads; 0 if `runAll` does the jobs.
  ///   - contentsBytes: the most bytes of large results on their way to clients.
  ///   - clock: the followers' clock.
  ///   - slow: receives the durations of all runs.
  ///   - readsPosition: whether the file is a replica's.
  package init(
    _ file: FollowedFile, access: AccessRules = .init(), sharing readers: Readers? = nil, count: Int = 0,
    contentsBytes: Int = 256 << 20, clock: MonotonicClock = .system, slow: SlowQueries? = nil,
    readsPosition: Bool = false, logger: Logger
  ) {
    let slow = slow ?? SlowQueries(threshold: .zero, logger: logger)
    self.slow = slow
    self.file = file
    let used = readers ?? Readers(count: count, clock: clock)
    self.readers = used
    ownsReaders = readers == nil
    contents = ContentsBudget(limit: contentsBytes)
    reading = ReaderFile(used.queue.addFile(), file, access, clock, slow, readsPosition: readsPosition, logger)
  }

  /// Returns a number that no other call returns.
  package func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

  package func post(_ job: ReaderJob) {
    var job = job
    job.file = reading
    switch readers.queue.add(job, of: reading.number) {
    case .waits: break
    case .wakes(let reader): readers.wake(reader)
    case .refused: job.failed(FreshetError(.overloaded, "too many queries wait to be run: try again later"))
    }
  }

  /// Cancels a job whose result is no longer wanted.
  package func cancel(_ id: UInt64) { readers.queue.cancel(id, of: reading.number) }

  /// Cancels all jobs of a requester.
  package func cancel(of requester: Requester) { readers.queue.cancel(of: requester, reading.number) }

  /// Bytes of large results that are on their way to clients.
  package var contentsBytes: Int { contents.bytes }

  /// The numbers of waiting and of running jobs.
  package var counts: (waiting: Int, running: Int) { readers.queue.counts(of: reading.number) }

  /// How long jobs waited before they began.
  package var waits: DurationHistogram { readers.queue.waits(of: reading.number) }
  /// How long the oldest waiting job has waited.
  package var longestWait: Nanoseconds { readers.queue.longestWait(of: reading.number) }

  /// Does all jobs on the caller's thread.
  ///
  /// - Returns: whether there were jobs.
  package func runAll() -> Bool {
    let hasJobs = counts.waiting > 0
    readers.runAll()
    return hasJobs
  }

  /// Interrupts the running jobs of the file, waits for them, and closes the readers' connections to it. Waiting jobs
  /// are not begun. Must be called once.
  package func stop() {
    readers.queue.stop(reading.number)
    readers.forget(reading)
    if ownsReaders { readers.stop() }
  }
}
