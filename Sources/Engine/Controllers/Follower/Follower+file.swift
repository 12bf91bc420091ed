import ChangeCapture
import Delivery
import Following
import Ground
import Lists
import LiveQuery
import Logging
import Requests
import Store

// Handles the file, which other processes replace, delete and commit to.
extension Follower {
  /// Opens a file that has appeared or has replaced the open one.
  func openIfReplaced() {
    let isFirst = lists.database == nil && lists.byQuery.isEmpty
    let opened = followed.openIfReplaced { isLost in
      lists.connectionCloses()
      guard isLost else { return }
      lists.note(.failure(FreshetError(.overloaded, "the database's files are being replaced: try again")))
      numbers.filesWereLost()
    }
    switch opened {
    case nil: return
    case .failure(let error): lists.note(.failure(FreshetError(unreadable: error)))
    case .success(let opened):
      context.mustTick = true
      if !isFirst {
        context.logger.notice(
          "the database file was replaced", metadata: ["path": "\(context.configuration.path)"])
      }
      fileWasOpened(opened)
    }
  }

  func fileWasOpened(_ opened: OpenDatabase) {
    context.readers.file.users.enter(context.number)
    keeping.released = nil
    lists.note(.success(opened))
    lists.note(numbers.fileWasOpened(opened.connection.file))
    takeUpRestored(opened)
  }

  /// Opens the file anew if the connection cannot be used any more.
  ///
  /// - Returns: whether it was opened anew.
  func reopenIfUseless() -> Bool {
    guard followed.isUseless, let database = lists.database else { return false }
    openIfReplaced()
    return lists.database !== database && lists.database != nil
  }

  /// Called when a tick could not read the database.
  func noteOutage(_ error: any Error, _ failure: FreshetError) {
    let since = followed.noteFailure(error)
    if !state.hasAnnouncedOutage, context.clock.now >= since + context.intervals.retry {
      state.hasAnnouncedOutage = true
      delivery.announce(outage: failure)
    }
    context.mustTick = lists.database != nil
  }

  // MARK: - Rests

  /// Whether no list is followed, so that commits need not wake the follower. Valid only after a tick, because the
  /// files in use are unknown before.
  var isUnused: Bool {
    isPaced && lists.byQuery.isEmpty && lists.openings.isEmpty && numbers.awaited.isEmpty
      && lists.capture?.hasSeenState != false
  }

  /// How long to ignore commits; see `Pace`.
  func rest(_ now: Instant) -> Nanoseconds { isPaced && !context.mustTick ? followed.rest(now) : .zero }

  /// How long nothing is due if nothing wakes the follower.
  var pause: Nanoseconds {
    if state.isReleased {
      _ = followed.pause(limit: .max, isUnused: true)
      // Only a command opens the file again.
      return .max
    }
    let now = context.clock.now
    let limit = min(context.deadlines.next, numbers.awaited.nextDeadline, checks.next, nextKeeping) - now
    return followed.pause(limit: limit, mustTick: context.mustTick, rest: rest(now), isUnused: isUnused)
  }
}
