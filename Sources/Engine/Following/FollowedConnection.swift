package import ChangeCapture
package import Ground
package import Logging
import Store

/// One follower's connection to the file that it follows. It knows whether the path still leads to the open file, when
/// there may be a commit, and since when the file cannot be read. Lists' followers, the feed and the publisher each
/// have one.
///
/// Owner: the thread that steps the follower.
package final class FollowedConnection {
  private let path: String
  private let clock: MonotonicClock
  private let logger: Logger
  private let holder: DatabaseHolder
  private let detection: CommitDetection
  private let watcher: DatabaseWatcher
  /// Since when ticks cannot read the file; nil if the last tick could.
  @exclusivity(unchecked) private var failingSince: Instant?
  private var hasLoggedOpening = false
  private var hasWarnedOfSharedMemory = false

  /// - Parameters:
  ///   - thread: wakes the owner.
  ///   - restored: the state that another process kept, for the first connection.
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

  /// Nil if there is no file, or it could not be opened, or it was closed.
  package var database: OpenDatabase? { holder.connection }
  package var isFailing: Bool { failingSince != nil }

  // MARK: - Which file

  /// Whether there is no file at the path. Takes one system call.
  package var isMissing: Bool { holder.finding == .missing }

  /// Whether the file at the path is not the open one, or shows other contents. Takes some system calls.
  package var isAnother: Bool { ![.same, .missing].contains(holder.finding) }

  /// - Returns: nil if there is no file at the path.
  package func open() throws -> OpenDatabase? {
    if isMissing { return nil }
    let opened = try holder.open()
    holder.adopt(opened)
    return opened
  }

  /// Whether the file may have been replaced, or may have other contents. To be read after a wait.
  package func mayBeReplaced(hasCommit: Bool) -> Bool {
    detection.mayBeReplaced(isOpen: database != nil, hasChanged: hasCommit, clock.now) || holder.mustLook
  }

  /// Opens a file that has appeared, or that has replaced the open one. A connection that uses deleted files, or shows
  /// overwritten contents, is closed first. SQLite opens the new files only after this process has closed all
  /// connections to the old ones.
  ///
  /// - Parameter closing: called before a connection is closed; the argument says whether its files were lost.
  /// - Returns: the opened file, or why it cannot be opened; nil if the file is still open, or no file can be opened
  ///   yet.
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
      // The error is logged once, because opening is retried again and again.
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

  /// Whether the connection cannot be used any more, and a new one may work.
  package var isUseless: Bool { holder.isUseless }

  /// Must be called before any access to shared memory after a wait.
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

  /// Called when a tick has read the file.
  package func noteTick() { failingSince = nil }

  /// Called when a tick has followed commits.
  package func noteTick(from start: Instant, to end: Instant) {
    detection.noteTick(
      start: start, end: end, comparesTables: database?.connection.capture.comparesTables == true)
  }

  /// Called when a tick could not read the file. Logs the first failure.
  ///
  /// - Returns: since when ticks could not read the file.
  @discardableResult
  package func noteFailure(_ error: any Error) -> Instant {
    if let failingSince { return failingSince }
    logger.error("the database cannot be read", metadata: ["error": "\(error)"])
    let now = clock.now
    failingSince = now
    return now
  }

  // MARK: - Rests

  /// How long to ignore commits; see `Pace`.
  package func rest(_ now: Instant) -> Nanoseconds { detection.rest(now) }

  /// See `DatabaseWatcher.interval`.
  package var interval: Nanoseconds { detection.interval }

  /// How long the owner may rest if nothing wakes it. Events of the file wake it too, unless it has no use for them.
  ///
  /// - Parameters:
  ///   - limit: the longest rest.
  ///   - mustTick: whether a tick is due. If the last tick failed, the next one is due a little later.
  ///   - rest: how long to ignore commits.
  ///   - isUnused: whether nothing is followed, so that commits need not wake the owner.
  package func pause(
    limit: Nanoseconds, mustTick: Bool = false, rest: Nanoseconds = .zero, isUnused: Bool = false
  ) -> Nanoseconds {
    if !watcher.isReporting, let failure = watcher.takeFailure() {
      logger.warning("writes to the file are not reported, so it is polled: \(failure)", metadata: ["path": "\(path)"])
    }
    var limit = limit
    if mustTick { limit = isFailing ? min(limit, .milliseconds(50)) : .zero }
    // The process's other connections have a second to close, so this is checked often.
    if holder.isWaiting, !holder.isOverdue { limit = min(limit, .milliseconds(5)) }
    return detection.pause(
      .init(limit: limit, rest: rest, isUnused: isUnused, connection: isFailing ? nil : database?.connection))
  }

  /// Called when the rest is over, before `hasCommit`.
  package func resume() { detection.resume() }

  /// Looks at the WAL-index when the timer fires; see `Stepped.postpone`.
  package func postpone() -> Nanoseconds? {
    guard !isFailing, let connection = database?.connection else { return nil }
    return detection.lookAgain(at: connection)
  }

  /// Rests on the owner's own thread: calls `pause`, waits, then calls `resume`.
  package func wait(on signal: WakeSignal, limit: Nanoseconds, rest: Nanoseconds = .zero) {
    Workers.shared.start()
    var pause: Nanoseconds? = pause(limit: limit, rest: rest)
    while let span = pause, !signal.wait(span) { pause = postpone() }
    resume()
  }
}
