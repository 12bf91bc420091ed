import ChangeCapture
import Controllers
import Feed
import Following
import Ground
import Logging
import Replication
import Store

extension ServerConfiguration {
  /// The position that a replica's file has reached; nil for other files, and if it cannot be read now.
  var position: ReplicaPosition? { state.readsPosition ? ReplicaPosition(of: database) : nil }

  /// The keepers of the file's state, of transactions' outcomes, and of the publisher's part; nil where nothing is
  /// kept.
  ///
  /// If the folder cannot be used, the server logs one warning and begins as if it were the first time.
  ///
  /// - Parameter position: the position of a replica's file.
  func keepers(at position: ReplicaPosition?, _ logger: Logger) -> (StateKeeper?, KeptTransactions?, PublisherState?) {
    guard let folder = state.folder, state.epoch == nil else { return (nil, nil, nil) }
    do throws(StateFailure) {
      if state.readsPosition { return (try replicaKeeper(at: position, in: folder, logger), nil, nil) }
      let published =
        try replication == nil ? nil : PublisherState(of: database, in: folder, logger: logger)
      let journal = TransactionJournal(
        besides: StateFolder.stem(of: database, part: "0", in: folder), logger: logger)
      let keeper = try StateKeeper(
        of: database, in: folder, followers: keptFollowers,
        // Followers may see later states before the publisher has numbered the state that it continues from.
        interval: state.interval, room: published == nil ? 0 : 1_000, logger: logger
      ) { [limits, clocks] epoch, _, promises in
        // The log has batches of the epoch that cannot be continued.
        if let published, !published.continues(epoch) { return false }
        if !journal.continues(epoch) { return false }
        return TransactionMemory(limit: limits.transactionMemory, kept: promises, at: clocks.monotonic.now) != nil
      }
      return (keeper, KeptTransactions(keeper: keeper, journal: journal), published)
    } catch {
      logger.warning("nothing is kept for the next start: \(error)")
      return (nil, nil, nil)
    }
  }

  /// The keeper of a replica's file. The file itself names its states, so an older copy of it has earlier numbers.
  private func replicaKeeper(
    at position: ReplicaPosition?, in folder: String, _ logger: Logger
  ) throws(StateFailure) -> StateKeeper {
    try StateKeeper(
      of: database, in: folder, followers: keptFollowers, interval: state.interval, logger: logger
    ) { epoch, highest, _ in
      position.map { $0.epoch == epoch && $0.commit >= highest } ?? false
    }
  }

  private var keptFollowers: Int { min(max(1, limits.followers), ControllerPool.mostFollowers) }

  /// Keeps what the feed of changes knows; nil where nothing is kept.
  func journal(_ logger: Logger) -> FeedJournal? {
    guard let folder = state.folder else { return nil }
    do throws(StateFailure) {
      return try FeedJournal(of: database, part: "changes", in: folder, logger: logger)
    } catch {
      // `keepers` has logged this already.
      if error.isOfAnother, state.epoch == nil { return nil }
      logger.warning("changes are not kept for the next start: \(error)")
      return nil
    }
  }
}
