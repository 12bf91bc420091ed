package import LiveQuery

/// One client's interest in a result: the version that the client has, and how it wants the next one.
///
/// No changes are queued for it. Owner: the worker's thread.
final class Subscription {
  let key: SubscriptionKey
  let shape: Shape
  /// Least time between two patches, in nanoseconds.
  let minInterval: UInt64
  /// Another one after a `requery`.
  var query: FollowedQuery
  /// The client has ended it, or was told that it has ended.
  var isOver = false

  /// What the client holds contents of; nil: everything.
  var window: Window?
  /// The version that the client is at. Its window's contents are exactly those of this version.
  var held: ResultVersion
  /// The version's name as the client was last told: what the next patch is `from`.
  var sentVersion: String
  var lastSent: UInt64 = 0
  /// When to try again after contents could not be read; 0: they could.
  var retryAt: UInt64 = 0
  /// It gets a snapshot at the end of this turn, or when one can be made.
  var startsOver = false
  /// Shared by the session's subscriptions.
  let readiness: SessionReadiness
  /// The rest of a snapshot that did not fit into one message; nothing else is sent before it.
  var loading: RowsDelivery?
  /// What the client asked while loading.
  var deferred: [SubscriptionRequest] = []

  init(
    key: SubscriptionKey, shape: Shape, minInterval: Int, window: Window?, query: FollowedQuery,
    readiness: SessionReadiness
  ) {
    self.key = key
    self.readiness = readiness
    self.shape = shape
    self.minInterval = UInt64(min(minInterval, 86_400_000)) * 1_000_000
    self.window = window
    self.query = query
    held = query.controller.newest
    sentVersion = query.name(of: held)
  }

  var isBehind: Bool { held !== query.controller.newest }
}

/// Whether a session had taken everything when the turn's patches were made: asked once, for what the turn sends to one of its
/// subscriptions must not keep the others waiting.
final class SessionReadiness {
  private var flush: UInt64 = 0
  private var isDrained = false

  /// - Parameter flush: the number of the turn's `WorkerLoop.flush`, from 1.
  func isDrained(in flush: UInt64, ask: () -> Bool) -> Bool {
    if self.flush != flush { (self.flush, isDrained) = (flush, ask()) }
    return isDrained
  }
}

/// What a client asks of a subscription that it has.
package enum SubscriptionRequest: Sendable {
  /// The window moves; the answer is its rows.
  case window(Window)
  /// Rows are read; the window stays.
  case fetch(Window)
  /// Where the row with a key is.
  case locate([SQLValue])
  /// Another query in the place of the subscription's; the window stays when none is given.
  case requery(Query, Window?)
  case resync
}
