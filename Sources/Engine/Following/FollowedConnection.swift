package import ChangeCapture
package import Ground
package import Logging
import Store

/// One follower's connection to the file that it follows: whether it is to the file that has the name, when there may
/// be a commit, and since when it cannot be read. Lists' followers, the feed and the publisher each have one.
///
/// Owner: the thread that steps the follower.
package final class FollowedConnection {
  private let path: String
  private let clock: MonotonicClock
  private let logger: Logger
  private let holder: DatabaseHolder
  private let detection: CommitDetection
  private let watcher: DatabaseWatcher
  /// Since when ticks cannot read the file; nil: the last one could.
  @exclusivity(unchecked) private var failingSince: Instant?
  private var hasLoggedOpening = false
  private var hasWarnedOfSharedMemory = false

  /// - Parameters:
  ///   - thread: what wakes its owner.
  ///   - restored: what another process has kept of the file, for the first time.
  package init(
    _ file: FollowedFile, _ settings: ChangeCapture.Settings, clock: MonotonicClock, thread: any Wakeable,
    readsPosition: Bool = false, logger: Logger, restoring restored: @escaping () -> CaptureState? = { nil }
  ) {
    path = file.path
    self.clock = clock
    self.logger = logger
    holder = file.holder(
      settings, clock: clock, thread: thread, readsPosition: readsPosition, restoring: restored)
    watcher = file.watcher
    detection = CommitDetection(path: file.path, wake: thread, clock: clock, watcher: file.watcher)
  }

  /// Nil: there is no file, or it could not be opened, or it was closed.
  package var database: OpenDatabase? { holder.connection }
  package var isFailing: Bool { failingSince != nil }

  // MARK: - Which file

  /// Whether no file has the name. A system call.
  package var isMissing: Bool { holder.finding == .missing }

  /// Whether the file that has the name is not the open one, or shows other contents. Some system calls.
  package var isAnother: Bool { ![.same, .missing].contains(holder.finding) }

  /// - Returns: nil: no file has the name.
  package func open() throws -> OpenDatabase? {
    if isMissing { return nil }
    let opened = try holder.open()
    holder.adopt(opened)
    return opened
  }

  /// Whether another file may have the name, or the open one other contents. After a wait.
  package func mayBeReplaced(hasCommit: Bool) -> Bool {
    detection.mayBeReplaced(isOpen: database != nil, hasChanged: hasCommit, clock.now) || holder.mustLook
  }

  /// Opens a file that has appeared, or has replaced the open one. A connection that uses files without a name, or
  /// shows overwritten contents, is closed; SQLite opens the new ones only after this process has closed all
  /// connections to them.
  ///
  /// - Parameter closing: called before a connection is closed, with whether its files were lost.
  /// - Returns: the file, or why it cannot be opened; nil: the one that was open still is, or none can be opened yet.
  package func openIfReplaced(closing: (_ isLost: Bool) -> Void) -> Result<OpenDatabase, any Error>? {
    switch holder.finding {
    case .same, .missing: return nil
    case .filesLost: close("the -wal or -shm was deleted while the database was open", closing)
    case .overwritten:
      close("the database file was written to by something else than SQLite: it is read anew", closing)
    case .another: break
    }
    guard holder.mayOpen || holder.isOverdue else { return nil }
    do {
      let opened = try holder.open()
      closing(false)
      holder.adopt(opened)
      watcher.renew()
      hasLoggedOpening = false
      return .success(opened)
    } catch {
      // Logged once, because it is retried again and again.
      if !hasLoggedOpening {
        hasLoggedOpening = true
        logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
      }
      return .failure(error)
    }
  }

  private func close(_ reason: String, _ closing: (_ isLost: Bool) -> Void) {
    logger.warning("\(reason)", metadata: ["path": "\(path)"])
    closing(true)
    holder.close()
  }

  /// Closes the connection; `openIfReplaced` opens the file again.
  package func close() { holder.close() }

  /// Whether the connection cannot go on, and a new one may.
  package var isUseless: Bool { holder.isUseless }

  /// Must precede any access to shared memory after a wait.
  package func restoreSharedMemory() {
    guard let connection = database?.connection, !connection.restoreSharedMemory(), !hasWarnedOfSharedMemory else {
      return
    }
    hasWarnedOfSharedMemory = true
    logger.error(
      "somebody shortened the -shm, and it cannot be made longer again: the server will end with SIGBUS",
      metadata: ["path": "\(path)"])
  }

  // MARK: - Commits

  /// - Parameter isPaced: whether to avoid blocking writers that use a rollback journal.
  package func hasCommit(isPaced: Bool = true) -> Bool {
    guard let capture = database?.connection.capture else { return false }
    return detection.hasCommit(capture, isPaced: isPaced)
  }

  /// A tick has read the file.
  package func noteTick() { failingSince = nil }

  /// A tick has followed commits.
  package func noteTick(from start: Instant, to end: Instant) {
    detection.noteTick(
      start: start, end: end, comparesTables: database?.connection.capture.comparesTables == true)
  }

  /// A tick could not read the file. The first is logged.
  ///
  /// - Returns: since when that is so.
  @discardableResult
  package func noteFailure(_ error: any Error) -> Instant {
    if let failingSince { return failingSince }
    logger.error("the database cannot be read", metadata: ["error": "\(error)"])
    let now = clock.now
    failingSince = now
    return now
  }

  // MARK: - Rests

  /// How long to leave commits alone; see `Pace`.
  package func rest(_ now: Instant) -> Nanoseconds { detection.rest(now) }

  /// See `DatabaseWatcher.interval`.
  package var interval: Nanoseconds { detection.interval }

  /// How long its owner may rest, until it is woken: by events of the file, too, where they concern it.
  ///
  /// - Parameters:
  ///   - limit: the longest rest.
  ///   - mustTick: whether a tick is due; if the last one failed, soon.
  ///   - rest: how long to leave commits alone.
  ///   - isUnused: nothing is followed, so commits need not wake the owner.
  package func pause(
    limit: Nanoseconds, mustTick: Bool = false, rest: Nanoseconds = .zero, isUnused: Bool = false
  ) -> Nanoseconds {
    if !watcher.isReporting, let failure = watcher.takeFailure() {
      logger.warning("writes to the file are not reported, so it is polled: \(failure)", metadata: ["path": "\(path)"])
    }
    var limit = limit
    if mustTick { limit = isFailing ? min(limit, .milliseconds(50)) : .zero }
    // Others have a second to close theirs.
    if holder.isWaiting, !holder.isOverdue { limit = min(limit, .milliseconds(5)) }
    return detection.pause(
      .init(limit: limit, rest: rest, isUnused: isUnused, connection: isFailing ? nil : database?.connection))
  }

  /// The rest is over. To be called before `hasCommit`.
  package func resume() { detection.resume() }

  /// Looks at the WAL-index when the timer fires; see `Stepped.postpone`.
  package func postpone() -> Nanoseconds? {
    guard !isFailing, let connection = database?.connection else { return nil }
    return detection.lookAgain(at: connection)
  }

  /// Rests on a thread of its own: `pause`, then `resume`.
  package func wait(on signal: WakeSignal, limit: Nanoseconds, rest: Nanoseconds = .zero) {
    Workers.shared.start()
    var pause: Nanoseconds? = pause(limit: limit, rest: rest)
    while let span = pause, !signal.wait(span) { pause = postpone() }
    resume()
  }
}
