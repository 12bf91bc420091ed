package import Ground

/// Makes the next version of a result: the newest `SectionedTree`, and the index that finds its rows by identity.
///
/// Owner: one follower thread. Versions (`tree`) are values that any thread may use.
package struct SectionedTreeEditor {
  /// The newest version.
  package internal(set) var tree: SectionedTree
  var index: IdentityIndex
  /// Sections whose first row was removed, so that their labels may be out of date.
  var staleSections: Set<[UInt8]> = []
  /// The totals of removed sections, by key, since totals were set. A section that the same edits insert again gets
  /// them back.
  var goneTotals: [[UInt8]: [UInt8]] = [:]

  /// Creates an editor of an empty result.
  package init(onlySection: [UInt8]? = nil) {
    tree = SectionedTree(onlySection: onlySection)
    index = IdentityIndex(reserving: 0)
  }

  init(tree: SectionedTree, index: IdentityIndex) {
    self.tree = tree
    self.index = index
  }

  /// Removes the row with this identity. O(log n).
  ///
  /// - Returns: whether the row existed.
  @discardableResult
  package mutating func remove(_ identity: Bytes) -> Bool {
    let hash = IdentityIndex.hash(identity)
    guard let place = place(identity, hash) else { return false }
    remove(place, hash)
    return true
  }

  /// Inserts a row. O(log n).
  ///
  /// - Parameters:
  ///   - section: the encoded section value.
  ///   - label: the section's label according to this row, which the section gets if the row is its first.
  ///   - entry: a finished `RankedEntry`.
  /// - Returns: false, and nothing is changed, if a row with the same identity exists.
  package mutating func insert(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) -> Bool {
    let identity = RankedEntry.identity(of: entry)
    let hash = IdentityIndex.hash(identity)
    if index.find(identity, hash: hash) != nil { return false }
    insertNew(section, label, entry, stamp, hash)
    return true
  }

  /// Inserts the row, or moves the row with the same identity, or changes its stamp. O(log n).
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

  /// Looks up the row of the entry's identity and compares it with the entry, section, stamp and label.
  ///
  /// - Returns: nil if the row does not exist, or has another entry or section. `.some(nil)` if nothing differs.
  ///   Otherwise the row's slot in its leaf.
  private func slot(
    of entry: Bytes, _ section: Bytes, _ hash: UInt32, otherThan row: (stamp: RowStamp, label: Bytes)
  ) -> Int?? {
    guard let (leaf, slot, known) = index.find(RankedEntry.identity(of: entry), hash: hash),
      known.bytes.withUnsafeBytes({ $0.equals(section) }), leaf.keys.withKey(slot, { $0.equals(entry) })
    else { return nil }
    let isSame = leaf.payloads[slot] == row.stamp && !labels(entry, section, otherThan: row.label)
    return .some(isSame ? nil : slot)
  }

  /// The place of a row. It does not reference the leaf, because the leaf would look shared then and be copied by a
  /// change.
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

  /// - Parameter slot: the row's slot in its leaf.
  private mutating func restamp(_ entry: Bytes, _ slot: Int, _ section: Bytes, _ label: Bytes, _ stamp: RowStamp) {
    tree.sections.update(section) { payload in
      Node.restamp(entry, slot, stamp, in: &payload.rows.root!, observer: &index)
      if !payload.label.withUnsafeBytes({ $0.equals(label) }), payload.rows.isFirst(entry) {
        payload.label = Array(label)
      }
    }
  }

  /// Whether the row with this entry is the first of its section, and the section's label differs from `label`.
  private func labels(_ entry: Bytes, _ section: Bytes, otherThan label: Bytes) -> Bool {
    guard let (leaf, slot) = tree.sections.find(section) else { return false }
    if leaf.payloads[slot].label.withUnsafeBytes({ $0.equals(label) }) { return false }
    return leaf.payloads[slot].rows.isFirst(entry)
  }

  /// Updates the labels of sections whose first row was removed since the last call.
  ///
  /// - Parameter label: returns the label for the identity of a section's first row.
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

  /// Sets the label of a section, which is up to date then. O(log n).
  mutating func relabel(_ section: Bytes, _ label: [UInt8]) {
    staleSections.remove(Array(section))
    guard tree.sections.payload(of: section).map({ $0.label != label }) == true else { return }
    tree.sections.update(section) { $0.label = label }
  }

  /// Whether there is a row with this identity. O(1) expected.
  package func contains(_ identity: Bytes) -> Bool { index.find(identity) != nil }

  /// The position of the row with this identity, if it exists. O(log n).
  package func position(of identity: Bytes) -> (section: Int, item: Int, offset: Int)? {
    guard let (leaf, slot, section) = index.find(identity) else { return nil }
    return section.bytes.withUnsafeBytes { key in
      leaf.keys.withKey(slot) { tree.position(ofEntry: $0, section: key) }
    }
  }

  /// Traps if the tree and the index disagree. O(n).
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
