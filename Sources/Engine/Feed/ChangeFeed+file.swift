import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Store
import Wire

// The file, which other processes replace, delete and lock.
extension ChangeFeed {
  func keepUp() {
    _ = holder.connection?.connection.restoreSharedMemory()
    let isOpen = holder.connection != nil
    let hasChanged =
      isOpen && holder.connection.map { detection.hasCommit($0.connection.capture, isPaced: true) } == true
    if detection.mayBeReplaced(isOpen: isOpen, hasChanged: hasChanged, clock.now) || holder.mustLook {
      openIfReplaced()
    }
    guard hasChanged || mustTick, let tables else { return refuseOpenings() }
    mustTick = false
    do {
      try tick(tables)
      hasFailed = false
    } catch {
      if let open = holder.connection, open.isUseless || open.isOverwritten { return openIfReplaced() }
      if !hasFailed { logger.error("the feed cannot read the database", metadata: ["error": "\(error)"]) }
      hasFailed = true
      mustTick = true
      refuseOpenings(FreshetError(unreadable: error))
    }
  }

  func refuseOpenings(_ error: FreshetError = .databaseMissing) {
    if holder.connection != nil, !hasFailed { return }
    for opening in openings { end(opening.key, error) }
    openings = []
  }

  func openIfReplaced() {
    switch holder.finding {
    case .same, .missing: return
    case .filesLost, .overwritten:
      closeFile()
      holder.close()
    case .another: break
    }
    guard holder.mayOpen || holder.isOverdue else { return }
    guard let opened = try? holder.open() else { return }
    let isFirst = holder.connection == nil && readers.isEmpty
    closeFile()
    holder.adopt(opened)
    tables = FeedTables(opened.connection, path: file.path, configuration.access, logger)
    mustTick = true
    if isFirst {
      if restored != nil, !opened.connection.capture.isRestored { restored = nil }
      if restored == nil { beginJournal() }
      return
    }
    loseHistory()
    // They open anew what they read before.
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
