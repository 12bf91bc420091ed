import CFreshetSystem
import LiveQuery
import Logging
import Store
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Does jobs on a connection of its own, one after the other.
///
/// Owner: one thread, but for `wake` and `releaseFiles`.
// @unchecked: `database`, `lost` and `hasWorked` belong to the thread.
final class Reader: @unchecked Sendable {
  private let number: Int
  private let path: String
  private let access: AccessRules
  private let readsPosition: Bool
  private let queue: ReaderQueue
  private let clock: MonotonicClock
  private let slow: SlowQueries
  private let logger: Logger
  let wake = WakeSignal()
  private let mustRelease = Atomic<Bool>(false)
  /// Nil until it is needed, and while the file is not there.
  private var database: ReaderDatabase?
  /// Files that were deleted while they were open, until they are out of use.
  private var lost: LostFiles?
  /// Since memory was given back.
  private var hasWorked = false

  init(
    _ number: Int, path: String, _ access: AccessRules, _ queue: ReaderQueue, _ clock: MonotonicClock,
    _ slow: SlowQueries, readsPosition: Bool, _ logger: Logger
  ) {
    self.readsPosition = readsPosition
    self.slow = slow
    self.number = number
    self.path = path
    self.access = access
    self.queue = queue
    self.clock = clock
    self.logger = logger
  }

  /// Until the queue is stopped.
  func run(waking: (Int) -> Void) {
    lowerPriority()
    while !queue.isStopping {
      doJobs(waking: waking)
      if mustRelease.exchange(false, ordering: .acquiringAndReleasing) { releaseLostFiles() }
      if !wake.wait() { rest() }
    }
    database = nil
  }

  /// Nothing was asked for a second: memory that work took is given back, once.
  private func rest() {
    guard hasWorked else { return }
    hasWorked = false
    database?.releaseMemory()
    system_return_free_memory()
  }

  /// What there is to do now.
  func doJobs(waking: (Int) -> Void) {
    while let (job, interruption) = queue.next(for: number) {
      hasWorked = true
      let again = perform(job, interruption)
      if let reader = queue.end(number) { waking(reader) }
      if let again, case .wakes(let reader) = queue.add(again) { waking(reader) }
      if mustRelease.load(ordering: .relaxed) { return }
    }
  }

  /// - Returns: the job, when it has to be done again.
  private func perform(_ job: ReaderJob, _ interruption: Interruption) -> ReaderJob? {
    do {
      let database = try open()
      do {
        try database.snapshot { try job.body(database, interruption) }
      } catch {
        if interruption.isStopped { return nil }
        guard interruption.hasGivenWay else { throw error }
        var again = job
        again.isLong = true
        return again
      }
    } catch let error as FreshetError { job.failed(error) } catch {
      logger.error("the database cannot be read", metadata: ["error": "\(error)"])
      job.failed(FreshetError(unreadable: error))
    }
    return nil
  }

  /// The file that has the name now.
  private func open() throws -> ReaderDatabase {
    if let database {
      let isSame = FileIdentity(path: path) == database.connection.file
      if isSame, database.connection.files.state == .same { return database }
      releaseLostFiles()
      self.database = nil
    }
    while let lost, !lost.mayOpen, !lost.isOverdue { usleep(2_000) }
    lost = nil
    guard FileIdentity(path: path) != nil else { throw FreshetError.databaseMissing }
    let opened = try ReaderDatabase(path: path, access, clock: clock, slow: slow, readsPosition: readsPosition)
    database = opened
    return opened
  }

  /// A -wal or -shm was deleted: all connections of the process have to be closed before others are of use. Any thread.
  func releaseFiles() {
    mustRelease.store(true, ordering: .releasing)
    wake.signal()
  }

  private func releaseLostFiles() {
    guard let files = database?.connection.files, files.state != .same else { return }
    database = nil
    lost = LostFiles(files, isEmptied: false, clock: clock)
  }

  /// Followers and the sockets come first.
  private func lowerPriority() {
    #if os(Linux)
      // Of this thread alone, in Linux.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
    system_take_short_slices()
  }
}
