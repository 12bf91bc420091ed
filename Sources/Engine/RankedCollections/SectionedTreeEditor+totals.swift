package import Ground

// Totals are set apart from rows: a version's are those of all edits before it. A new section has none until they are
// set; a section that only went and came back while units were looked up keeps its totals.
extension SectionedTreeEditor {
  /// Sets the totals of all rows.
  package mutating func setTotals(_ totals: [UInt8]) {
    tree.totals = totals
    goneTotals.removeAll()
  }

  /// Sets a section's totals; nothing happens where there is no such section. O(log n).
  package mutating func setTotals(_ totals: [UInt8], ofSection key: Bytes) {
    // Unchanged totals stay shared with former versions.
    guard let known = tree.sections.payload(of: key)?.totals, known != totals else { return }
    tree.sections.update(key) { $0.totals = totals }
  }
}
