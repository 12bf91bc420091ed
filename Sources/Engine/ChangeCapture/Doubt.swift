/// Something in the file is not as capture expects, so reading the changed pages is not enough to know what changed.
///
/// A doubt is never an error: capture then compares a whole table with what it remembers of that table, which needs
/// nothing but a snapshot and is always right. Reasons are counted (`CaptureStatistics`), because a frequent reason
/// shows that a rule is too strict.
package struct Doubt: Error, Equatable {
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// Why there is a doubt. Raw values are the labels of the metric.
  package enum Reason: String, Sendable, CaseIterable {
    /// No state of the file was read before.
    case first
    /// The database has no WAL: only its change counter says that something changed.
    case rollbackJournal = "rollback_journal"
    /// The file format, the page size or the number of reserved bytes has changed, or is not supported.
    case format
    /// The frames' checksums do not lead to the one in the WAL-index: frames were overwritten, or SQLite did not write
    /// them.
    case brokenChain = "broken_chain"
    /// The header of the WAL does not agree with the WAL-index.
    case walHeader = "wal_header"
    /// The last frame of the WAL-index went back without a new generation.
    case wentBack = "went_back"
    /// A writer repeats commit frames up to the end of a sector, so commits cannot be counted.
    case paddedCommits = "padded_commits"
    /// The WAL started over more than once.
    case restartedTwice = "restarted_twice"
    /// Commits of an earlier generation of the WAL were overwritten before they were read.
    case generationLost = "generation_lost"
    /// The end of the earlier generation cannot be seen, and the WAL-index is young enough to have been rebuilt.
    case generationEnd = "generation_end"
    /// The WAL-index claims that frames are copied into the database file, but the file does not have them, or the WAL
    /// has fewer frames: SQLite's WAL-reset bug. Every state of such a generation is compared.
    case backfill
    /// The server was started again, and the WAL does not continue from the state that was kept.
    case restart
    /// The capture is so far behind the others that the ticks that it needs are not kept any more.
    case behind
    /// A table's root page or definition has changed.
    case schema
    /// A page is not the kind of b-tree page that it should be, or its cells reach beyond it.
    case page
    /// The pages do not form a tree: a page has two parents, or is reached twice.
    case tree
    /// An overflow chain ends early, or belongs to two rows.
    case overflow
    /// A page could not be read.
    case unreadable
  }
}
