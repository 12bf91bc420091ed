package import LiveQuery

/// Events of lists in a tick, for `RequestTable` and `Delivery`.
package enum ListEvent {
  /// A run has ended, and may answer waiting requests.
  case answerable(LiveList)
  /// Readers have read the contents that requests wait for.
  case contentsRead(LiveList, PendingRead, hasMoved: Bool)
  /// A query's first run has failed.
  case notOpened(id: Int, FreshetError)
  /// A run has failed: the requests that wait for it are refused.
  case notRun(LiveList, FreshetError)
  /// Requests for contents wait for a run instead.
  case readsCancelled(LiveList, [PendingRead])
  /// Subscribers are sent an error, and the list continues.
  case announced(LiveList, FreshetError)
  /// The query does not compile in the new schema.
  case doesNotCompile(LiveList, FreshetError, isFirst: Bool)
  /// Subscribers have wrong rows or other columns, so they get a snapshot.
  case startsOver(LiveList)
  /// The list is over.
  case ended(LiveList, FreshetError)
}
