package import Ground

/// One version of a sectioned result: sections in order, each with its rows in order.
///
/// A persistent tree of persistent trees. It is a value: copying it is O(1), and versions that grew from each other
/// share all nodes that do not differ. Positions are counted by section and item, or by offset over all sections.
///
/// A section exists while it has a row, but the result of a query without sections is always one section, even if it
/// has no rows. The whole result is kept, also rows beyond a query's `limit`, so rows that move up are there already;
/// the limited result is a prefix that shares all but O(log n) nodes.
package struct SectionedTree {
  var sections = RankedTree<Section>()
  /// Whether sections appear and disappear with their rows.
  let isSectioned: Bool
  /// Encoded totals of all rows, which this module does not interpret.
  package internal(set) var totals: [UInt8] = []

  /// An empty result.
  ///
  /// - Parameter onlySection: the label of the one section that a result without sections has.
  package init(onlySection: [UInt8]? = nil) {
    isSectioned = onlySection == nil
    guard let onlySection else { return }
    var ignore = IgnoreLeaves<Section>()
    sections.insert(Bytes(start: nil, count: 0), Section(rows: RankedTree(), label: onlySection), observer: &ignore)
  }

  /// The number of rows in all sections. O(1).
  package var count: Int { sections.weight }
  package var sectionCount: Int { sections.count }

  /// A row with its place.
  package struct Row {
    package var section: Int
    package var item: Int
    var leaf: Node<RowStamp>
    var slot: Int

    package var stamp: RowStamp { leaf.payloads[slot] }
    package func withEntry<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result {
      try leaf.keys.withKey(slot, body)
    }
    package func withIdentity<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result {
      try leaf.withIdentity(slot, body)
    }

    package func hasSameIdentity(as other: Row) -> Bool {
      leaf.withIdentity(slot) { left in other.leaf.withIdentity(other.slot) { left.equals($0) } }
    }
  }

  /// A section's label, the number of its rows, and the offset of its first row. O(log n).
  package func section(at index: Int) -> (label: [UInt8], count: Int, offset: Int) {
    let (leaf, slot, offset) = sections.element(atRank: index)
    return (leaf.payloads[slot].label, leaf.payloads[slot].rows.count, offset)
  }

  /// A section's totals. O(log n).
  package func totals(ofSection index: Int) -> [UInt8] {
    let (leaf, slot, _) = sections.element(atRank: index)
    return leaf.payloads[slot].totals
  }

  /// Calls `body` with each section's label and count, in order. O(sections).
  package func forEachSection(_ body: (_ label: [UInt8], _ count: Int) -> Void) {
    forEachSection { label, _, count in body(label, count) }
  }

  /// As above, but also with each section's totals.
  package func forEachSection(_ body: (_ label: [UInt8], _ totals: [UInt8], _ count: Int) -> Void) {
    var cursor = TreeCursor(sections)
    while !cursor.isAtEnd {
      let section = cursor.leaf.payloads[cursor.slot]
      body(section.label, section.totals, section.rows.count)
      cursor.advance()
    }
  }

  /// The row at `offset`. O(log n).
  package func row(atOffset offset: Int) -> Row {
    let (leaf, slot, section, item) = sections.element(atOffset: offset)
    let row = leaf.payloads[slot].rows.element(atRank: item)
    return Row(section: section, item: item, leaf: row.leaf, slot: row.slot)
  }

  /// The offset of a row given by section and item. O(log n).
  package func offset(section: Int, item: Int) -> Int { sections.element(atRank: section).offset + item }

  /// Calls `body` with each row in the part of a range of offsets that the result has. O(log n + rows).
  package func forEachRow(in offsets: Range<Int>, _ body: (Row) throws -> Void) rethrows {
    var offset = max(0, offsets.lowerBound)
    let end = min(count, offsets.upperBound)
    while offset < end {
      let row = row(atOffset: offset)
      // The following rows of the leaf are read without descending again.
      for slot in row.leaf.payloads.indices.dropFirst(row.slot).prefix(end - offset) {
        try body(Row(section: row.section, item: row.item + slot - row.slot, leaf: row.leaf, slot: slot))
        offset += 1
      }
    }
  }

  /// The position of the row with this entry in the section with this key; nil if there is no such row. O(log n).
  package func position(ofEntry entry: Bytes, section: Bytes) -> (section: Int, item: Int, offset: Int)? {
    guard let place = sections.position(of: section), let rows = sections.payload(of: section)?.rows,
      let item = rows.position(of: entry)?.rank
    else { return nil }
    return (place.rank, item, place.offset + item)
  }

  /// A result of only the rows at these offsets, which shares all but O(log n) nodes with this version.
  package func rows(at offsets: Range<Int>) -> SectionedTree {
    prefix(offsets.upperBound).dropping(offsets.lowerBound)
  }

  private func dropping(_ count: Int) -> SectionedTree {
    if count == 0 { return self }
    guard count < self.count else { return prefix(0) }
    let first = sections.element(atOffset: count)
    let key = first.leaf.keys.withKey(first.slot) { Array($0) }
    var result = self
    result.sections = sections.dropping(first.rank)
    key.withUnsafeBytes { key in
      result.sections.update(key) { $0.rows = $0.rows.dropping(first.rest) }
    }
    return result
  }

  private func prefix(_ limit: Int) -> SectionedTree {
    guard limit < count else { return self }
    var result = self
    if limit == 0, isSectioned {
      result.sections = RankedTree()
      return result
    }
    let last = sections.element(atOffset: max(0, limit - 1))
    result.sections = sections.prefix(last.rank + 1)
    let key = last.leaf.keys.withKey(last.slot) { Array($0) }
    key.withUnsafeBytes { key in
      result.sections.update(key) { $0.rows = $0.rows.prefix(min(limit, last.rest + 1)) }
    }
    return result
  }

  /// Whether two versions are the same object, so that nothing was changed between them. O(1).
  package func isIdentical(to other: SectionedTree) -> Bool {
    sections.root === other.sections.root && totals == other.totals
  }

  /// Traps with a message if the tree is not well-formed. O(n).
  package func checkInvariants() {
    sections.checkInvariants()
    var cursor = TreeCursor(sections)
    while !cursor.isAtEnd {
      let rows = cursor.leaf.payloads[cursor.slot].rows
      precondition(!rows.isEmpty || !isSectioned, "a section without rows")
      rows.checkInvariants()
      cursor.advance()
    }
  }
}
