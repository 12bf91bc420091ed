extension Node<RowStamp> {
  typealias Edits = Slice<UnsafeBufferPointer<RowBatch.Edit>>

  /// Makes edits of rows below `node`, in the order of their entries; `node` may be left empty, or with a single child.
  ///
  /// - Returns: what was split off behind `node`, in order.
  /// - Complexity: each node on the edits' paths is copied once at most; those not shared with another version are changed in
  ///   place.
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

  /// Puts what was split off children behind them, and then drops or joins those of them that have become small.
  private func insertAndMend(_ runs: [(index: Int, parts: [Node])], observer: inout IdentityIndex) {
    // From the last on, so that indexes before stay.
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

  /// The edits, of those that begin in a child, that end there.
  private func run(of edits: Edits, inChild index: Int) -> Edits {
    if index + 1 == children.count { return edits }
    return keys.withKey(index + 1) { bound in edits.prefix { $0.entry.compare(bound) < 0 } }
  }

  /// Splits the leaf as soon as it is overfull, and goes on in the half that the next edit belongs into.
  private func applyToLeaf(_ edits: Edits, observer: inout IdentityIndex) -> [Node] {
    var parts: [Node] = []
    var next = 0
    var leaf = self
    for edit in edits {
      while next < parts.count, parts[next].keys.withKey(0, { $0.compare(edit.entry) <= 0 }) {
        leaf = parts[next]
        next += 1
      }
      leaf.applyToLeaf(edit, observer: &observer)
      if leaf.isOverfullLeaf { parts.insert(leaf.splitLeaf(observer: &observer), at: next) }
    }
    for part in parts where part.slots == 0 { observer.leafWasRemoved(part.leafID) }
    parts.removeAll { $0.slots == 0 }
    return parts
  }

  private func applyToLeaf(_ edit: RowBatch.Edit, observer: inout IdentityIndex) {
    let slot = keys.lowerBound(edit.entry)
    guard let hash = edit.hash else {
      if let stamp = edit.stamp { payloads[slot] = stamp }
      return
    }
    if let stamp = edit.stamp {
      keys.insert(edit.entry, at: slot)
      payloads.insert(stamp, at: slot)
      count += 1
      weight += 1
      observer.pendingHash = hash
      observer.elementWasInserted(into: self)
    } else {
      observer.remove(hash: hash, leafID: leafID)
      keys.remove(at: slot)
      payloads.remove(at: slot)
      count -= 1
      weight -= 1
    }
  }

  /// Splits an inner node.
  ///
  /// - Returns: what was split off, in order.
  func splitWhileOverfull() -> [Node] {
    guard children.count > NodeLimits.inner else { return [] }
    let right = splitInner()
    let parts = splitWhileOverfull()
    return parts + [right] + right.splitWhileOverfull()
  }
}
