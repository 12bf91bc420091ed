package import Ground

/// Makes the next version of a result: the newest `SectionedTree`, and the index that finds its rows by identity.
///
/// Owner: one follower thread. Versions taken out (`tree`) are values and go anywhere.
package struct SectionedTreeEditor {
  /// The newest version.
  package internal(set) var tree: SectionedTree
  var index: IdentityIndex
  /// Sections whose first row has left: their labels belong to a row that is not there any more.
  var staleSections: Set<[UInt8]> = []
  /// By key, the totals of sections that have gone since totals were set: one that comes back in the same edit has them
  /// again.
  var goneTotals: [[UInt8]: [UInt8]] = [:]

  /// Stands at an empty result.
  package init(onlySection: [UInt8]? = nil) {
    tree = SectionedTree(onlySection: onlySection)
    index = IdentityIndex(reserving: 0)
  }

  init(tree: SectionedTree, index: IdentityIndex) {
    self.tree = tree
    self.index = index
  }

  /// Takes out the row with this identity. O(log n).
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package mutating func remove(_ identity: Bytes) -> Bool {
    let hash = IdentityIndex.hash(identity)
    guard let place = place(identity, hash) else { return false }
    remove(place, hash)
    return true
  }

  /// Puts a row in. O(log n).
  ///
  /// - Parameters:
  ///   - section: the encoded section value.
  ///   - label: the section's label as this row has it; it becomes the section's when the row comes first.
  ///   - entry: a finished `RankedEntry`.
  /// - Returns: false, having changed nothing, when there is a row of the same identity.
  package mutating func insert(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) -> Bool {
    let identity = RankedEntry.identity(of: entry)
    let hash = IdentityIndex.hash(identity)
    if index.find(identity, hash: hash) != nil { return false }
    insertNew(section, label, entry, stamp, hash)
    return true
  }

  /// Makes the row of the entry's identity what it is now: puts it in, moves it, or changes its stamp. O(log n).
  ///
  /// Parameters as for `insert`.
  package mutating func put(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) {
    let identity = RankedEntry.identity(of: entry)
    let hash = IdentityIndex.hash(identity)
    if let slot = slot(of: entry, section, hash, otherThan: (stamp, label)) {
      if let slot { restamp(entry, slot, section, label, stamp) }
      return
    }
    if let place = place(identity, hash) { remove(place, hash) }
    insertNew(section, label, entry, stamp, hash)
  }

  /// Where a row stands in its leaf, if it has the same entry in the same section already.
  ///
  /// - Returns: nil: it is elsewhere, or new. Nil within: it is there, and does not differ.
  private func slot(
    of entry: Bytes, _ section: Bytes, _ hash: UInt32, otherThan row: (stamp: RowStamp, label: Bytes)
  ) -> Int?? {
    guard let (leaf, slot, known) = index.find(RankedEntry.identity(of: entry), hash: hash),
      known.bytes.withUnsafeBytes({ $0.equals(section) }), leaf.keys.withKey(slot, { $0.equals(entry) })
    else { return nil }
    let isSame = leaf.payloads[slot] == row.stamp && !labels(entry, section, otherThan: row.label)
    return .some(isSame ? nil : slot)
  }

  /// Where a row stands. It has no reference to the leaf, which would make that look shared when it is changed.
  private struct Place {
    let entry: [UInt8]
    let leafID: UInt32
    let section: SectionKey
  }

  private func place(_ identity: Bytes, _ hash: UInt32) -> Place? {
    guard let (leaf, slot, section) = index.find(identity, hash: hash) else { return nil }
    return Place(entry: leaf.keys.withKey(slot) { Array($0) }, leafID: leaf.leafID, section: section)
  }

  private mutating func remove(_ place: Place, _ hash: UInt32) {
    index.remove(hash: hash, leafID: place.leafID)
    place.section.bytes.withUnsafeBytes { key in
      let (wasFirst, isEmpty) = place.entry.withUnsafeBytes { entry in
        tree.sections.update(key) { payload in
          (payload.rows.remove(entry, observer: &index), payload.rows.isEmpty)
        }
      }
      if isEmpty, tree.isSectioned {
        removeSection(place.section.bytes)
      } else if wasFirst {
        staleSections.insert(place.section.bytes)
      }
    }
  }

  private mutating func insertNew(
    _ section: Bytes, _ label: Bytes, _ entry: Bytes, _ stamp: RowStamp, _ hash: UInt32
  ) {
    index.pendingHash = hash
    guard tree.sections.find(section) != nil else {
      index.currentSection = SectionKey(Array(section))
      var rows = RankedTree<RowStamp>()
      rows.insert(entry, stamp, observer: &index)
      insertSection(section, rows, label: Array(label))
      return
    }
    let isFirst = tree.sections.update(section) { payload in
      if payload.rows.isEmpty { index.currentSection = SectionKey(Array(section)) }
      let isFirst = payload.rows.insert(entry, stamp, observer: &index)
      if isFirst { payload.label = Array(label) }
      return isFirst
    }
    if isFirst, !staleSections.isEmpty { staleSections.remove(Array(section)) }
  }

  mutating func insertSection(_ key: Bytes, _ rows: RankedTree<RowStamp>, label: [UInt8]) {
    let totals = goneTotals.isEmpty ? [] : goneTotals.removeValue(forKey: Array(key)) ?? []
    var ignore = IgnoreLeaves<Section>()
    tree.sections.insert(key, Section(rows: rows, label: label, totals: totals), observer: &ignore)
  }

  mutating func removeSection(_ key: [UInt8]) {
    key.withUnsafeBytes { bytes in
      if let totals = tree.sections.payload(of: bytes)?.totals, !totals.isEmpty { goneTotals[key] = totals }
      var ignore = IgnoreLeaves<Section>()
      tree.sections.remove(bytes, observer: &ignore)
    }
    staleSections.remove(key)
  }

  /// - Parameter slot: of the row in its leaf.
  private mutating func restamp(_ entry: Bytes, _ slot: Int, _ section: Bytes, _ label: Bytes, _ stamp: RowStamp) {
    tree.sections.update(section) { payload in
      Node.restamp(entry, slot, stamp, in: &payload.rows.root!, observer: &index)
      if !payload.label.withUnsafeBytes({ $0.equals(label) }), payload.rows.isFirst(entry) {
        payload.label = Array(label)
      }
    }
  }

  /// Whether a row is the first of its section, whose label is another than its own.
  private func labels(_ entry: Bytes, _ section: Bytes, otherThan label: Bytes) -> Bool {
    guard let (leaf, slot) = tree.sections.find(section) else { return false }
    if leaf.payloads[slot].label.withUnsafeBytes({ $0.equals(label) }) { return false }
    return leaf.payloads[slot].rows.isFirst(entry)
  }

  /// Asks for the labels of sections whose first row has changed since the last call.
  ///
  /// - Parameter label: given the identity of a section's first row, its label.
  package mutating func refreshLabels(_ label: (Bytes) throws -> [UInt8]) rethrows {
    let stale = staleSections
    staleSections.removeAll()
    for section in stale {
      try section.withUnsafeBytes { key in
        guard let rows = tree.sections.payload(of: key)?.rows, !rows.isEmpty else { return }
        let fresh = try rows.element(atRank: 0).leaf.withIdentity(0) { try label($0) }
        tree.sections.update(key) { $0.label = fresh }
      }
    }
  }

  /// Gives a section its label, once and for all edits so far. O(log n).
  mutating func relabel(_ section: Bytes, _ label: [UInt8]) {
    staleSections.remove(Array(section))
    guard tree.sections.payload(of: section).map({ $0.label != label }) == true else { return }
    tree.sections.update(section) { $0.label = label }
  }

  /// Whether there is a row with this identity. O(1) expected.
  package func contains(_ identity: Bytes) -> Bool { index.find(identity) != nil }

  /// Where the row with this identity stands, if there is one. O(log n).
  package func position(of identity: Bytes) -> (section: Int, item: Int, offset: Int)? {
    guard let (leaf, slot, section) = index.find(identity) else { return nil }
    return section.bytes.withUnsafeBytes { key in
      leaf.keys.withKey(slot) { tree.position(ofEntry: $0, section: key) }
    }
  }

  /// Traps when tree and index disagree. O(n).
  package func checkInvariants() {
    tree.checkInvariants()
    tree.forEachRow(in: 0..<tree.count) { row in
      row.withIdentity { identity in
        guard let found = index.find(identity) else { preconditionFailure("a row missing from the index") }
        precondition(found.leaf === row.leaf && found.slot == row.slot, "the index names another row")
      }
    }
    precondition(index.used == tree.count, "the index has rows that the tree has not")
  }
}
