import LiveQuery

/// A query's subscriber groups, grouped by the patch that they are due.
struct PatchGroups {
  /// Each array gets one patch. No array is empty.
  private(set) var members: [[SubscriberGroup]] = []
  /// Indexes into `members`; empty while there are fewer than two.
  private var places: [PatchKey: Int] = [:]
  /// The index to which the last group was added. Usually the next group belongs there too, and needs no hashing.
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

/// Everything that a patch depends on.
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
  /// Precondition: both groups belong to one query.
  func getsTheSamePatch(as other: SubscriberGroup) -> Bool {
    state.held === other.state.held && state.window == other.state.window && shape == other.shape
      && state.sentVersion == other.state.sentVersion
  }
}
