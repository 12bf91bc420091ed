// Follows changes of a tree's shape: pages that were split, merged, balanced or freed.
extension TableSummary {
  /// The result of a walk down the changed part of a tree. The walk does not change the memory.
  private struct Walk {
    let dirty: [UInt32]
    /// Changed pages and all pages above them, in the former tree.
    var path: Set<UInt32> = []
    var childrenOnPath: [UInt32: [UInt32]] = [:]
    /// Pages that are children of some page that was read in the present tree.
    var claimed: Set<UInt32> = []
    var visited: Set<UInt32> = []
    var fresh: [(page: UInt32, node: SummaryNode)] = []
    var parents: [UInt32: UInt32] = [:]
    /// Added pages that are not read yet, in a tree that was not read whole.
    var unread: [UInt32] = []
    var removed: Set<UInt32> = []
  }

  /// More levels than any tree has.
  private static let maximumDepth = 64

  func applyToTree<Source: PageSource>(
    _ dirty: [UInt32], _ changed: [UInt32], _ source: Source, into delta: ChangedRows
  ) throws(Doubt) {
    var reading = reading(changed)
    var walk = Walk(dirty: dirty.filter { nodes[$0]?.kind != .unread })
    try findPaths(&walk)
    try descend(&walk, source, &reading)
    try findRemoved(&walk)
    try check(walk)
    if isComplete { try compare(walk, changed, source, into: delta) }
    commit(walk, reading.chains)
  }

  /// Finds the path from the root to each changed page.
  private func findPaths(_ walk: inout Walk) throws(Doubt) {
    for page in walk.dirty {
      var current = page
      while walk.path.insert(current).inserted, current != root {
        guard let parent = nodes[current]?.parent, nodes[parent] != nil else { throw Doubt(.tree) }
        walk.childrenOnPath[parent, default: []].append(current)
        current = parent
      }
    }
  }

  /// Walks down from the root to everything that changed.
  private func descend<Source: PageSource>(
    _ walk: inout Walk, _ source: Source, _ reading: inout RowPacker.Reading
  ) throws(Doubt) {
    walk.claimed.insert(root)
    guard walk.path.contains(root) else { return }
    var stack: [(page: UInt32, depth: Int)] = [(root, 0)]
    while let (page, depth) = stack.popLast() {
      if depth > Self.maximumDepth || !walk.visited.insert(page).inserted { throw Doubt(.tree) }
      let known = nodes[page]
      if let known, !walk.dirty.containsSorted(page) {
        if known.kind == .unread { continue }
        // The first child is pushed last, so that pages are read in the order of their rows, which then need no
        // sorting.
        for child in (walk.childrenOnPath[page] ?? []).reversed() { stack.append((child, depth + 1)) }
        continue
      }
      // The page keeps its former parent, unless a changed page claims it as a child.
      let node = try packer.node(page, parent: known?.parent ?? 0, source, &reading)
      walk.fresh.append((page, node))
      let top = stack.count
      for child in node.children {
        if !walk.claimed.insert(child).inserted { throw Doubt(.tree) }
        walk.parents[child] = page
        if nodes[child] == nil, !isComplete {
          walk.unread.append(child)
        } else if nodes[child] == nil || walk.path.contains(child) {
          stack.append((child, depth + 1))
        }
      }
      stack[top...].reverse()
    }
  }

  /// Finds former children of changed pages that no page claims any more, and everything below them.
  private func findRemoved(_ walk: inout Walk) throws(Doubt) {
    var left: [UInt32] = []
    for page in walk.dirty {
      for child in nodes[page]?.children ?? [] where !walk.claimed.contains(child) { left.append(child) }
    }
    while let page = left.popLast() {
      if !walk.removed.insert(page).inserted { continue }
      guard let node = nodes[page] else { throw Doubt(.tree) }
      for child in node.children where !walk.claimed.contains(child) { left.append(child) }
    }
  }

  /// Throws a doubt unless the walked pages form a tree.
  private func check(_ walk: Walk) throws(Doubt) {
    let dirty = Set(walk.dirty)
    for page in walk.dirty where !walk.visited.contains(page) && !walk.removed.contains(page) { throw Doubt(.tree) }
    for page in walk.removed where walk.visited.contains(page) { throw Doubt(.tree) }
    for page in walk.claimed where page != root {
      guard let parent = nodes[page]?.parent else { continue }
      if !dirty.contains(parent), !walk.removed.contains(parent) { throw Doubt(.tree) }
    }
    for child in walk.parents.keys where !walk.visited.contains(child) {
      if nodes[child] == nil, walk.unread.contains(child) { continue }
      if nodes[child] == nil || walk.removed.contains(child) { throw Doubt(.tree) }
      if dirty.contains(child) { throw Doubt(.tree) }
    }
  }

  /// Compares the rows of all pages that were changed, added or removed. Rows that merely moved are on both sides.
  private func compare<Source: PageSource>(
    _ walk: Walk, _ changed: [UInt32], _ source: Source, into delta: ChangedRows
  ) throws(Doubt) {
    var difference = RowDifference(layout)
    var held: [SummaryNode] = []
    let gone = walk.removed.subtracting(walk.dirty)
    var stale: [UInt32: SummaryNode] = [:]
    for page in walk.dirty + gone {
      guard let node = nodes[page], let before = former(page, node, changed, source) else {
        delta.isUnknown = true
        return
      }
      held.append(before)
      stale[page] = before
    }
    for (index, (page, node)) in walk.fresh.enumerated() {
      let after = try current(page, node, changed, source)
      held.append(after)
      if let before = stale.removeValue(forKey: page) {
        difference.addPage(before, after, index)
      } else {
        difference.addAfter(after, index)
      }
    }
    var pages = walk.fresh.map(\.page)
    for (page, before) in stale {
      difference.addBefore(before, pages.count)
      pages.append(page)
    }
    var rows = RowComparison(layout, packer.hasher, chains, packer.imageBuffers, delta)
    withExtendedLifetime(held) {
      _ = difference.finish(into: delta) { before, after in
        rows.describe(before, after, source) { pages[Int($0)] }
      }
    }
  }

  /// Makes the changes that the walk found. Nothing here can fail.
  private func commit(_ walk: Walk, _ added: [UInt32: OverflowChain]) {
    for page in walk.removed.union(walk.dirty) {
      if let node = remove(page) { chains.remove(node.chains) }
    }
    chains.add(added)
    for (page, node) in walk.fresh { set(node, page) }
    for page in walk.unread { addUnread(page, parent: walk.parents[page] ?? root) }
    for (child, parent) in walk.parents { nodes[child]?.parent = parent }
  }
}
