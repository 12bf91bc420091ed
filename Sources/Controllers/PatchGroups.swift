import LiveQuery

/// Subscriptions by what they get.
struct PatchGroups {
  /// No group is empty.
  private(set) var members: [[Subscription]] = []
  /// Of the groups, once there are two.
  private var places: [PatchGroup: Int] = [:]
  /// Where the last one went: most often the next one goes there too, and nothing needs to be hashed.
  private var place = 0

  mutating func add(_ subscription: Subscription) {
    if members.isEmpty {
      members = [[subscription]]
      return
    }
    if members[place][0].getsTheSamePatch(as: subscription) {
      members[place].append(subscription)
      return
    }
    if places.isEmpty { places[PatchGroup(members[0][0])] = 0 }
    let group = PatchGroup(subscription)
    place = places[group] ?? members.count
    if place == members.count {
      places[group] = place
      members.append([])
    }
    members[place].append(subscription)
  }
}

/// Subscriptions that get the same patch.
private struct PatchGroup: Hashable {
  let held: Int
  let from: String
  let window: Window?
  let shape: Shape

  init(_ subscription: Subscription) {
    held = subscription.held.number
    from = subscription.sentVersion
    window = subscription.window
    shape = subscription.shape
  }
}

extension Subscription {
  /// Of two subscriptions of one query.
  fileprivate func getsTheSamePatch(as other: Subscription) -> Bool {
    held === other.held && window == other.window && shape == other.shape && sentVersion == other.sentVersion
  }
}
