import Ground

extension Node<RowStamp> {
  typealias Edits = Slice<UnsafeBufferPointer<RowBatch.Edit>>

  /// Makes edits of rows below `node`, in the order of their entries. Afterwards `node` may be empty, or have a single
  /// child.
  ///
  /// - Returns: the nodes split off `node`, in order; they follow `node`.
  /// - Complexity: each node on the edits' paths is copied once at most; nodes not shared with another version are
  ///   changed in place.
  static func apply(_ edits: Edits, to node: inout Node, observer: inout IdentityIndex) -> [Node] {
    if !isKnownUniquelyReferenced(&node) {
      node = node.copy()
      if node.isLeaf { observer.leafWasReplaced(by: node) }
    }
    if node.isLeaf { return node.applyToLeaf(edits, observer: &observer) }
    var runs: [(index: Int, parts: [Node])] = []
    var rest = edits
    while let first = rest.first {
      let index = node.childIndex(for: first.entry)
      let run = node.run(of: rest, inChild: index)
      let before = (count: node.children[index].count, weight: node.children[index].weight)
      let parts = apply(run, to: &node.children[index], observer: &observer)
      node.count += node.children[index].count - before.count + parts.reduce(0) { $0 + $1.count }
      node.weight += node.children[index].weight - before.weight + parts.reduce(0) { $0 + $1.weight }
      runs.append((index, parts))
      rest = rest[run.endIndex...]
    }
    node.insertAndMend(runs, observer: &observer)
    return node.splitWhileOverfull()
  }

  /// Inserts nodes that were split off children after those children, and then drops or joins children that have become
  /// small.
  private func insertAndMend(_ runs: [(index: Int, parts: [Node])], observer: inout IdentityIndex) {
    // Goes from the last child to the first, so that the indexes of earlier children stay valid.
    var shift = 0
    for (index, parts) in runs.reversed() where !parts.isEmpty {
      for part in parts.reversed() {
        part.withLowerBound { keys.insert($0, at: index + 1) }
        children.insert(part, at: index + 1)
      }
      shift += parts.count
    }
    for (index, parts) in runs.reversed() {
      shift -= parts.count
      mendChild(at: index + shift, observer: &observer)
    }
  }

  /// The first of the edits, as many as concern rows of the child.
  private func run(of edits: Edits, inChild index: Int) -> Edits {
    if index + 1 == children.count { return edits }
    return keys.withKey(index + 1) { bound in edits.prefix { $0.entry.compare(bound) < 0 } }
  }

  /// Makes all edits of the leaf in one pass over its rows, and then splits the leaf if it is overfull.
  private func applyToLeaf(_ edits: Edits, observer: inout IdentityIndex) -> [Node] {
    var edited = EditedRows(of: self, edits)
    for edit in edits {
      let slot = keys.lowerBound(edit.entry)
      edited.takeOver(to: slot, of: self)
      if let stamp = edit.stamp { edited.append(edit.entry, stamp) }
      guard let hash = edit.hash, edit.stamp != nil else {
        // The row at the slot is deleted, or gets another stamp.
        edited.skip(slot)
        if let hash = edit.hash { observer.remove(hash: hash, leafID: leafID) }
        continue
      }
      observer.pendingHash = hash
      observer.elementWasInserted(into: self)
    }
    edited.takeOver(to: slots, of: self)
    (keys, payloads) = (edited.keys, edited.payloads)
    (count, weight) = (slots, slots)
    return splitLeafWhileOverfull(observer: &observer)
  }

  /// - Returns: the split nodes, in order.
  private func splitLeafWhileOverfull(observer: inout IdentityIndex) -> [Node] {
    guard isOverfullLeaf else { return [] }
    let right = splitLeaf(observer: &observer)
    let parts = splitLeafWhileOverfull(observer: &observer)
    return parts + [right] + right.splitLeafWhileOverfull(observer: &observer)
  }

  /// Splits an inner node.
  ///
  /// - Returns: the split nodes, in order.
  func splitWhileOverfull() -> [Node] {
    guard children.count > NodeLimits.inner else { return [] }
    let right = splitInner()
    let parts = splitWhileOverfull()
    return parts + [right] + right.splitWhileOverfull()
  }
}

/// Collects the rows of a leaf after its edits, which are made in order.
private struct EditedRows {
  private(set) var keys: PackedKeys
  private(set) var payloads: [RowStamp] = []
  /// The slot of the leaf's first row that was neither copied nor skipped yet.
  private var next = 0

  /// Starts without rows, with memory for all rows after the edits.
  init(of leaf: Node<RowStamp>, _ edits: Node<RowStamp>.Edits) {
    var (count, bytes) = (leaf.slots, leaf.keys.byteCount)
    for edit in edits where edit.hash != nil && edit.stamp != nil {
      count += 1
      bytes += edit.entry.count
    }
    keys = PackedKeys(reserving: count, bytes: bytes)
    payloads.reserveCapacity(count)
  }

  /// Copies the rows before slot `end` that were not copied or skipped yet.
  mutating func takeOver(to end: Int, of leaf: Node<RowStamp>) {
    guard end > next else { return }
    keys.append(leaf.keys, next..<end)
    leaf.payloads.withUnsafeBufferPointer { payloads.append(contentsOf: UnsafeBufferPointer(rebasing: $0[next..<end])) }
    next = end
  }

  mutating func append(_ entry: Bytes, _ stamp: RowStamp) {
    keys.append(entry)
    payloads.append(stamp)
  }

  mutating func skip(_ slot: Int) { next = slot + 1 }
}
