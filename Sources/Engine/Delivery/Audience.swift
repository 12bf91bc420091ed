import Lists
import LiveQuery
package import Requests

/// The subscriptions to a list.
package final class Audience: ListAudience {
  /// Unordered.
  @exclusivity(unchecked) package var subscriptions: [SubscriptionKey: Subscription] = [:]
  /// Groups of the subscriptions that get patches. Subscriptions that wait for a snapshot, or for the rest of one, are
  /// not in a group.
  @exclusivity(unchecked) var groups = SubscriberGroups()
  /// Subscriptions that wait for a snapshot. No array is empty.
  @exclusivity(unchecked) var startingOver: [SnapshotGroup: [Subscription]] = [:]

  var count: Int { subscriptions.count }
  var session: UInt64? { subscriptions.first?.key.session }
  var awaited: WantedContents? { startingOver.keys.first.map { WantedContents(window: $0.window) } }
  func awaits(_ window: Window?) -> Bool { startingOver.keys.contains { $0.window == window } }
  func hasOnly(_ version: ResultVersion) -> Bool { groups.all.allSatisfy { $0.state.held === version } }
}

extension LiveList {
  /// Made for the first subscription. Nothing else sets it.
  package var audience: Audience {
    if let listeners { return unsafeDowncast(listeners, to: Audience.self) }
    let audience = Audience()
    listeners = audience
    return audience
  }
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
