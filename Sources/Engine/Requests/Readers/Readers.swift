package import Ground

/// The threads that do everything that may take long, for any number of files. Each file has a `ReaderPool` for its
/// jobs.
///
/// Any thread.
package final class Readers: Sendable {
  let queue: ReaderQueue
  private let readers: [Reader]
  private let hasThreads: Bool

  /// - Parameters:
  ///   - count: the number of threads; 0 if `ReaderPool.runAll` does the jobs.
  ///   - clock: measures how long jobs wait and run.
  package init(count: Int, clock: MonotonicClock = .system) {
    let queue = ReaderQueue(readers: count, clock: clock)
    self.queue = queue
    // The additional reader takes jobs whose readers got too little processor time.
    let readers = (0...max(1, count)).map { Reader($0, queue, clock) }
    self.readers = readers
    hasThreads = count > 0
    if !hasThreads { return }
    for reader in readers { reader.worker.start { reader.run { readers[$0].worker.wake.signal() } } }
  }

  func wake(_ reader: Int) { readers[reader].worker.wake.signal() }

  /// Does all jobs on the caller's thread. To be called only if there are no threads.
  func runAll() { readers[0].doJobs { _ in } }

  /// Closes the readers' connections to a file that has no jobs any more.
  func forget(_ file: ReaderFile) { for reader in readers { reader.forget(file) } }

  /// The number of connections of all readers. Any thread.
  var connectionCount: Int { readers.reduce(0) { $0 + $1.connectionCount } }

  /// Interrupts running jobs, ends the threads and waits for them. Must be called once, after all files' pools were
  /// stopped.
  package func stop() {
    queue.stop()
    for reader in readers { reader.worker.wake.signal() }
    for reader in readers { reader.worker.join() }
  }
}
