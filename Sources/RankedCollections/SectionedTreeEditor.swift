/// Makes the next version of a result: the newest `SectionedTree`, and the index that finds its rows by identity.
///
/// Owner: one worker thread. Versions taken out (`tree`) are values and go anywhere.
package struct SectionedTreeEditor {
  /// The newest version.
  package private(set) var tree: SectionedTree
  private var index: IdentityIndex
  /// Sections whose first row has left: their labels belong to a row that is not there any more.
  private var staleSections: Set<[UInt8]> = []

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
    guard let (leaf, slot, section) = index.find(identity) else { return false }
    let entry = leaf.keys.withKey(slot) { Array($0) }
    index.remove(identity, leafID: leaf.leafID)
    index.currentSection = section
    section.bytes.withUnsafeBytes { key in
      let isEmpty = entry.withUnsafeBytes { entry in
        tree.sections.update(key) { payload in
          if payload.rows.isFirst(slot, of: leaf) { staleSections.insert(section.bytes) }
          payload.rows.remove(entry, observer: &index)
          return payload.rows.isEmpty
        }
      }
      if isEmpty, tree.isSectioned {
        var ignore = IgnoreLeaves<Section>()
        tree.sections.remove(key, observer: &ignore)
        staleSections.remove(section.bytes)
      }
    }
    return true
  }

  /// Puts a row in, or replaces the stamp of the row with the same entry. O(log n).
  ///
  /// - Parameters:
  ///   - section: the encoded section value.
  ///   - label: the section's label as this row has it; it becomes the section's when the row comes first.
  ///   - entry: a finished `RankedEntry`.
  /// - Returns: false, having changed nothing, when another row has the same identity.
  package mutating func insert(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) -> Bool {
    let identity = RankedEntry.identity(of: entry)
    if index.find(identity) != nil { return false }
    index.pendingHash = IdentityIndex.hash(identity)
    guard tree.sections.find(section) != nil else {
      index.currentSection = SectionKey(Array(section))
      var rows = RankedTree<RowStamp>()
      rows.insert(entry, stamp, observer: &index)
      var ignore = IgnoreLeaves<Section>()
      tree.sections.insert(section, Section(rows: rows, label: Array(label)), observer: &ignore)
      return true
    }
    tree.sections.update(section) { payload in
      index.currentSection = payload.rows.isEmpty ? SectionKey(Array(section)) : index.sectionKey(of: payload.rows)
      payload.rows.insert(entry, stamp, observer: &index)
      let isFirst = payload.rows.element(atRank: 0).leaf.keys.withKey(0) { $0.equals(entry) }
      if isFirst {
        payload.label = Array(label)
        staleSections.remove(index.currentSection.bytes)
      }
    }
    return true
  }

  /// Replaces a row in place when its section and entry stay as they are; the common case of a change of content.
  ///
  /// - Returns: false when there is no such row, and nothing was changed.
  package mutating func restamp(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) -> Bool {
    guard let (leaf, slot, key) = index.find(RankedEntry.identity(of: entry)),
      leaf.keys.withKey(slot, { $0.equals(entry) }), key.bytes.withUnsafeBytes({ $0.equals(section) })
    else { return false }
    let labelChanges =
      tree.sections.payload(of: section).map { payload in
        !payload.label.withUnsafeBytes { $0.equals(label) } && payload.rows.isFirst(slot, of: leaf)
      } ?? false
    if leaf.payloads[slot] == stamp && !labelChanges { return true }
    index.currentSection = key
    tree.sections.update(section) { payload in
      payload.rows.insert(entry, stamp, observer: &index)
      if labelChanges { payload.label = Array(label) }
    }
    return true
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
    precondition(index.count == tree.count, "the index has rows that the tree has not")
  }
}

extension IdentityIndex {
  /// Rows in the index.
  var count: Int { used }

  /// The section that the leaves of a non-empty tree belong to.
  func sectionKey(of rows: RankedTree<RowStamp>) -> SectionKey {
    guard let (_, section) = leaves[Int(rows.element(atRank: 0).leaf.leafID)] else {
      preconditionFailure("a leaf missing from the index")
    }
    return section
  }
}
