import ChangeCapture
import LiveQuery
import Logging
import Store

// The file, which others replace, delete and commit to.
extension Follower {
  /// Takes up a file that has appeared, or has taken the place of the one that is open.
  func openIfReplaced() {
    switch session.finding {
    case .same, .missing: return
    case .filesLost: closeLostFiles()
    case .another: break
    }
    guard session.mayOpen || session.isOverdue else { return }
    let path = context.configuration.path
    let isFirst = lists.database == nil && lists.byQuery.isEmpty
    do {
      let opened = try session.open()
      lists.connectionCloses()
      context.mustTick = true
      if !isFirst { context.logger.notice("the database file is another one now", metadata: ["path": "\(path)"]) }
      fileWasOpened(opened)
    } catch {
      // Logged once: it is tried again and again.
      if lists.openingFailure == nil {
        context.logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
      }
      lists.note(.failure(FreshetError(unreadable: error)))
    }
  }

  func fileWasOpened(_ opened: OpenDatabase) {
    session.adopt(opened)
    lists.note(.success(opened))
    lists.note(numbers.fileWasOpened(opened.connection.file))
  }

  /// The -wal or -shm was deleted: the connection goes on in files without a name. SQLite takes up others only when nothing of
  /// this process has the database open any more.
  private func closeLostFiles() {
    context.logger.warning(
      "the -wal or -shm was deleted while the database was open", metadata: ["path": "\(context.configuration.path)"])
    lists.connectionCloses()
    numbers.filesWereLost()
    session.close()
    context.readers.releaseFiles()
    context.output.filesReleased()
  }

  /// Before shared memory is touched after a wait.
  func restoreSharedMemory() {
    guard let connection = lists.database?.connection, !connection.restoreSharedMemory(),
      !state.hasWarnedOfSharedMemory
    else { return }
    state.hasWarnedOfSharedMemory = true
    context.logger.error(
      "somebody shortened the -shm, and it cannot be made longer again: the server will end with SIGBUS",
      metadata: ["path": "\(context.configuration.path)"])
  }

  /// A tick could not read the database.
  func noteOutage(_ error: any Error, _ failure: FreshetError) {
    if state.outage == nil { context.logger.error("the database cannot be read", metadata: ["error": "\(error)"]) }
    var outage = state.outage ?? (context.clock.now, false)
    if !outage.isAnnounced, context.clock.now >= outage.since + context.intervals.retry {
      outage.isAnnounced = true
      delivery.announce(outage: failure)
    }
    state.outage = outage
    context.mustTick = lists.database != nil
  }

  // MARK: - Waiting

  func hasCommit() -> Bool {
    guard let capture = lists.capture else { return false }
    return detection.hasCommit(capture, isPaced: isPaced)
  }

  /// Nothing is followed here, so commits need not wake this thread. After a tick: before it the files in use are not known.
  var isUnused: Bool {
    isPaced && lists.byQuery.isEmpty && lists.openings.isEmpty && numbers.awaited.isEmpty
      && lists.capture?.hasSeenState != false
  }

  /// For how long commits are left alone; see `Pace`.
  func rest(_ now: Instant) -> Nanoseconds { isPaced && !context.mustTick ? detection.rest(now) : .zero }

  func wait() {
    let now = context.clock.now
    var limit = min(context.deadlines.next, numbers.awaited.nextDeadline, checks.next) - now
    if context.mustTick { limit = isFailing ? min(limit, .milliseconds(50)) : .zero }
    if session.isWaiting { limit = min(limit, .milliseconds(5)) }
    detection.wait(
      .init(
        limit: limit, rest: rest(now), isUnused: isUnused, canAskOften: lists.capture?.canAskOften == true))
  }
}
