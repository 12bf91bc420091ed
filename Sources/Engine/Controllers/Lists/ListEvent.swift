import LiveQuery

/// What became of lists in a tick, for those to the right: requests that wait, and subscriptions.
enum ListEvent {
  /// A run has ended: requests that it answers can be answered.
  case answerable(LiveList)
  /// Contents that readers have read are here.
  case contentsRead(LiveList, PendingRead, hasMoved: Bool)
  /// The first run of a query has failed.
  case notOpened(id: Int, FreshetError)
  /// A run has failed: requests that wait for it are refused.
  case notRun(LiveList, FreshetError)
  /// Requests for contents wait for a run instead.
  case readsCancelled(LiveList, [PendingRead])
  /// Subscribers hear of an error. The list goes on.
  case announced(LiveList, FreshetError)
  /// The query does not compile in the new schema.
  case doesNotCompile(LiveList, FreshetError, isFirst: Bool)
  /// What subscribers have is wrong, or of other columns: they get a snapshot.
  case startsOver(LiveList)
  /// The list is over.
  case ended(LiveList, FreshetError)
}
