import Ground

extension Node {
  /// Takes the element with `key`, which must exist, out of the tree below `node`. Afterwards `node` may be empty.
  ///
  /// - Returns: whether it was the first below `node`.
  /// - Complexity: at most O(log n) nodes are copied; nodes not shared with another version are changed in place.
  static func remove<Observer: LeafObserver>(
    _ key: Bytes, from node: inout Node, observer: inout Observer
  ) -> Bool where Observer.Payload == Payload {
    if !isKnownUniquelyReferenced(&node) {
      node = node.copy()
      if node.isLeaf { observer.leafWasReplaced(by: node) }
    }
    node.count -= 1
    if node.isLeaf {
      guard let slot = node.slot(of: key) else { preconditionFailure("removing a key that is not in the tree") }
      node.weight -= node.payloads[slot].weight
      node.keys.remove(at: slot)
      node.payloads.remove(at: slot)
      return slot == 0
    } else {
      let index = node.childIndex(for: key)
      let weight = node.children[index].weight
      let wasFirst = remove(key, from: &node.children[index], observer: &observer)
      node.weight += node.children[index].weight - weight
      node.mendChild(at: index, observer: &observer)
      return wasFirst && index == 0
    }
  }

  /// Called after child `index` lost an element. Drops the child if it is empty; joins it with a neighbor if both fit
  /// into one node.
  func mendChild<Observer: LeafObserver>(
    at index: Int, observer: inout Observer
  ) where Observer.Payload == Payload {
    let child = children[index]
    if child.slots == 0 {
      if child.isLeaf { observer.leafWasRemoved(child.leafID) }
      children.remove(at: index)
      keys.remove(at: index)
    } else if child.slots < child.limit / 2 {
      if index + 1 < children.count, child.fits(children[index + 1]) {
        joinChild(at: index, observer: &observer)
      } else if index > 0, children[index - 1].fits(child) {
        joinChild(at: index - 1, observer: &observer)
      }
    }
  }

  private var limit: Int { isLeaf ? Payload.leafLimit : NodeLimits.inner }

  private func fits(_ right: Node) -> Bool {
    slots + right.slots <= limit && (!isLeaf || keys.byteCount + right.keys.byteCount <= NodeLimits.leafBytes)
  }

  /// Appends child `index + 1` to child `index`.
  private func joinChild<Observer: LeafObserver>(
    at index: Int, observer: inout Observer
  ) where Observer.Payload == Payload {
    if !isKnownUniquelyReferenced(&children[index]) {
      children[index] = children[index].copy()
      if children[index].isLeaf { observer.leafWasReplaced(by: children[index]) }
    }
    let left = children[index]
    let right = children[index + 1]
    let first = left.slots
    left.count += right.count
    left.weight += right.weight
    if left.isLeaf {
      left.keys.append(contentsOf: right.keys)
      left.payloads.append(contentsOf: right.payloads)
      observer.elements(first..<left.payloads.count, of: left, cameFrom: right.leafID)
      observer.leafWasRemoved(right.leafID)
    } else {
      // The right node's own key 0 may be too low a bound, but the parent's key for the right node never is.
      keys.withKey(index + 1) { left.keys.append($0) }
      left.keys.append(contentsOf: right.keys.copy(1..<right.children.count))
      left.children.append(contentsOf: right.children)
    }
    children.remove(at: index + 1)
    keys.remove(at: index + 1)
  }
}
