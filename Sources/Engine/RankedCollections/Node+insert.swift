import Ground

extension Node {
  /// Puts an element into the tree below `node`, or replaces the payload of the one with this key.
  ///
  /// - Returns: the right half, when `node` had to be split; and whether the element is the first below `node`.
  /// - Complexity: O(log n) nodes are copied, those not shared with another version are changed in place.
  static func insert<Observer: LeafObserver>(
    _ key: Bytes, _ payload: Payload, into node: inout Node, observer: inout Observer
  ) -> (right: Node?, isFirst: Bool) where Observer.Payload == Payload {
    if !isKnownUniquelyReferenced(&node) {
      node = node.copy()
      if node.isLeaf { observer.leafWasReplaced(by: node) }
    }
    if node.isLeaf { return node.insertIntoLeaf(key, payload, observer: &observer) }

    let index = node.childIndex(for: key)
    let before = (count: node.children[index].count, weight: node.children[index].weight)
    let (right, isFirst) = insert(key, payload, into: &node.children[index], observer: &observer)
    let child = node.children[index]
    node.count += child.count + (right?.count ?? 0) - before.count
    node.weight += child.weight + (right?.weight ?? 0) - before.weight
    guard let right else { return (nil, isFirst && index == 0) }
    right.withLowerBound { node.keys.insert($0, at: index + 1) }
    node.children.insert(right, at: index + 1)
    return (node.children.count > NodeLimits.inner ? node.splitInner() : nil, isFirst && index == 0)
  }

  private func insertIntoLeaf<Observer: LeafObserver>(
    _ key: Bytes, _ payload: Payload, observer: inout Observer
  ) -> (right: Node?, isFirst: Bool) where Observer.Payload == Payload {
    let slot = keys.lowerBound(key)
    if slot < keys.count, keys.withKey(slot, { $0.equals(key) }) {
      weight += payload.weight - payloads[slot].weight
      payloads[slot] = payload
      return (nil, slot == 0)
    }
    keys.insert(key, at: slot)
    payloads.insert(payload, at: slot)
    count += 1
    weight += payload.weight
    observer.elementWasInserted(into: self)
    return (isOverfullLeaf ? splitLeaf(observer: &observer) : nil, slot == 0)
  }

  /// Long keys split a leaf earlier, because every change to a leaf copies it.
  var isOverfullLeaf: Bool {
    payloads.count > Payload.leafLimit || (keys.byteCount > NodeLimits.leafBytes && payloads.count >= 4)
  }

  func splitLeaf<Observer: LeafObserver>(observer: inout Observer) -> Node where Observer.Payload == Payload {
    let middle = payloads.count / 2
    let right = Node(keys: keys.copy(middle..<payloads.count), payloads: Array(payloads[middle...]))
    keys.truncate(to: middle)
    payloads.removeSubrange(middle...)
    count -= right.count
    weight -= right.weight
    observer.leafWasAdded(right, splitFrom: self)
    observer.elements(0..<right.payloads.count, of: right, cameFrom: leafID)
    return right
  }

  func splitInner() -> Node {
    let middle = children.count / 2
    let right = Node(keys: keys.copy(middle..<children.count), children: Array(children[middle...]))
    keys.truncate(to: middle)
    children.removeSubrange(middle...)
    count -= right.count
    weight -= right.weight
    return right
  }

  /// Calls `body` with a key that is not greater than any key below: the first element's key, or the bound that a split
  /// set.
  func withLowerBound(_ body: (Bytes) -> Void) { keys.withKey(0, body) }
}

extension Node<RowStamp> {
  /// Gives a row another stamp.
  ///
  /// - Parameters:
  ///   - entry: the row's entry.
  ///   - slot: the row's slot in its leaf.
  /// - Complexity: as for `insert`.
  static func restamp(
    _ entry: Bytes, _ slot: Int, _ stamp: RowStamp, in node: inout Node, observer: inout IdentityIndex
  ) {
    if !isKnownUniquelyReferenced(&node) {
      node = node.copy()
      if node.isLeaf { observer.leafWasReplaced(by: node) }
    }
    if node.isLeaf {
      node.payloads[slot] = stamp
    } else {
      restamp(entry, slot, stamp, in: &node.children[node.childIndex(for: entry)], observer: &observer)
    }
  }
}
