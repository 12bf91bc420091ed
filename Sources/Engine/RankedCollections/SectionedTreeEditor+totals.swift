package import Ground

// Totals are set apart from rows: a version keeps the totals of the version before until they are set. A new section
// has empty totals until they are set. A section that is removed and inserted again while units are looked up keeps its
// totals.
extension SectionedTreeEditor {
  /// Sets the totals of all rows.
  package mutating func setTotals(_ totals: [UInt8]) {
    tree.totals = totals
    goneTotals.removeAll()
  }

  /// Sets a section's totals; does nothing if there is no such section. O(log n).
  package mutating func setTotals(_ totals: [UInt8], ofSection key: Bytes) {
    // Unchanged totals are not set, so that nodes stay shared with earlier versions.
    guard let known = tree.sections.payload(of: key)?.totals, known != totals else { return }
    tree.sections.update(key) { $0.totals = totals }
  }
}
