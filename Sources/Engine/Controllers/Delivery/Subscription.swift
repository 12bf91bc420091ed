import LiveQuery
import Store
import Wire

/// One client's interest in a result.
///
/// No changes are queued for it: what it has, and so what it is to get next, is the state of its group.
///
/// Owner: the follower's thread.
final class Subscription {
  let key: SubscriptionKey
  /// Another one after a `requery`.
  @exclusivity(unchecked) var list: LiveList
  /// Never without one. To be set by groups alone, as is `place`.
  @exclusivity(unchecked) var group: SubscriberGroup
  var place = 0

  @exclusivity(unchecked) var state = StateMachine()

  /// In a group of its own, which gets no patches until `Delivery.joinGroups`.
  init(
    key: SubscriptionKey, shape: Shape, minInterval: Duration, window: Window?, list: LiveList
  ) {
    self.key = key
    self.list = list
    let newest = list.result.newest
    group = SubscriberGroup(
      id: key.id, shape: shape, minInterval: Nanoseconds(minInterval),
      state: ClientState(held: newest, sentVersion: "", window: window))
    group.add(self)
  }

  var shape: Shape { group.shape }
  var isBehind: Bool { group.state.held !== list.result.newest }
}

/// Rows that are sent in parts.
struct LoadingRows {
  /// The part sent last.
  var message: RowsMessage
  /// The memory that the rows take, when they are many.
  var hold: ContentsBudget.Hold?
}
