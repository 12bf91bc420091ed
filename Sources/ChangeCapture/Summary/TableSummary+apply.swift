// The changed part of a tree.
extension TableSummary {
  /// Brings what is remembered from the state before to the one that the source shows, and tells which rows differ.
  ///
  /// - Parameter changed: all pages that may differ between the two, ascending.
  /// - Throws: a doubt; then nothing has changed here.
  /// - Complexity: O(rows of the tree's changed pages × log of that).
  func apply<Source: PageSource>(
    _ changed: [UInt32], _ source: Source, into delta: inout TableDelta
  ) throws(Doubt) {
    let dirty = dirtyPages(changed)
    if dirty.isEmpty {
      // The root is a page of the tree at any time, so a tree without changed pages is the same. Of one that is not read
      // whole, not all pages are known.
      if !isComplete, !changed.isEmpty { delta.isUnknown = true }
      return
    }
    if !isComplete { delta.isUnknown = true }
    if try applyToLeaves(dirty, changed, source, into: &delta) { return }
    try applyToTree(dirty, changed, source, into: &delta)
  }

  /// The common case: only leaves changed, so the tree has the shape that it had.
  ///
  /// - Returns: false when it is another case; then nothing has changed here.
  private func applyToLeaves<Source: PageSource>(
    _ dirty: [UInt32], _ changed: [UInt32], _ source: Source, into delta: inout TableDelta
  ) throws(Doubt) -> Bool {
    for page in dirty where nodes[page]?.kind != .leaf { return false }
    var reading = reading(changed)
    var fresh: [SummaryNode] = []
    fresh.reserveCapacity(dirty.count)
    for page in dirty {
      let node = try packer.node(page, parent: nodes[page]!.parent, source, &reading)
      if node.kind != .leaf { return false }
      fresh.append(node)
    }
    let stale = dirty.map { nodes[$0]! }
    if isComplete { try compareLeaves(dirty, stale, fresh, changed, source, into: &delta) }
    for node in stale { chains.remove(node.chains) }
    chains.add(reading.chains)
    for (index, page) in dirty.enumerated() { set(fresh[index], page) }
    return true
  }

  private func compareLeaves<Source: PageSource>(
    _ pages: [UInt32], _ stale: [SummaryNode], _ fresh: [SummaryNode], _ changed: [UInt32], _ source: Source,
    into delta: inout TableDelta
  ) throws(Doubt) {
    var columns = ChangedColumns(layout, packer.hasher, chains, packer.imageBuffers)
    if keepsRows, !layout.isWithoutRowid {
      for (index, page) in pages.enumerated() {
        RowDifference.compareLeaf(stale[index], fresh[index], index, layout, into: &delta) { before, after in
          columns.changed(before, after, page, source)
        }
      }
      return
    }
    var difference = RowDifference(layout)
    var held: [SummaryNode] = []
    for (index, page) in pages.enumerated() {
      guard let before = former(page, stale[index], changed, source) else {
        delta.isUnknown = true
        return
      }
      let after = try current(page, fresh[index], changed, source)
      held += [before, after]
      difference.addBefore(before, index)
      difference.addAfter(after, index)
    }
    withExtendedLifetime(held) {
      _ = difference.finish(into: &delta) { before, after in
        // A row that is on another page now is rare: all of its columns count.
        before.node == after.node ? columns.changed(before, after, pages[Int(after.node)], source) : -1
      }
    }
  }
}
