import ChangeCapture
package import Following
import Ground
package import LiveQuery
import Store

/// Requests of other threads to a follower.
package enum FollowerCommand: Sendable {
  case subscribe(Subscribe)
  case request(SubscriptionKey, SubscriptionRequest, ticket: RequestTicket? = nil)
  case unsubscribe(SubscriptionKey)
  /// Opens a query and keeps it open, so that its first subscriber finds it.
  case keep(Query)
  /// Ends a subscription with an error: its client has lost access to it.
  case end(SubscriptionKey, FreshetError)
  /// Requests one snapshot for a client that does not subscribe.
  case snapshot(SnapshotRequest)
  case sessionClosed(UInt64)
  /// Requests the number of the first state that a tick sees from now on: the protocol's `commit`. The reply is nil if
  /// no tick saw a state in time.
  case commit(reply: @Sendable (Int64?) -> Void)
  /// Waits until all followers have reached a commit.
  case awaitCommit(CommitWaiter)
  case explain(Query, request: UInt64? = nil, reply: @Sendable (Result<Explanation, FreshetError>) -> Void)
  /// Requests the tables that a role may read.
  case schema(Query.Access, request: UInt64? = nil, reply: @Sendable (Result<[DatabaseTable], FreshetError>) -> Void)
  /// Requests the follower's status, with the error that keeps it from reading the database.
  case status(reply: @Sendable (FollowerStatus) -> Void)
  /// A reader has ended a job.
  case report(ReaderReport)
  /// The client has abandoned a request for a snapshot, an explanation or the schema.
  case abandon(request: UInt64)
  case stop

  package struct Subscribe: Sendable {
    package var key: SubscriptionKey
    package var query: Query
    package var window: Window?
    /// The version that the client still has.
    package var since: String?
    /// The least time between two patches.
    package var minInterval: Duration
    package var shape: Shape
    package var ticket: RequestTicket?

    package init(
      key: SubscriptionKey, query: Query, window: Window?, since: String? = nil, minInterval: Duration, shape: Shape,
      ticket: RequestTicket? = nil
    ) {
      self.key = key
      self.query = query
      self.window = window
      self.since = since
      self.minInterval = minInterval
      self.shape = shape
      self.ticket = ticket
    }
  }

  package struct SnapshotRequest: Sendable {
    package var query: Query
    package var window: Window?
    /// Names of versions that the client has. The answer must be a different version.
    package var unless: [String] = []
    /// How long to wait for another version.
    package var wait = Duration.zero
    /// The most rows of the answer. If there are more, it is `tooLong`.
    package var mostRows = Int.max
    /// The id for `abandon` and for the client's share of the readers; nil if the request is never abandoned.
    package var id: UInt64?
    /// Called once, on the follower's thread.
    package var reply: @Sendable (Result<SnapshotAnswer, FreshetError>) -> Void

    package init(
      query: Query, window: Window?, reply: @escaping @Sendable (Result<SnapshotAnswer, FreshetError>) -> Void
    ) {
      self.query = query
      self.window = window
      self.reply = reply
    }
  }
}

/// The answer to a request for a snapshot.
package enum SnapshotAnswer: Sendable {
  case snapshot(Snapshot)
  /// The client has the newest version.
  case unchanged(version: String)
  /// It would have more rows than the request allows.
  case tooLong
}

/// The state of a follower.
package struct FollowerStatus: Sendable {
  /// The error that keeps the follower from reading the database; nil if it can.
  package let readingFailure: FreshetError?
  package let statistics: FollowerStatistics
  package let lists: OpenLists

  package init(readingFailure: FreshetError?, statistics: FollowerStatistics, lists: OpenLists) {
    self.readingFailure = readingFailure
    self.statistics = statistics
    self.lists = lists
  }
}
