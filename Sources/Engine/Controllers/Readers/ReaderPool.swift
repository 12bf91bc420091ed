package import LiveQuery
package import Logging
package import Store
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The threads on which everything runs that may take long: first runs of queries, runs again, contents of many rows, and
/// compiling what clients wrote. What they make joins the followed lists afterwards; see `docs/architecture.md`.
package final class ReaderPool: Sendable {
  private let queue: ReaderQueue
  package let slow: SlowQueries
  private let readers: [Reader]
  private let threads = Mutex<[pthread_t]>([])
  /// The memory of large results that are on their way to clients.
  let contents: ContentsBudget
  private let lastID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - access: what roles may read.
  ///   - count: how many threads; 0: none, jobs are done when `runAll` is called.
  ///   - contentsBytes: what large results that are on their way to clients may take altogether.
  ///   - clock: that of the followers.
  ///   - slow: is told of all runs; nil for nobody.
  ///   - readsPosition: whether the file is a replica's.
  package init(
    path: String, access: AccessRules = .init(), count: Int, contentsBytes: Int = 256 << 20,
    clock: MonotonicClock = .system, slow: SlowQueries? = nil, readsPosition: Bool = false, logger: Logger
  ) {
    let slow = slow ?? SlowQueries(threshold: .zero, logger: logger)
    self.slow = slow
    contents = ContentsBudget(limit: contentsBytes)
    let queue = ReaderQueue(readers: count, clock: clock)
    self.queue = queue
    let readers = (0..<max(1, count)).map {
      Reader($0, path: path, access, queue, clock, slow, readsPosition: readsPosition, logger)
    }
    self.readers = readers
    if count == 0 { return }
    threads.withLock { threads in
      threads = readers.map { reader in startThread { reader.run { readers[$0].wake.signal() } } }
    }
  }

  /// Another number at each call.
  func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

  /// Any thread.
  func post(_ job: ReaderJob) {
    switch queue.add(job) {
    case .waits: break
    case .wakes(let reader): readers[reader].wake.signal()
    case .refused: job.failed(FreshetError(.overloaded, "too many queries wait to be run: try again later"))
    }
  }

  /// What the job would lead to is not wanted any more. Any thread.
  func cancel(_ id: UInt64) { queue.cancel(id) }

  /// The same for all jobs of a requester. Any thread.
  func cancel(of requester: Requester) { queue.cancel(of: requester) }

  /// A -wal or -shm was deleted: readers let go of the files. Any thread.
  func releaseFiles() { for reader in readers { reader.releaseFiles() } }

  /// Bytes of large results that are on their way to clients. Any thread.
  package var contentsBytes: Int { contents.bytes }

  /// Jobs that wait, and that run. Any thread.
  package var counts: (waiting: Int, running: Int) { queue.counts }

  /// How long jobs have waited that were begun. Any thread.
  package var waits: DurationHistogram { queue.waits }
  /// For how long the oldest of the jobs that wait has. Any thread.
  package var longestWait: Nanoseconds { queue.longestWait }

  /// Does all jobs on the caller's thread.
  ///
  /// - Returns: whether there were any.
  func runAll() -> Bool {
    let hasJobs = queue.counts.waiting > 0
    readers[0].doJobs { _ in }
    return hasJobs
  }

  /// Gives up what runs, ends the threads and waits for them. To be called once.
  package func stop() {
    queue.stop()
    for reader in readers { reader.wake.signal() }
    let threads = threads.withLock { $0 }
    for thread in threads { pthread_join(thread, nil) }
  }
}
