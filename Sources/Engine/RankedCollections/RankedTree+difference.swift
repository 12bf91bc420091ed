import Ground

/// One thing that differs between two trees.
enum TreeChange<Payload: RankedPayload> {
  case removed(ElementReference<Payload>)
  case inserted(ElementReference<Payload>)
  /// Both versions have the key, with different payloads.
  case changed(old: ElementReference<Payload>, new: ElementReference<Payload>)
}

/// An element in one version of a tree. The version must outlive it: references to the leaf are not counted, which
/// would be done for every element that is passed on.
struct ElementReference<Payload: RankedPayload> {
  private let node: Unmanaged<Node<Payload>>
  let slot: Int
  let rank: Int

  @inline(__always)
  init(leaf: Node<Payload>, slot: Int, rank: Int) {
    node = .passUnretained(leaf)
    (self.slot, self.rank) = (slot, rank)
  }

  var leaf: Node<Payload> { node.takeUnretainedValue() }
  var payload: Payload { node._withUnsafeGuaranteedRef { $0.payloads[slot] } }
}

extension Node {
  /// Calls `body` with the children, without counting references to them.
  @inline(__always)
  fileprivate func withChildren<Result>(_ body: (UnsafeBufferPointer<Unmanaged<Node>>) -> Result) -> Result {
    children.withUnsafeBytes { body($0.assumingMemoryBound(to: Unmanaged<Node>.self)) }
  }
}

extension RankedTree {
  /// Calls `body` with everything that differs between two versions, in key order; ends when `body` returns false.
  ///
  /// Nodes that both versions share are skipped. Versions that grew from each other take O(changes × log n), unrelated
  /// versions O(n).
  ///
  /// - Returns: false if `body` has ended the walk.
  @discardableResult
  static func forEachChange(
    from old: RankedTree, to new: RankedTree, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    if let before = old.root, let after = new.root { return forEachChange(from: before, 0, to: after, 0, body) }
    return walk(TreeCursor(old), TreeCursor(new), body)
  }

  /// As above, for two nodes in the same place of their trees, with the ranks of their first elements.
  private static func forEachChange(
    from old: Node<Payload>, _ rank: Int, to new: Node<Payload>, _ otherRank: Int, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    if old === new { return true }
    if old.isLeaf, new.isLeaf { return forEachLeafChange(from: old, rank, to: new, otherRank, body) }
    guard old.height == new.height, old.keys.sharesBuffers(with: new.keys) else {
      return walk(TreeCursor(old, rank: rank), TreeCursor(new, rank: otherRank), body)
    }
    // The nodes share their keys, so neither has gained or lost a child since they were one node, and each key belongs
    // to the same child in both.
    return old.withChildren { left in
      new.withChildren { right in
        var (rank, otherRank, passed) = (rank, otherRank, 0)
        for index in left.indices where left[index].toOpaque() != right[index].toOpaque() {
          // Both versions share the nodes between two changed children.
          for child in left[passed..<index] {
            let count = child._withUnsafeGuaranteedRef { $0.count }
            rank += count
            otherRank += count
          }
          passed = index + 1
          let isWhole = left[index]._withUnsafeGuaranteedRef { before in
            right[index]._withUnsafeGuaranteedRef { after in
              defer {
                rank += before.count
                otherRank += after.count
              }
              return forEachChange(from: before, rank, to: after, otherRank, body)
            }
          }
          if !isWhole { return false }
        }
        return true
      }
    }
  }

  private static func walk(
    _ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    var (before, after) = (before, after)
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

  /// As above, for two leaves that share most rows.
  ///
  private static func forEachLeafChange(
    from old: Node<Payload>, _ rank: Int, to new: Node<Payload>, _ otherRank: Int, _ body: (TreeChange<Payload>) -> Bool
  ) -> Bool {
    var (slot, otherSlot) = (0, 0)
    let (end, otherEnd) = (old.payloads.count, new.payloads.count)
    while true {
      let (same, isSameKey) = sameRun(old, slot, new, otherSlot)
      slot += same
      otherSlot += same
      let order: Int
      if isSameKey {
        order = 0
      } else if slot < end, otherSlot < otherEnd {
        order = old.keys.withKey(slot) { left in new.keys.withKey(otherSlot) { left.compare($0) } }
      } else if slot == end, otherSlot == otherEnd {
        return true
      } else {
        order = slot < end ? -1 : 1
      }
      let before = ElementReference(leaf: old, slot: slot, rank: rank + slot)
      let after = ElementReference(leaf: new, slot: otherSlot, rank: otherRank + otherSlot)
      if !body(order < 0 ? .removed(before) : order > 0 ? .inserted(after) : .changed(old: before, new: after)) {
        return false
      }
      if order <= 0 { slot += 1 }
      if order >= 0 { otherSlot += 1 }
    }
  }

  /// Skips elements from here on that are the same on both sides, whole shared nodes at a time where possible.
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

  /// The height of the largest shared node whose first element is the current one of both cursors.
  private static func sharedHeight(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int? {
    var height = min(before.startHeight, after.startHeight)
    while height >= 0 {
      if before.node(atHeight: height).toOpaque() == after.node(atHeight: height).toOpaque() { return height }
      height -= 1
    }
    return nil
  }

  /// The number of elements from here on that are the same in both current leaves. This is most of a leaf that was
  /// copied because one of its elements changed.
  private static func sameRun(_ before: TreeCursor<Payload>, _ after: TreeCursor<Payload>) -> Int {
    before.withLeaf { old in after.withLeaf { new in sameRun(old, before.slot, new, after.slot).count } }
  }

  /// - Returns: the number of equal elements, and whether the element after them has the same key on both sides but
  ///   another payload.
  private static func sameRun(
    _ old: Node<Payload>, _ slot: Int, _ new: Node<Payload>, _ otherSlot: Int
  ) -> (count: Int, isSameKey: Bool) {
    let equal = old.keys.equalRun(from: slot, new.keys, from: otherSlot)
    var run = 0
    old.payloads.withUnsafeBufferPointer { left in
      new.payloads.withUnsafeBufferPointer { right in
        while run < equal {
          // Payloads with the same bits are equal, and comparing bits counts no references.
          run += sameBits(left, slot + run, right, otherSlot + run, equal - run)
          if run == equal || !left[slot + run].isSame(as: right[otherSlot + run]) { return }
          run += 1
        }
      }
    }
    return (run, run < equal)
  }

  /// The number of payloads from a slot on that are bit by bit the same.
  private static func sameBits(
    _ left: UnsafeBufferPointer<Payload>, _ slot: Int, _ right: UnsafeBufferPointer<Payload>, _ otherSlot: Int,
    _ most: Int
  ) -> Int {
    let size = MemoryLayout<Payload>.stride
    let old = UnsafeRawPointer(left.baseAddress! + slot)
    let new = UnsafeRawPointer(right.baseAddress! + otherSlot)
    var offset = 0
    while offset < most * size,
      old.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        == new.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    {
      offset += 8
    }
    return offset / size
  }

  /// Compares the current keys: negative if the old side's element comes first. A side that has ended comes last.
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
