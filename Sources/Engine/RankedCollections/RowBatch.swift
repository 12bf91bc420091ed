package import Ground

/// Changes of many rows, collected while the tree does not change and then made at once. A node that several of them
/// concern is copied, split and joined only once.
///
/// A batch belongs to one state of one editor, which must not change between the batch's first change and
/// `SectionedTreeEditor.apply`.
package struct RowBatch {
  /// One change in one section: a row is removed, inserted, or gets another stamp.
  struct Edit {
    var entry: Bytes
    /// The identity's hash; nil when only the row's stamp changes.
    var hash: UInt32?
    /// Nil if the row is removed.
    var stamp: RowStamp?
    /// The section's label according to this row; nil if it equals the section's present label.
    var label: Bytes?
  }

  /// The sort key of an edit: its section, then its entry, whose first eight bytes decide most comparisons.
  private struct Place {
    var section: Int32
    var edit: Int32
    var word: UInt64
  }

  /// Contains the keys, entries and labels of edits.
  private let arena = EntryArena()
  private var sections = IdentityNumbers()
  /// Keys of sections by the section's number.
  private var sectionKeys: [Bytes] = []
  private var labels: [Bytes?] = []
  private var edits: [Edit] = []
  private var places: [Place] = []

  /// Allocates memory for changes of about `count` rows.
  package init(reserving count: Int) {
    edits.reserveCapacity(count * 2)
    places.reserveCapacity(count * 2)
  }

  /// Records that the row with this identity is removed, if it exists.
  package mutating func remove(_ identity: Bytes, from editor: borrowing SectionedTreeEditor) {
    let hash = IdentityIndex.hash(identity)
    guard let (leaf, slot, section) = editor.index.find(identity, hash: hash) else { return }
    let number = section.bytes.withUnsafeBytes { self.section($0, editor) }
    leaf.keys.withKey(slot) { add(Edit(entry: arena.copy($0), hash: hash), to: number) }
  }

  /// Records what the row with the entry's identity is now, whether or not it existed. To be called once for each
  /// identity.
  ///
  /// Parameters as for `SectionedTreeEditor.insert`.
  package mutating func put(
    section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp, in editor: borrowing SectionedTreeEditor
  ) {
    let identity = RankedEntry.identity(of: entry)
    let hash = IdentityIndex.hash(identity)
    let number = self.section(section, editor)
    let isRelabelled = labels[number].map { !$0.equals(label) } ?? true
    var edit = Edit(entry: entry, hash: hash, stamp: stamp)
    if let (leaf, slot, old) = editor.index.find(identity, hash: hash) {
      let isSameSection = old.bytes.withUnsafeBytes { $0.equals(section) }
      if isSameSection, leaf.keys.withKey(slot, { $0.equals(entry) }) {
        if leaf.payloads[slot] == stamp {
          // The label of an unchanged row matters only if the row is its section's first. If other edits make it the
          // first, `relabel` notices.
          guard isRelabelled, editor.tree.sections.payload(of: section)?.rows.isFirst(entry) == true else { return }
        }
        edit.hash = nil
      } else {
        let oldNumber = isSameSection ? number : old.bytes.withUnsafeBytes { self.section($0, editor) }
        leaf.keys.withKey(slot) { add(Edit(entry: arena.copy($0), hash: hash), to: oldNumber) }
      }
    }
    edit.entry = arena.copy(entry)
    if isRelabelled { edit.label = arena.copy(label) }
    add(edit, to: number)
  }

  private mutating func add(_ edit: Edit, to section: Int) {
    places.append(Place(section: Int32(section), edit: Int32(edits.count), word: edit.entry.word(at: 0)))
    edits.append(edit)
  }

  /// The number of a section, which need not exist yet.
  private mutating func section(_ key: Bytes, _ editor: borrowing SectionedTreeEditor) -> Int {
    let (number, isNew) = sections.insert(key)
    if isNew {
      sectionKeys.append(arena.copy(key))
      labels.append(editor.tree.sections.payload(of: key).map { $0.label.withUnsafeBytes { arena.copy($0) } })
    }
    return number
  }

  /// Calls `body` with each section that has edits, and with its edits in the order of their entries.
  func forEachSection(_ body: (_ key: Bytes, _ edits: UnsafeBufferPointer<Edit>) -> Void) {
    var places = places
    places.sort { left, right in
      if left.section != right.section { return left.section < right.section }
      if left.word != right.word { return left.word < right.word }
      return edits[Int(left.edit)].entry.compare(edits[Int(right.edit)].entry) < 0
    }
    let sorted = places.map { edits[Int($0.edit)] }
    sorted.withUnsafeBufferPointer { sorted in
      var start = 0
      while start < places.count {
        var end = start + 1
        while end < places.count, places[end].section == places[start].section { end += 1 }
        body(sectionKeys[Int(places[start].section)], UnsafeBufferPointer(rebasing: sorted[start..<end]))
        start = end
      }
    }
    withExtendedLifetime(arena) {}
  }
}
