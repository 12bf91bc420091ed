import LiveQuery

/// The subscriptions to a list.
struct Audience {
  /// Unordered.
  var subscriptions: [SubscriptionKey: Subscription] = [:]
  /// Groups of the subscriptions that get patches. Subscriptions that wait for a snapshot, or for the rest of one, are
  /// in no group.
  var groups = SubscriberGroups()
  /// Subscriptions that wait for a snapshot. No array is empty.
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
