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
  @inline(__always)
  static func forEachChange(
    from old: RankedTree, to new: RankedTree, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    if old.root === new.root { return true }
    var (left, right, rank) = (old.root, new.root, 0)
    if let before = old.root, let after = new.root { (left, right, rank) = narrowed(before, after) }
    var (before, after) = (TreeCursor(left, rank: rank), TreeCursor(right, rank: rank))
    while true {
      skipSame(&before, &after)
      if before.isAtEnd && after.isAtEnd { return true }
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

  /// Passes what both sides have the same from here on, whole shared nodes at a time where there are any.
  private static func skipSame(_ before: inout TreeCursor<Payload>, _ after: inout TreeCursor<Payload>) {
    while !before.isAtEnd, !after.isAtEnd {
      if let height = sharedHeight(before, after) {
        let run = before.sharedRun(height: height, after)
        before.skip(height: height, count: run)
        after.skip(height: height, count: run)
        continue
      }
      let same = sameRun(before, after)
      if same == 0 { return }
      before.advance(by: same)
      after.advance(by: same)
    }
  }

  /// The height of the largest node that both cursors stand at the start of.
  private static func sharedHeight(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int? {
    var height = min(before.startHeight, after.startHeight)
    while height >= 0 {
      if before.node(atHeight: height).toOpaque() == after.node(atHeight: height).toOpaque() { return height }
      height -= 1
    }
    return nil
  }

  /// How many elements both sides have the same from here on, within their leaves: most of a leaf that was copied because one
  /// of its elements changed.
  private static func sameRun(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int {
    let (slot, otherSlot) = (before.slot, after.slot)
    return before.withLeaf { old in
      after.withLeaf { new in
        let equal = old.keys.equalRun(from: slot, new.keys, from: otherSlot)
        return old.payloads.withUnsafeBufferPointer { left in
          new.payloads.withUnsafeBufferPointer { right in
            var run = 0
            while run < equal, left[slot + run].isSame(as: right[otherSlot + run]) { run += 1 }
            return run
          }
        }
      }
    }
  }

  /// Negative when the old side's element comes first; an ended side comes last.
  private static func compare(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int {
    if before.isAtEnd { return 1 }
    if after.isAtEnd { return -1 }
    return before.withLeaf { old in
      after.withLeaf { new in
        old.keys.withKey(before.slot) { left in new.keys.withKey(after.slot) { left.compare($0) } }
      }
    }
  }
}
