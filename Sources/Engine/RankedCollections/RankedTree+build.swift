import Ground

extension RankedTree {
  /// Builds a tree of elements in ascending order. O(count).
  ///
  /// - Parameter key: the key of the element at an index; must be greater than the previous key.
  static func build(count: Int, key: (Int) -> Bytes, payload: (Int) -> Payload) -> RankedTree {
    RankedTree(leaves: leaves(of: 0..<count, key: key, payload: payload))
  }

  /// Builds leaves of elements in ascending order. Every buffer is as large as its content, because leaves make up
  /// nearly all of a tree's memory. Each leaf is a sixteenth below its limit, so that the first rows that are inserted
  /// do not split it. O(elements).
  static func leaves(
    of elements: Range<Int>, key: (Int) -> Bytes, payload: (Int) -> Payload
  ) -> [Node<Payload>] {
    var leaves: [Node<Payload>] = []
    leaves.reserveCapacity(elements.count / builtLeaf + 1)
    var start = elements.lowerBound
    while start < elements.upperBound {
      let end = leafEnd(from: start, to: elements.upperBound, key: key)
      leaves.append(Node(keys: PackedKeys(start..<end, key: key), payloads: (start..<end).map(payload)))
      start = end
    }
    return leaves
  }

  /// Builds the tree that has these leaves, in order. O(leaves).
  init(leaves: [Node<Payload>]) {
    var level = leaves
    while level.count > 1 {
      level = stride(from: 0, to: level.count, by: NodeLimits.inner).map { start in
        let children = Array(level[start..<min(start + NodeLimits.inner, level.count)])
        var keys = PackedKeys()
        for child in children { child.withLowerBound { keys.append($0) } }
        return Node(keys: keys, children: children)
      }
    }
    self.init(root: level.first)
  }

  /// The number of elements in a newly built leaf.
  private static var builtLeaf: Int { Payload.leafLimit - Payload.leafLimit / 16 }

  private static func leafEnd(from start: Int, to limit: Int, key: (Int) -> Bytes) -> Int {
    var end = start
    var bytes = 0
    while end < limit, end - start < builtLeaf {
      bytes += key(end).count
      if bytes > NodeLimits.leafBytes, end - start >= 2 { break }
      end += 1
    }
    return end
  }
}
