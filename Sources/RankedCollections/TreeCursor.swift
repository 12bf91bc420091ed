/// A place in a tree while it is walked in order, one element at a time or a whole shared node at a time.
struct TreeCursor<Payload: RankedPayload> {
  /// From the root down to the current leaf: each node and the slot taken in it.
  private var path: [(node: Node<Payload>, slot: Int)] = []
  /// Elements before the current one.
  private(set) var rank = 0
  /// The greatest height whose node on the path starts with the current element; -1 when not at a leaf's start.
  private(set) var startHeight = -1

  init(_ tree: RankedTree<Payload>) {
    guard let root = tree.root else { return }
    descend(into: root)
    startHeight = root.height
  }

  var isAtEnd: Bool { path.isEmpty }
  var leaf: Node<Payload> { path[path.count - 1].node }
  var slot: Int { path[path.count - 1].slot }

  /// The node of this height that the path goes through.
  func node(atHeight height: Int) -> Node<Payload> { path[path.count - 1 - height].node }

  private mutating func descend(into node: Node<Payload>) {
    var node = node
    while true {
      path.append((node, 0))
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

  /// Goes to the first element after the node of `height`, which must start with the current element.
  mutating func skip(height: Int) {
    rank += node(atHeight: height).count
    advancePast(height: height)
  }

  private mutating func advancePast(height: Int) {
    path.removeLast(height + 1)
    while let (node, slot) = path.last {
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
    if old.root === new.root { return true }
    var before = TreeCursor(old)
    var after = TreeCursor(new)
    while true {
      if before.isAtEnd && after.isAtEnd { return true }
      if let height = sharedHeight(before, after) {
        before.skip(height: height)
        after.skip(height: height)
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
    return old.payloads.withUnsafeBufferPointer { left in
      new.payloads.withUnsafeBufferPointer { right in
        (0..<equal).first { !left[before.slot + $0].isSame(as: right[after.slot + $0]) } ?? equal
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
