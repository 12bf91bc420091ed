extension RankedTree {
  /// Traps with a message if the tree violates an invariant of `Node`. O(n); in debug builds, tests call it after every
  /// change.
  package func checkInvariants() {
    guard let root else { return }
    precondition(root.slots > 0, "an empty root")
    precondition(root.isLeaf || root.children.count > 1, "a root with a single child")
    root.checkInvariants(above: nil, below: nil)
  }
}

extension Node {
  fileprivate func checkInvariants(above lower: [UInt8]?, below upper: [UInt8]?) {
    precondition(slots > 0, "an empty node")
    precondition(slots <= (isLeaf ? Payload.leafLimit : NodeLimits.inner), "a node over its limit")
    precondition(keys.count == slots, "as many keys as slots")
    let bounds = (0..<slots).map { index in keys.withKey(index) { Array($0) } }
    for index in bounds.indices where index > (isLeaf ? 0 : 1) {
      precondition(bounds[index - 1].lexicographicallyPrecedes(bounds[index]), "keys out of order")
    }
    if isLeaf {
      precondition(count == payloads.count && weight == payloads.reduce(0) { $0 + $1.weight }, "a leaf's sums")
      if let lower { precondition(!bounds[0].lexicographicallyPrecedes(lower), "an element below its bound") }
      if let upper { precondition(bounds[slots - 1].lexicographicallyPrecedes(upper), "an element above its bound") }
      return
    }
    precondition(count == children.reduce(0) { $0 + $1.count }, "an inner node's count")
    precondition(weight == children.reduce(0) { $0 + $1.weight }, "an inner node's weight")
    for (index, child) in children.enumerated() {
      precondition(child.height == height - 1, "leaves at different depths")
      child.checkInvariants(
        above: index == 0 ? lower : bounds[index], below: index + 1 < slots ? bounds[index + 1] : upper)
    }
  }
}
