// Compares a whole table, which settles every doubt. It needs nothing but a snapshot, so it is always right, and it
// takes about as long as SQLite takes to step through the table. A doubt about one table has that table compared; a
// doubt about the WAL has all tables compared.
extension TableSummary {
  /// Reads the whole table anew and reports the rows that differ from what is remembered.
  ///
  /// - Parameter root: the root page now; nil if the table was dropped with all of its rows.
  /// - Throws: a doubt if the pages do not form a tree; the memory is unchanged then.
  /// - Complexity: O(bytes of the table).
  func compare<Source: PageSource>(
    root: UInt32?, _ source: Source, into delta: ChangedRows
  ) throws(Doubt) {
    if !isComplete {
      delta.isUnknown = true
      startOver(root: root)
      return
    }
    let fresh = TableSummary(root: root, layout, keepsRows: keepsRows, packer)
    _ = try fresh.readOn(source, limit: .max)
    if keepsRows {
      difference(to: fresh, source, into: delta)
    } else if !hasSamePages(as: fresh) {
      delta.isUnknown = true
    }
    take(fresh)
  }

  /// Whether all pages and overflow chains are equal. Chains are compared too, because a page's hash does not include
  /// them.
  private func hasSamePages(as other: TableSummary) -> Bool {
    nodes.count == other.nodes.count && chains.hasSameHashes(as: other.chains)
      && nodes.allSatisfy { page, node in other.nodes[page].map(node.hasSameRows) ?? false }
  }

  /// Adds the rows that differ. Skips unchanged pages.
  private func difference<Source: PageSource>(to fresh: TableSummary, _ source: Source, into delta: ChangedRows) {
    var difference = RowDifference(layout)
    var pages: [UInt32] = []
    for (page, node) in nodes {
      let now = fresh.nodes[page]
      if let now, now.hasSameRows(as: node) { continue }
      if let now { difference.addPage(node, now, pages.count) } else { difference.addBefore(node, pages.count) }
      pages.append(page)
    }
    for (page, node) in fresh.nodes where nodes[page] == nil {
      difference.addAfter(node, pages.count)
      pages.append(page)
    }
    var rows = RowComparison(layout, packer.hasher, chains, packer.imageBuffers, delta)
    _ = difference.finish(into: delta) { before, after in
      rows.describe(before, after, source) { pages[Int($0)] }
    }
  }
}
