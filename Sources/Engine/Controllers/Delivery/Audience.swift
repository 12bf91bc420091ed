import LiveQuery
import Wire

/// The subscriptions to a list.
struct Audience {
  /// In no order.
  var subscriptions: [SubscriptionKey: Subscription] = [:]
  /// Of those that get patches: a subscription that waits for a snapshot, or the rest of one, is in none of them.
  var groups = SubscriberGroups()
  /// Those that wait for a snapshot. No group is empty.
  var startingOver: [SnapshotGroup: [Subscription]] = [:]
}

/// Subscriptions to one list that get the same snapshot.
struct SnapshotGroup: Hashable {
  let window: Window?
  let shape: Shape

  init(_ subscription: Subscription) {
    window = subscription.group.state.window
    shape = subscription.shape
  }
}
