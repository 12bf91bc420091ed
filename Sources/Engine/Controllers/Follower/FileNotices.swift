import ChangeCapture
import Logging
import Store

/// Logs how changes of the followed file are found, and whether another process checkpoints it. Each fact is logged
/// once, until it changes.
struct FileNotices {
  private var hasRollbackJournal: Bool?
  private var checkpoints = 0
  private var hasNotedCheckpoints = false

  /// To be called after each tick.
  mutating func note(_ capture: ChangeCapture, of path: String, _ logger: Logger) {
    if let hasJournal = capture.hasRollbackJournal, hasJournal != hasRollbackJournal {
      hasRollbackJournal = hasJournal
      if hasJournal {
        logger.warning(
          "\(path) has a rollback journal: whole tables are compared after each commit; PRAGMA journal_mode = WAL, once, makes that row by row"
        )
      } else {
        logger.info("following \(path) row by row, from its write-ahead log")
      }
    }
    if capture.checkpoints == checkpoints || hasNotedCheckpoints { return }
    checkpoints = capture.checkpoints
    // Each checkpoint of this process is counted at most once among them.
    if checkpoints <= GuardedCheckpoint.count(of: path) { return }
    hasNotedCheckpoints = true
    if let notice = WALResetBug.notice { logger.notice("another process checkpoints \(path): \(notice)") }
  }
}
