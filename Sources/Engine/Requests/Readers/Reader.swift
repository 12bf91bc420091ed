import CFreshetSystem
import Following
import Ground
import LiveQuery
import Logging
import Store
import Synchronization

/// Does jobs on a connection of its own, one after the other.
///
/// Owner: the worker's thread.
// @unchecked: `holder` and `hasWorked` belong to the thread.
final class Reader: @unchecked Sendable {
  private let number: Int
  private let queue: ReaderQueue
  private let users: FileUsers
  private let logger: Logger
  let worker = Worker()
  /// Opened on demand.
  private let holder: FileHolder<ReaderDatabase, any Error>
  /// Whether it has worked since it last returned memory.
  private var hasWorked = false

  init(
    _ number: Int, _ file: FollowedFile, _ access: AccessRules, _ queue: ReaderQueue, _ clock: MonotonicClock,
    _ slow: SlowQueries, readsPosition: Bool, _ logger: Logger
  ) {
    self.number = number
    self.queue = queue
    users = file.users
    self.logger = logger
    holder = FileHolder(path: file.path, clock: clock, users: users, thread: worker.wake) { [path = file.path] in
      try ReaderDatabase(path: path, access, clock: clock, slow: slow, readsPosition: readsPosition)
    }
  }

  /// Runs until the queue is stopped.
  func run(waking: (Int) -> Void) {
    if number != queue.brisk { lowerPriority() }
    while !queue.isStopping {
      doJobs(waking: waking)
      if holder.mustLetGo { holder.close() }
      if !worker.wake.wait() { rest() }
    }
    holder.close()
  }

  /// After a second without jobs. Returns the memory of past work once, and closes a file that is not followed.
  private func rest() {
    if users.isEmpty { holder.close() }
    guard hasWorked else { return }
    hasWorked = false
    holder.connection?.releaseMemory()
    system_return_free_memory()
  }

  /// Does the waiting jobs.
  func doJobs(waking: (Int) -> Void) {
    worker.assertIsCurrent()
    while let (job, interruption) = queue.next(for: number) {
      hasWorked = true
      let again = perform(job, interruption)
      if let reader = queue.end(number) { waking(reader) }
      if let again, case .wakes(let reader) = queue.add(again) { waking(reader) }
      if holder.mustLook { return }
    }
  }

  /// - Returns: the job, if it must be done again.
  private func perform(_ job: ReaderJob, _ interruption: Interruption) -> ReaderJob? {
    do {
      do {
        try snapshot { try job.body($0, interruption) }
      } catch {
        if interruption.isStopped { return nil }
        guard interruption.isPostponed else { throw error }
        var again = job
        again.isLong = job.isLong || interruption.hasGivenWay
        again.hasStarved = job.hasStarved || interruption.hasStarved
        return again
      }
    } catch let error as FreshetError { job.failed(error) } catch {
      logger.error("the database cannot be read", metadata: ["error": "\(error)"])
      job.failed(FreshetError(unreadable: error))
    }
    return nil
  }

  /// Runs `body` in a read transaction; on another connection where this one cannot go on.
  private func snapshot(_ body: (ReaderDatabase) throws -> Void) throws {
    let database = try open()
    do { try database.snapshot { try body(database) } } catch {
      guard holder.isUseless else { throw error }
      let opened = try open()
      try opened.snapshot { try body(opened) }
    }
  }

  /// Opens the file that has the name now, unless it is open.
  private func open() throws -> ReaderDatabase {
    if holder.finding == .same, let database = holder.connection { return database }
    holder.close()
    _ = holder.waitForFiles()
    if holder.finding == .missing { throw FreshetError.databaseMissing }
    let opened = try holder.open()
    holder.adopt(opened)
    return opened
  }

  /// Gives precedence to followers and sockets.
  private func lowerPriority() {
    #if os(Linux)
      // On Linux, this sets only the calling thread's priority.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
    system_take_short_slices()
  }
}
