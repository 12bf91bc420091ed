import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Store
import Wire

// Handles the file, which other processes replace, delete and lock.
extension ChangeFeed {
  func keepUp() {
    followed.restoreSharedMemory()
    let hasCommit = followed.hasCommit()
    if followed.mayBeReplaced(hasCommit: hasCommit) { openIfReplaced() }
    guard hasCommit || mustTick, let tables else { return refuseOpenings() }
    mustTick = false
    do {
      try tick(tables)
      followed.noteTick()
    } catch {
      if followed.isUseless { return openIfReplaced() }
      followed.noteFailure(error)
      mustTick = true
      refuseOpenings(FreshetError(unreadable: error))
    }
  }

  func refuseOpenings(_ error: FreshetError = .databaseMissing) {
    if followed.database != nil, !followed.isFailing { return }
    for opening in openings { end(opening.key, error) }
    openings = []
  }

  func openIfReplaced() {
    let isFirst = followed.database == nil && readers.isEmpty
    guard case .success(let opened)? = followed.openIfReplaced(closing: { _ in closeFile() }) else { return }
    tables = FeedTables(opened.connection, path: file.path, configuration.access, logger)
    mustTick = true
    if isFirst {
      if restored != nil, !opened.connection.capture.isRestored { restored = nil }
      if restored == nil { beginJournal() }
      return
    }
    loseHistory()
    // The readers' views must be opened again, with the tables of the new connection.
    for reader in readers.values {
      openings.append(
        FeedSubscription(key: reader.key, request: reader.view.request, access: reader.view.access, since: ""))
    }
    readers = [:]
  }

  func closeFile() {
    tables?.close()
    tables = nil
    carried = nil
  }

  func loseHistory() {
    log.removeAll()
    epoch = FeedPositions.newEpoch
    restored = nil
    beginJournal()
  }
}
