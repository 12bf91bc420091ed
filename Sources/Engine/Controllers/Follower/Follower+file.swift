import ChangeCapture
import Delivery
import Following
import Ground
import Lists
import LiveQuery
import Logging
import Requests
import Store

// The file, which other processes replace, delete and commit to.
extension Follower {
  /// Opens a file that has appeared or has replaced the open one.
  func openIfReplaced() {
    switch holder.finding {
    case .same, .missing: return
    case .filesLost: closeLostFiles("the -wal or -shm was deleted while the database was open")
    case .overwritten:
      closeLostFiles("the database file was written to by something else than SQLite: it is read anew")
    case .another: break
    }
    guard holder.mayOpen || holder.isOverdue else { return }
    let path = context.configuration.path
    let isFirst = lists.database == nil && lists.byQuery.isEmpty
    do {
      let opened = try holder.open()
      lists.connectionCloses()
      context.mustTick = true
      if !isFirst { context.logger.notice("the database file is another one now", metadata: ["path": "\(path)"]) }
      fileWasOpened(opened)
    } catch {
      // Logged once, because it is retried again and again.
      if !state.hasLoggedOpening {
        state.hasLoggedOpening = true
        context.logger.error("the database cannot be opened", metadata: ["path": "\(path)", "error": "\(error)"])
      }
      lists.note(.failure(FreshetError(unreadable: error)))
    }
  }

  func fileWasOpened(_ opened: OpenDatabase) {
    holder.adopt(opened)
    context.readers.file.users.enter(context.number)
    keeping.released = nil
    state.hasLoggedOpening = false
    lists.note(.success(opened))
    lists.note(numbers.fileWasOpened(opened.connection.file))
    takeUpRestored(opened)
  }

  /// The connection uses files without a name, or shows contents that have been overwritten. SQLite opens the new ones only
  /// after this process has closed all connections to the database.
  private func closeLostFiles(_ reason: String) {
    context.logger.warning("\(reason)", metadata: ["path": "\(context.configuration.path)"])
    lists.connectionCloses()
    lists.note(.failure(FreshetError(.overloaded, "the database's files are being replaced: try again")))
    numbers.filesWereLost()
    holder.close()
  }

  /// Opens the file anew where its connection cannot go on.
  ///
  /// - Returns: whether it did.
  func reopenIfUseless() -> Bool {
    guard let connection = lists.database, connection.isUseless || connection.isOverwritten else { return false }
    openIfReplaced()
    return lists.database !== connection && lists.database != nil
  }

  /// Must precede any access to shared memory after a wait.
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

  /// Nothing is followed, so commits need not wake this thread. Meaningful after a tick: before it, the files in use
  /// are unknown.
  var isUnused: Bool {
    isPaced && lists.byQuery.isEmpty && lists.openings.isEmpty && numbers.awaited.isEmpty
      && lists.capture?.hasSeenState != false
  }

  /// How long to leave commits alone; see `Pace`.
  func rest(_ now: Instant) -> Nanoseconds { isPaced && !context.mustTick ? detection.rest(now) : .zero }

  func wait() {
    if state.isReleased {
      return detection.wait(.init(limit: .milliseconds(1_000), rest: .zero, isUnused: true, connection: nil))
    }
    let now = context.clock.now
    var limit = min(context.deadlines.next, numbers.awaited.nextDeadline, checks.next, nextKeeping) - now
    if context.mustTick { limit = isFailing ? min(limit, .milliseconds(50)) : .zero }
    if holder.isWaiting { limit = min(limit, .milliseconds(5)) }
    detection.wait(
      .init(
        limit: limit, rest: rest(now), isUnused: isUnused,
        connection: isFailing ? nil : lists.database?.connection))
  }
}
