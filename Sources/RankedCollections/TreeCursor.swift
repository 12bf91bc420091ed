/// A place in a tree while it is walked in order, one element at a time or whole shared nodes at a time.
struct TreeCursor<Payload: RankedPayload> {
  /// From the root down to the current leaf: each node, the slot taken in it, and how many elements come before the node.
  private var path: [(node: Node<Payload>, slot: Int, start: Int)] = []
  /// Elements before the current one.
  private(set) var rank = 0
  /// The greatest height whose node on the path starts with the current element; -1 when not at a leaf's start.
  private(set) var startHeight = -1

  init(_ tree: RankedTree<Payload>) { if let root = tree.root { start(at: root) } }

  /// Walks the elements below a node.
  ///
  /// - Parameter rank: of the first of them.
  fileprivate init(_ node: Node<Payload>, rank: Int) {
    self.rank = rank
    start(at: node)
  }

  private mutating func start(at node: Node<Payload>) {
    startHeight = node.height
    descend(into: node)
  }

  var isAtEnd: Bool { path.isEmpty }
  var leaf: Node<Payload> { path[path.count - 1].node }
  var slot: Int { path[path.count - 1].slot }

  /// The node of this height that the path goes through.
  func node(atHeight height: Int) -> Node<Payload> { path[path.count - 1 - height].node }

  private mutating func descend(into node: Node<Payload>) {
    var node = node
    while true {
      path.append((node, 0, rank))
      if node.isLeaf { return }
      node = node.children[0]
    }
  }

  /// Goes on by one element, or by some of the leaf's.
  mutating func advance(by count: Int = 1) {
    rank += count
    path[path.count - 1].slot += count
    startHeight = -1
    if slot == leaf.payloads.count { advancePast(height: 0) }
  }

  /// Goes to the first element after the node of `height` and `count - 1` nodes beside it. The first must start with the
  /// current element.
  fileprivate mutating func skip(height: Int, count: Int) {
    let parent = path.count - 2 - height
    if parent >= 0 {
      let (node, slot, start) = path[parent]
      // Where nothing of the parent is left, its own count does: the children need not be touched.
      if slot + count == node.children.count {
        rank = start + node.count
      } else {
        for index in slot..<slot + count { rank += node.children[index].count }
      }
      path[parent].slot += count - 1
    } else {
      rank += node(atHeight: height).count
    }
    advancePast(height: height)
  }

  private mutating func advancePast(height: Int) {
    path.removeLast(height + 1)
    while let (node, slot, _) = path.last {
      if slot + 1 < node.children.count {
        path[path.count - 1].slot += 1
        let child = node.children[slot + 1]
        startHeight = child.height
        descend(into: child)
        return
      }
      path.removeLast()
    }
  }

  /// How many nodes from that of `height` on both trees share side by side, below one parent each.
  fileprivate func sharedRun(height: Int, _ other: TreeCursor) -> Int {
    let (parent, otherParent) = (path.count - 2 - height, other.path.count - 2 - height)
    guard parent >= 0, otherParent >= 0 else { return 1 }
    let (node, slot, _) = path[parent]
    let (otherNode, otherSlot, _) = other.path[otherParent]
    let most = min(node.children.count - slot, otherNode.children.count - otherSlot)
    var run = 1
    while run < most, node.children[slot + run] === otherNode.children[otherSlot + run] { run += 1 }
    return run
  }
}

/// One thing that differs between two trees.
enum TreeChange<Payload: RankedPayload> {
  case removed(ElementReference<Payload>)
  case inserted(ElementReference<Payload>)
  /// The same key on both sides with payloads that are not the same.
  case changed(old: ElementReference<Payload>, new: ElementReference<Payload>)
}

/// An element in one version of a tree.
struct ElementReference<Payload: RankedPayload> {
  var leaf: Node<Payload>
  var slot: Int
  var rank: Int

  var payload: Payload { leaf.payloads[slot] }
  func withKey<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result { try leaf.keys.withKey(slot, body) }
}

extension RankedTree {
  /// Calls `body` with everything that differs between two versions, in key order; ends when `body` returns false.
  ///
  /// Nodes that both share are skipped whole: between versions that grew from each other this takes
  /// O(changes × log n), whatever the size; between unrelated ones O(n).
  ///
  /// - Returns: whether the end was reached.
  @discardableResult
  static func forEachChange(
    from old: RankedTree, to new: RankedTree, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    guard let before = old.root, let after = new.root else {
      return forEachChange(from: TreeCursor(old), to: TreeCursor(new), body)
    }
    if before === after { return true }
    let (left, right, rank) = narrowed(before, after)
    return forEachChange(from: TreeCursor(left, rank: rank), to: TreeCursor(right, rank: rank), body)
  }

  /// The lowest two nodes that stand in the same place of two trees which share everything besides: for most changes two
  /// leaves.
  ///
  /// - Returns: the nodes, and the rank of their first elements.
  private static func narrowed(
    _ old: Node<Payload>, _ new: Node<Payload>
  ) -> (old: Node<Payload>, new: Node<Payload>, rank: Int) {
    var (old, new, rank) = (old, new, 0)
    while old.height == new.height, !old.isLeaf, let index = onlyDifference(old.children, new.children) {
      for child in old.children[..<index] { rank += child.count }
      (old, new) = (old.children[index], new.children[index])
    }
    return (old, new, rank)
  }

  /// The index at which alone two lists of nodes differ, if there is one.
  private static func onlyDifference(_ old: [Node<Payload>], _ new: [Node<Payload>]) -> Int? {
    guard old.count == new.count else { return nil }
    return old.withUnsafeBufferPointer { old in
      new.withUnsafeBufferPointer { new in
        guard let first = old.indices.first(where: { old[$0] !== new[$0] }) else { return nil }
        for later in old.indices.dropFirst(first + 1) where old[later] !== new[later] { return nil }
        return first
      }
    }
  }

  private static func forEachChange(
    from start: TreeCursor<Payload>, to other: TreeCursor<Payload>, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    var (before, after) = (start, other)
    while true {
      if before.isAtEnd && after.isAtEnd { return true }
      if let height = sharedHeight(before, after) {
        let run = before.sharedRun(height: height, after)
        before.skip(height: height, count: run)
        after.skip(height: height, count: run)
        continue
      }
      let same = sameRun(before, after)
      if same > 0 {
        before.advance(by: same)
        after.advance(by: same)
        continue
      }
      let order = compare(before, after)
      let change: TreeChange<Payload> =
        if order < 0 {
          .removed(before.reference)
        } else if order > 0 {
          .inserted(after.reference)
        } else {
          .changed(old: before.reference, new: after.reference)
        }
      if !body(change) { return false }
      if order <= 0 { before.advance() }
      if order >= 0 { after.advance() }
    }
  }

  /// The height of the largest node that both cursors stand at the start of.
  private static func sharedHeight(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int? {
    if before.isAtEnd || after.isAtEnd { return nil }
    var height = min(before.startHeight, after.startHeight)
    while height >= 0 {
      if before.node(atHeight: height) === after.node(atHeight: height) { return height }
      height -= 1
    }
    return nil
  }

  /// How many elements both sides have the same from here on, within their leaves: most of a leaf that was copied because one
  /// of its elements changed.
  private static func sameRun(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int {
    if before.isAtEnd || after.isAtEnd { return 0 }
    let (old, new) = (before.leaf, after.leaf)
    let equal = old.keys.equalRun(from: before.slot, new.keys, from: after.slot)
    let (slot, otherSlot) = (before.slot, after.slot)
    return old.payloads.withUnsafeBufferPointer { left in
      new.payloads.withUnsafeBufferPointer { right in
        var run = 0
        while run < equal, left[slot + run].isSame(as: right[otherSlot + run]) { run += 1 }
        return run
      }
    }
  }

  /// Negative when the old side's element comes first; an ended side comes last.
  private static func compare(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int {
    if before.isAtEnd { return 1 }
    if after.isAtEnd { return -1 }
    return before.leaf.keys.withKey(before.slot) { left in
      after.leaf.keys.withKey(after.slot) { left.compare($0) }
    }
  }
}

extension TreeCursor {
  fileprivate var reference: ElementReference<Payload> { ElementReference(leaf: leaf, slot: slot, rank: rank) }
}
