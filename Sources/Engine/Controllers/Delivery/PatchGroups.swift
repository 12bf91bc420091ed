import LiveQuery

/// Groups of a query's subscribers by the patch that they are due.
struct PatchGroups {
  /// Each of them gets one patch, and is not empty.
  private(set) var members: [[SubscriberGroup]] = []
  /// Of the members, once there are two.
  private var places: [PatchKey: Int] = [:]
  /// Where the last one went: most often the next one goes there too, and nothing needs to be hashed.
  private var place = 0

  mutating func add(_ group: SubscriberGroup) {
    if members.isEmpty {
      members = [[group]]
      return
    }
    if members[place][0].getsTheSamePatch(as: group) {
      members[place].append(group)
      return
    }
    if places.isEmpty { places[PatchKey(members[0][0])] = 0 }
    let key = PatchKey(group)
    place = places[key] ?? members.count
    if place == members.count {
      places[key] = place
      members.append([])
    }
    members[place].append(group)
  }
}

/// What a patch is made of.
private struct PatchKey: Hashable {
  let held: ObjectIdentifier
  let from: String
  let window: Window?
  let shape: Shape

  init(_ group: SubscriberGroup) {
    held = ObjectIdentifier(group.state.held)
    from = group.state.sentVersion
    window = group.state.window
    shape = group.shape
  }
}

extension SubscriberGroup {
  /// Of two groups of one query.
  func getsTheSamePatch(as other: SubscriberGroup) -> Bool {
    state.held === other.state.held && state.window == other.state.window && shape == other.shape
      && state.sentVersion == other.state.sentVersion
  }
}
