/// Builds a tree from elements that come in ascending order, every leaf full. O(1) amortised an element.
struct TreeBuilder<Payload: RankedPayload> {
  private var leaves: [Node<Payload>] = []
  private var keys = PackedKeys()
  private var payloads: [Payload] = []

  init() {
    startLeaf()
  }

  private mutating func startLeaf() {
    keys = PackedKeys()
    payloads = []
    payloads.reserveCapacity(Payload.leafLimit)
  }

  /// - Precondition: `key` is greater than the one before.
  mutating func append(_ key: Bytes, _ payload: Payload) {
    if payloads.count == Payload.leafLimit || (keys.byteCount + key.count > NodeLimits.leafBytes && payloads.count >= 2)
    {
      finishLeaf()
    }
    keys.append(key)
    payloads.append(payload)
  }

  private mutating func finishLeaf() {
    // Copied so that each buffer is as large as its content: leaves make up nearly all of a tree's memory.
    leaves.append(Node(keys: keys.copy(0..<keys.count), payloads: payloads))
    startLeaf()
  }

  /// - Returns: the tree, and its leaves in order.
  mutating func finish() -> (tree: RankedTree<Payload>, leaves: [Node<Payload>]) {
    if !payloads.isEmpty { finishLeaf() }
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
}
