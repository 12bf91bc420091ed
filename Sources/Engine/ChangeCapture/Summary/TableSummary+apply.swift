// Applies changed pages to the memory of a tree.
extension TableSummary {
  /// Advances the memory to the state that the source shows, and reports the rows that differ.
  ///
  /// - Parameter changed: all pages that may differ between the two states, ascending.
  /// - Throws: a doubt; the memory is unchanged then.
  /// - Complexity: O(r log r) for r rows on the tree's changed pages.
  func apply<Source: PageSource>(
    _ changed: [UInt32], _ source: Source, into delta: ChangedRows
  ) throws(Doubt) {
    let dirty = dirtyPages(changed)
    if dirty.isEmpty {
      // Every state of the tree has the same root page, so a tree without changed pages is unchanged, unless some of
      // its pages are unknown.
      if !isComplete, !changed.isEmpty { delta.isUnknown = true }
      return
    }
    if !isComplete { delta.isUnknown = true }
    if try applyToLeaves(dirty, changed, source, into: delta) { return }
    try applyToTree(dirty, changed, source, into: delta)
  }

  /// Handles the common case that only leaves changed, so that the shape of the tree is unchanged.
  ///
  /// - Returns: false in any other case; the memory is unchanged then.
  private func applyToLeaves<Source: PageSource>(
    _ dirty: [UInt32], _ changed: [UInt32], _ source: Source, into delta: ChangedRows
  ) throws(Doubt) -> Bool {
    for page in dirty where nodes[page]?.kind != .leaf { return false }
    var reading = reading(changed)
    var leaves: [ChangedLeaf] = []
    leaves.reserveCapacity(dirty.count)
    for page in dirty {
      guard let stale = nodes[page] else { return false }
      let fresh = try packer.node(page, parent: stale.parent, source, &reading)
      if fresh.kind != .leaf { return false }
      leaves.append(ChangedLeaf(page: page, stale: stale, fresh: fresh))
    }
    if isComplete { try compare(leaves, changed, source, into: delta) }
    if !chains.isEmpty { for leaf in leaves { chains.remove(leaf.stale.chains) } }
    if !reading.chains.isEmpty { chains.add(reading.chains) }
    for leaf in leaves { set(leaf.fresh, leaf.page) }
    return true
  }

  /// The former and the present memory of a leaf.
  private struct ChangedLeaf {
    let page: UInt32
    let stale: SummaryNode
    let fresh: SummaryNode
  }

  private func compare<Source: PageSource>(
    _ leaves: [ChangedLeaf], _ changed: [UInt32], _ source: Source, into delta: ChangedRows
  ) throws(Doubt) {
    var rows = RowComparison(layout, packer.hasher, chains, packer.imageBuffers, delta)
    if keepsRows, !layout.isWithoutRowid {
      for (index, leaf) in leaves.enumerated() {
        RowDifference.compareLeaf(leaf.stale, leaf.fresh, index, layout, into: delta) { before, after in
          rows.describe(before, after, source) { _ in leaf.page }
        }
      }
      return
    }
    var difference = RowDifference(layout)
    var held: [SummaryNode] = []
    for (index, leaf) in leaves.enumerated() {
      guard let before = former(leaf.page, leaf.stale, changed, source) else {
        delta.isUnknown = true
        return
      }
      let after = try current(leaf.page, leaf.fresh, changed, source)
      held += [before, after]
      difference.addBefore(before, index)
      difference.addAfter(after, index)
    }
    withExtendedLifetime(held) {
      _ = difference.finish(into: delta) { before, after in
        rows.describe(before, after, source) { leaves[Int($0)].page }
      }
    }
  }
}
