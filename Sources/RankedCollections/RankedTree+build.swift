extension RankedTree {
  /// Builds a tree of elements in ascending order, every leaf full, and every buffer as large as its content: leaves make up
  /// nearly all of a tree's memory. O(count).
  ///
  /// - Parameter key: of the element at an index; has to be greater than the one before.
  /// - Returns: the tree, and its leaves in order.
  static func build(
    count: Int, key: (Int) -> Bytes, payload: (Int) -> Payload
  ) -> (tree: RankedTree, leaves: [Node<Payload>]) {
    var leaves: [Node<Payload>] = []
    leaves.reserveCapacity(count / Payload.leafLimit + 1)
    var start = 0
    while start < count {
      let end = leafEnd(from: start, count: count, key: key)
      leaves.append(Node(keys: PackedKeys(start..<end, key: key), payloads: (start..<end).map(payload)))
      start = end
    }
    var level = leaves
    while level.count > 1 {
      level = stride(from: 0, to: level.count, by: NodeLimits.inner).map { start in
        let children = Array(level[start..<min(start + NodeLimits.inner, level.count)])
        var keys = PackedKeys()
        for child in children { child.withLowerBound { keys.append($0) } }
        return Node(keys: keys, children: children)
      }
    }
    return (RankedTree(root: level.first), leaves)
  }

  private static func leafEnd(from start: Int, count: Int, key: (Int) -> Bytes) -> Int {
    var end = start
    var bytes = 0
    while end < count, end - start < Payload.leafLimit {
      bytes += key(end).count
      if bytes > NodeLimits.leafBytes, end - start >= 2 { break }
      end += 1
    }
    return end
  }
}
