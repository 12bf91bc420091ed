import Synchronization

/// Counters of the feed since its start.
package struct FeedCounts: Sendable, Equatable {
  /// Subscriptions and streams that read the feed now.
  package var readers = 0
  /// Commits that changed rows of followed tables.
  package var commits = 0
  /// The number of commits that share an entry with others.
  package var joinedCommits = 0
  /// Gaps sent to readers.
  package var gaps = 0
  /// Bytes of rows that are remembered for reconnecting readers.
  package var bytes = 0

  package init() {}

  package mutating func add(_ other: FeedCounts) {
    readers += other.readers
    commits += other.commits
    joinedCommits += other.joinedCommits
    gaps += other.gaps
    bytes += other.bytes
  }
}

/// The newest counts, for other threads. The feed's thread writes them.
final class FeedCounter: Sendable {
  private let newest = Mutex(FeedCounts())

  /// Any thread.
  var counts: FeedCounts { newest.withLock { $0 } }

  func publish(_ counts: FeedCounts) { newest.withLock { $0 = counts } }
}
