/// Something in the file is not as capture expects it, so what changed cannot be read from pages alone.
///
/// A doubt is never an error: its answer is to compare a whole table with what is remembered of it, which needs nothing
/// but a snapshot and is always right. Reasons are counted (`CaptureStatistics`), because a reason that comes often is
/// a rule that is too strict.
package struct Doubt: Error, Equatable {
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// Raw values are the labels of the metric.
  package enum Reason: String, Sendable, CaseIterable {
    /// Nothing was read before.
    case first
    /// The database has no WAL: only its change counter says that something changed.
    case rollbackJournal = "rollback_journal"
    /// Another file format, page size or number of reserved bytes.
    case format
    /// Frames that should be there have another checksum: overwritten, or never written by SQLite.
    case brokenChain = "broken_chain"
    /// The header of the WAL does not agree with the WAL-index.
    case walHeader = "wal_header"
    /// The WAL-index went back without a new generation.
    case wentBack = "went_back"
    /// A writer repeats commit frames up to the end of a sector, so commits cannot be counted.
    case paddedCommits = "padded_commits"
    /// The WAL started over more than once.
    case restartedTwice = "restarted_twice"
    /// Commits of an earlier generation of the WAL were overwritten before they were read.
    case generationLost = "generation_lost"
    /// The end of the earlier generation cannot be seen, and the WAL-index is young enough to have been rebuilt.
    case generationEnd = "generation_end"
    /// The WAL-index notes frames as copied into the database file that are not there, or that the WAL does not have:
    /// SQLite's WAL-reset bug. Every state of such a generation is compared.
    case backfill
    /// The server was started again, and the WAL does not continue from the state that was kept.
    case restart
    /// More has changed than is kept for a capture that is behind the others.
    case behind
    /// A table's root page or definition has changed.
    case schema
    /// A page is not the kind of b-tree page that it should be, or its cells reach beyond it.
    case page
    /// The pages of a tree do not form one: a page with two parents, or one that is visited twice.
    case tree
    /// An overflow chain ends early, or belongs to two rows.
    case overflow
    /// A page could not be read.
    case unreadable
  }
}
