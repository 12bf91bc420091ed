import ChangeCapture
import Controllers
import Feed
import Following
import Ground
import Logging
import Replication
import Store

extension ServerConfiguration {
  /// The name of the first epoch where that is known; a replica's file has it from the writer's server.
  var firstEpoch: String? { epoch ?? (readsPosition ? ReplicaPosition.epoch(of: database) : nil) }

  /// What keeps what is known of the file, and what keeps the publisher's part; nil where nothing is kept.
  ///
  /// A folder that cannot be used is one warning: the server then begins as if it were the first time.
  func keepers(_ logger: Logger) -> (KeptTransactions?, PublisherState?) {
    guard let stateFolder, epoch == nil, !readsPosition, replication?.role != .replica else { return (nil, nil) }
    do throws(StateFailure) {
      let published =
        try replication == nil ? nil : PublisherState(of: database, in: stateFolder, logger: logger)
      let journal = TransactionJournal(
        besides: StateFolder.stem(of: database, part: "0", in: stateFolder), logger: logger)
      let keeper = try StateKeeper(
        of: database, in: stateFolder, followers: min(max(1, limits.followers), ControllerPool.mostFollowers),
        // Followers may see later states before the publisher has numbered the one that it goes on with.
        interval: stateInterval, room: published == nil ? 0 : 1_000, logger: logger
      ) { [limits, clock] epoch, promises in
        // The log has batches of the epoch that nobody can go on from.
        if let published, !published.continues(epoch) { return false }
        if !journal.continues(epoch) { return false }
        return TransactionMemory(limit: limits.transactionMemory, kept: promises, at: clock.now) != nil
      }
      return (KeptTransactions(keeper: keeper, journal: journal), published)
    } catch {
      logger.warning("nothing is kept for the next start: \(error)")
      return (nil, nil)
    }
  }

  /// Keeps what the feed of changes knows; nil where nothing is kept.
  func journal(_ logger: Logger) -> FeedJournal? {
    guard let stateFolder, !readsPosition else { return nil }
    do throws(StateFailure) {
      return try FeedJournal(of: database, part: "changes", in: stateFolder, logger: logger)
    } catch {
      logger.warning("changes are not kept for the next start: \(error)")
      return nil
    }
  }
}
