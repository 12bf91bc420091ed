import CFreshetSystem
import Following
import Ground
import LiveQuery
import Logging
import Store
import Synchronization

/// Does jobs of all files, one after another, on connections of its own.
///
/// Owner: the worker's thread. Mutable state: connections to the files of the last jobs.
/// @unchecked: `lock` guards `connections`. The connection that a job uses belongs to the thread until the job has
/// ended.
final class Reader: @unchecked Sendable {
  private let number: Int
  private let queue: ReaderQueue
  private let clock: MonotonicClock
  let worker = Worker()
  private let lock = HeldLock()
  /// Connections, the least recently used first.
  private var connections: [ReaderConnection] = []
  private var nextSweep = Instant.distantPast
  /// Whether it has done jobs since it last returned memory to the system.
  private var hasWorked = false

  /// The most connections that it keeps open.
  static let mostConnections = 16
  /// How often it closes connections to files that are not followed any more, if it always has jobs.
  private static let sweepInterval = Nanoseconds.milliseconds(1_000)

  init(_ number: Int, _ queue: ReaderQueue, _ clock: MonotonicClock) {
    self.number = number
    self.queue = queue
    self.clock = clock
  }

  /// Runs until the queue is stopped.
  func run(waking: (Int) -> Void) {
    if number != queue.brisk { lowerPriority() }
    while !queue.isStopping {
      doJobs(waking: waking)
      letGo()
      if !worker.wake.wait() { rest() }
    }
    locked { connections = [] }
  }

  /// The number of connections. Any thread.
  var connectionCount: Int { locked { connections.count } }

  // MARK: - Jobs

  /// Does the waiting jobs.
  func doJobs(waking: (Int) -> Void) {
    worker.assertIsCurrent()
    while let (job, interruption) = queue.next(for: number) {
      hasWorked = true
      let again = perform(job, interruption)
      if let reader = queue.end(number) { waking(reader) }
      if let again, let file = again.file, case .wakes(let reader) = queue.add(again, of: file.number) {
        waking(reader)
      }
      if mustLook { return }
      if clock.now >= nextSweep { sweep() }
    }
  }

  /// - Returns: the job, if it must be done again; nil otherwise.
  private func perform(_ job: ReaderJob, _ interruption: Interruption) -> ReaderJob? {
    guard let file = job.file else { return nil }
    do {
      do {
        try connection(to: file).snapshot { try job.body($0, interruption) }
      } catch {
        if interruption.isStopped { return nil }
        guard interruption.isPostponed else { throw error }
        var again = job
        again.isLong = job.isLong || interruption.hasGivenWay
        again.hasStarved = job.hasStarved || interruption.hasStarved
        return again
      }
    } catch let error as FreshetError { job.failed(error) } catch {
      file.logger.error("the database cannot be read", metadata: ["error": "\(error)"])
      job.failed(FreshetError(unreadable: error))
    }
    return nil
  }

  // MARK: - Connections

  private func connection(to file: ReaderFile) -> ReaderConnection {
    // The connection is released after the lock.
    var closed: ReaderConnection?
    defer { withExtendedLifetime(closed) {} }
    lock.lock()
    defer { lock.unlock() }
    let known = connections.firstIndex { $0.file === file }.map { connections.remove(at: $0) }
    if known == nil, connections.count >= Self.mostConnections { closed = connections.removeFirst() }
    let connection = known ?? ReaderConnection(file, wake: worker.wake)
    connections.append(connection)
    return connection
  }

  /// Closes the connection to a file that has no jobs any more. Any thread.
  func forget(_ file: ReaderFile) { locked { connections.removeAll { $0.file === file } } }

  /// Whether another holder has closed lost files. Takes some atomic loads.
  private var mustLook: Bool { locked { connections.contains { $0.holder.mustLook } } }

  private func letGo() {
    locked { for connection in connections where connection.holder.mustLetGo { connection.holder.close() } }
  }

  /// Closes connections to files that are not followed any more.
  private func sweep() {
    nextSweep = clock.now + Self.sweepInterval
    locked {
      for connection in connections where connection.file.users.isEmpty { connection.holder.close() }
      connections.removeAll { $0.holder.connection == nil && !$0.holder.isWaiting }
    }
  }

  /// Called after a second without jobs. Returns the memory of past work once, and closes files that are not followed.
  private func rest() {
    sweep()
    guard hasWorked else { return }
    hasWorked = false
    locked { for connection in connections { connection.holder.connection?.releaseMemory() } }
    system_return_free_memory()
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body()
  }

  /// Lowers the thread's priority, so that followers and sockets take precedence.
  private func lowerPriority() {
    #if os(Linux)
      // On Linux, this sets only the calling thread's priority.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
    system_take_short_slices()
  }
}
