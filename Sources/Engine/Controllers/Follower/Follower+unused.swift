import ChangeCapture
import Following
import Ground
import Lists
import Requests
import Store

// Closes a file that is not followed. SQLite lets no program leave WAL mode, or lock the file for itself (`locking_mode
// = EXCLUSIVE`), while another program has it open. A connection that is not needed must not prevent this.
extension Follower {
  /// The time for which nothing must have been followed.
  private static let patience = Nanoseconds.milliseconds(2_000)

  /// Closes the connection if it has not been needed for a while. To be called after a tick.
  func releaseIfUnused() {
    // Replicated files are kept open, because other threads of this process read them.
    let mayRelease = !context.configuration.readsPosition && !context.configuration.sharesEpochs
    guard mayRelease, isUnused, lists.database != nil, keeping.restoredUntil == nil, inbox.isEmpty, !context.mustTick,
      !isFailing
    else {
      state.unusedSince = nil
      return
    }
    let now = context.clock.now
    let since = state.unusedSince ?? now
    state.unusedSince = since
    if now - since >= Self.patience { release() }
  }

  private func release() {
    catchUp()
    state.unusedSince = nil
    keeping.released = keptPart()
    lists.connectionCloses()
    followed.close()
    state.isReleased = true
    // If no follower sees further changes of the file, its next state gets a new number.
    if context.readers.file.users.leave(context.number) { numbers.fileWasReleased() }
  }

  /// Opens the file again if a command needs it.
  ///
  /// - Returns: whether it stays closed.
  func staysReleased() -> Bool {
    guard state.isReleased else { return false }
    if inbox.needsFile {
      state.isReleased = false
      context.mustTick = true
      openIfReplaced()
      return false
    }
    for command in inbox.takeControl() { perform(command) }
    context.mustTick = false
    inbox.report()
    context.output.flush()
    return true
  }
}

extension Inbox {
  /// Whether a command must be performed in a state of the file.
  fileprivate var needsFile: Bool { hasLanes || holdsControl { $0.needsFile } }
}

extension FollowerCommand {
  fileprivate var needsFile: Bool {
    switch self {
    case .status, .sessionClosed, .abandon, .unsubscribe, .end, .stop: false
    default: true
    }
  }
}
