import Ground

extension SectionedTreeEditor {
  /// Makes all changes of a batch.
  ///
  /// - Complexity: O(changes × log n) comparisons; a node that several changes concern is copied once.
  package mutating func apply(_ batch: RowBatch) {
    batch.forEachSection { key, edits in apply(edits, to: key) }
  }

  private mutating func apply(_ edits: UnsafeBufferPointer<RowBatch.Edit>, to key: Bytes) {
    index.currentSection = SectionKey(Array(key))
    if tree.sections.find(key) == nil { insertSection(key, RankedTree(), label: []) }
    let (isEmpty, label) = tree.sections.update(key) { section in
      let first = section.rows.firstEntry
      section.rows.apply(edits, observer: &index)
      return (section.rows.isEmpty, section.relabel(after: edits, firstBefore: first))
    }
    if isEmpty, tree.isSectioned {
      removeSection(Array(key))
    } else if label == .ofAnotherRow {
      staleSections.insert(Array(key))
    } else if label == .ofFirstRow, !staleSections.isEmpty {
      staleSections.remove(Array(key))
    }
  }
}

extension RankedTree<RowStamp> {
  fileprivate var firstEntry: [UInt8]? {
    isEmpty ? nil : element(atRank: 0).leaf.keys.withKey(0) { Array($0) }
  }

  /// Makes the edits of one section, in the order of their entries.
  fileprivate mutating func apply(_ edits: UnsafeBufferPointer<RowBatch.Edit>, observer: inout IdentityIndex) {
    var edits = edits[...]
    if root == nil {
      // In an empty section all edits insert rows.
      guard let edit = edits.popFirst(), let hash = edit.hash, let stamp = edit.stamp else { return }
      observer.pendingHash = hash
      insert(edit.entry, stamp, observer: &observer)
    }
    if edits.isEmpty { return }
    var parts = Node.apply(edits, to: &root!, observer: &observer)
    if !parts.isEmpty, root!.slots == 0 {
      observer.leafWasRemoved(root!.leafID)
      root = parts.removeFirst()
    }
    raise(parts)
    dropEmptyRoot(observer: &observer)
    dropIdleRoots()
  }

  /// Adds nodes that were split off the root, with new roots above them as needed.
  private mutating func raise(_ parts: [Node<RowStamp>]) {
    var parts = parts
    while !parts.isEmpty {
      var keys = PackedKeys()
      keys.append(Bytes(start: nil, count: 0))
      for part in parts { part.withLowerBound { keys.append($0) } }
      let top = Node(keys: keys, children: [root!] + parts)
      root = top
      parts = top.splitWhileOverfull()
    }
  }
}

extension Section {
  /// How edits leave the label of a section.
  fileprivate enum LabelOutcome {
    case asItWas
    case ofFirstRow
    /// The label is that of a row that is no longer the first, and the edits do not have the label of the new first
    /// row.
    case ofAnotherRow
  }

  /// Gives the section the label of its first row, if the edits have it.
  fileprivate mutating func relabel(
    after edits: UnsafeBufferPointer<RowBatch.Edit>, firstBefore: [UInt8]?
  ) -> LabelOutcome {
    guard let first = rows.firstEntry else { return .ofAnotherRow }
    let edit = first.withUnsafeBytes { first in
      edits.first { $0.stamp != nil }.flatMap { $0.entry.equals(first) ? $0 : nil }
    }
    if let edit {
      if let label = edit.label { self.label = Array(label) }
      return .ofFirstRow
    }
    return first == firstBefore ? .asItWas : .ofAnotherRow
  }
}
