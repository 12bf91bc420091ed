import Ground
import Requests
import Store

/// The groups that get a query's patches, unordered.
struct SubscriberGroups {
  private(set) var all: [SubscriberGroup] = []

  /// Adds a group, or merges it into the group that was added last if their states are equal.
  mutating func insert(_ group: SubscriberGroup) {
    if let last = all.last, last.mayTake(group) { return last.take(group) }
    group.place = all.count
    all.append(group)
  }

  private mutating func remove(_ group: SubscriberGroup) {
    guard let place = group.place else { return }
    all[place] = all[all.count - 1]
    all[place].place = place
    all.removeLast()
    group.place = nil
  }

  mutating func remove(_ subscription: Subscription) {
    let group = subscription.group
    group.remove(subscription)
    if group.subscriptions.isEmpty { remove(group) }
  }

  /// Puts a subscription into a group of its own, which gets no patches until it is inserted.
  mutating func setApart(_ subscription: Subscription) {
    let group = subscription.group
    if group.subscriptions.count == 1 { remove(group) } else { _ = group.split([subscription]) }
  }

  /// Splits these subscriptions off into a second group.
  mutating func split(_ group: SubscriberGroup, _ subscriptions: [Subscription]) {
    insert(group.split(subscriptions))
  }

  /// Merges groups that no longer differ.
  ///
  /// - Parameter groups: groups that are due the same patch.
  /// - Returns: the groups that remain.
  mutating func merge(_ groups: [SubscriberGroup]) -> [SubscriberGroup] {
    if groups.count == 1 { return groups }
    var merged: [SubscriberGroup] = []
    var places: [MergeKey: Int] = [:]
    for group in groups {
      let key = MergeKey(group)
      if let place = places[key] {
        merged[place] = merge(merged[place], group)
      } else {
        places[key] = merged.count
        merged.append(group)
      }
    }
    return merged
  }

  private mutating func merge(_ first: SubscriberGroup, _ second: SubscriberGroup) -> SubscriberGroup {
    let isFirstLarger = first.subscriptions.count >= second.subscriptions.count
    let (large, small) = isFirstLarger ? (first, second) : (second, first)
    remove(small)
    large.take(small)
    return large
  }
}

extension SubscriberGroup {
  /// Whether another group may join without delaying any subscription's patches.
  fileprivate func mayTake(_ other: SubscriberGroup) -> Bool {
    getsTheSamePatch(as: other) && minInterval == .zero && MergeKey(self) == MergeKey(other)
  }
}

/// The properties in which groups that get the same patch may differ.
private struct MergeKey: Hashable {
  /// The id as bytes, because Swift considers some different texts equal.
  let id: [UInt8]
  let minInterval: Nanoseconds
  let hasFailed: Bool

  init(_ group: SubscriberGroup) {
    id = Array(group.recipients.id.utf8)
    minInterval = group.minInterval
    hasFailed = group.state.retryAt > .distantPast
  }
}
