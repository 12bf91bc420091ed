package import Ground
package import LiveQuery
import Store

/// The file and the limits of a follower.
package struct FollowerConfiguration: Sendable {
  /// The database file.
  package var path: String
  /// How long a query without subscribers is still followed.
  package var linger = Duration.seconds(60)
  /// The longest that a query may run.
  package var queryTimeout = Duration.seconds(30)
  /// The most rows that a result may have.
  package var rowLimit = 10_000_000
  /// The most bytes of a result's keys, and of its contents if they are kept.
  package var resultBytes = 1 << 30
  /// The approximate size of one message with rows, in bytes.
  package var chunkBytes = 64 << 10
  /// A patch whose estimated size exceeds this and that of a snapshot is replaced by a snapshot.
  package var patchBytes = 64 << 10
  /// The most requests that may wait while a subscription gets a snapshot.
  package var deferredRequests = 32
  /// The least time between two runs of a query that cannot be followed incrementally.
  package var refetchInterval = Duration.milliseconds(100)
  /// How long to wait before retrying a query that could not be read.
  package var retryInterval = Duration.seconds(1)
  /// The least time that a sent version is held for `since`.
  package var historyAge = Duration.seconds(60)
  /// The least number of such versions that are held for each query.
  package var historyCount = 1_000
  /// The most bytes of such versions, for all followers of a pool. If there are more, versions are released sooner.
  package var historyBytes = 128 << 20
  /// The most bytes that capture may remember of all followed tables.
  package var captureBytes = 256 << 20
  /// The most bytes of rows under groups that lists may keep together; one list may have half of it. A list that needs
  /// more is followed in another way.
  package var keptRowBytes = 128 << 20
  /// The most bytes of changed rows that the feed remembers.
  package var changeBytes = 64 << 20
  /// The rights of roles to read.
  package var access = AccessRules()
  /// Limits of queries, by role.
  package var queryLimits: [String: QueryLimits] = [:]
  package var clock = MonotonicClock.system
  /// Whether to compare lists with fresh runs of their queries.
  package var selfCheck = SelfCheckMode.off
  /// Runs of queries that take at least this long are logged and counted; zero if no runs are.
  package var slowQuery = Duration.seconds(1)
  /// Names of published queries.
  package var queryNames: [Fingerprint: String] = [:]

  /// Whether the file is a replica's, whose rows include its commit numbers and epochs (`ReplicaPosition`).
  package var readsPosition = false
  /// Whether other servers share the epochs, so that clients may bring names of versions from those servers.
  package var sharesEpochs = false
  /// The number of the first state, with which numbers continue after a restart.
  package var firstCommit: Int64 = 0
  /// Keeps the followers' state for the next process; nil if nothing is kept.
  package var keeper: StateKeeper?

  package init(path: String) { self.path = path }
}
