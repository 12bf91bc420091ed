package import LiveQuery

/// One client's interest in a result.
///
/// No changes are queued for it: what it has, and so what it is to get next, is the state of its group.
///
/// Owner: the follower's thread.
final class Subscription {
  let key: SubscriptionKey
  /// Of its session, in the follower's `SessionReadiness`.
  let seat: Int
  /// Another one after a `requery`.
  var query: FollowedQuery
  /// The client has ended it, or was told that it has ended.
  var isOver = false

  /// Never without one. To be set by groups alone, as is `place`.
  var group: SubscriberGroup
  var place = 0

  /// It gets a snapshot at the end of this turn, or when one can be made.
  var startsOver = false
  /// The rest of a snapshot that did not fit into one message; nothing else is sent before it.
  var loading: RowsDelivery?
  /// What the client asked while loading.
  var deferred: [(request: SubscriptionRequest, ticket: RequestTicket?)] = []
  /// Rows that a reader reads for it; nothing else is sent before them.
  var read: (read: PendingRead, isWindow: Bool, ticket: RequestTicket?)?
  /// How often in a row such rows were of a newer version than its own.
  var movedReads = 0

  /// Whether nothing is on its way that has to come first.
  var mayBeAnswered: Bool { !isOver && loading == nil && read == nil && !startsOver }

  /// In a group of its own, which gets no patches until `Follower.joinGroups`.
  init(
    key: SubscriptionKey, seat: Int, shape: Shape, minInterval: Int, window: Window?, query: FollowedQuery
  ) {
    self.key = key
    self.seat = seat
    self.query = query
    let newest = query.controller.newest
    group = SubscriberGroup(
      id: key.id, shape: shape, minInterval: UInt64(min(minInterval, 86_400_000)) * 1_000_000,
      state: ClientState(held: newest, sentVersion: query.name(of: newest), window: window))
    group.add(self)
  }

  var shape: Shape { group.shape }
  var isBehind: Bool { group.state.held !== query.controller.newest }
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
