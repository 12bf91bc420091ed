/// Builds a version from rows in any order: packs them into one arena, sorts, and fills the trees leaf by leaf.
///
/// Sorting here, on packed keys, is faster than asking SQLite for the order, and free where the rows come sorted.
package struct SectionedTreeBuilder {
  /// A row in the arena. `prefix` and `next` are the entry's first sixteen bytes, which settle most comparisons.
  struct Record {
    var prefix: UInt64
    var next: UInt64
    var start: Int
    var length: Int32
    /// Counts the rows as they came.
    var number: Int32
    var stamp: RowStamp

    @inline(__always)
    func bytes(_ arena: Bytes) -> Bytes { Bytes(rebasing: arena[start..<start + Int(length)]) }
  }

  struct Draft {
    var key: [UInt8]
    var label: [UInt8]
    /// Range in the arena of the least entry so far, whose label the section has.
    var first: Range<Int>
    var records: [Record] = []
  }

  /// Two rows had one identity: given here.
  package struct DuplicateIdentity: Error {
    package let identity: [UInt8]
    package init(identity: [UInt8]) { self.identity = identity }
  }

  private(set) var arena: [UInt8] = []
  private(set) var drafts: [Draft] = []
  /// By the hash of the section's key: a draft's index + 1, or 0. A power of two, at most half full.
  private var draftTable = [Int32](repeating: 0, count: 64)
  /// Rows of one section often come together.
  private var current = -1

  private let onlySection: [UInt8]?

  /// - Parameter onlySection: the label of the one section that a result without sections has.
  package init(onlySection: [UInt8]? = nil) { self.onlySection = onlySection }

  package private(set) var count = 0
  /// Of all entries so far.
  package var byteCount: Int { arena.count }

  /// Adds a row. O(1) amortised. Parameters as for `SectionedTreeEditor.insert`.
  package mutating func append(section: Bytes, label: Bytes, entry: Bytes, stamp: RowStamp) {
    let start = arena.count
    arena.append(contentsOf: entry)
    let range = start..<arena.count
    let index = draftIndex(of: section, label: label, range)
    if range != drafts[index].first, isBefore(range, drafts[index].first) {
      drafts[index].first = range
      if !drafts[index].label.withUnsafeBytes({ $0.equals(label) }) { drafts[index].label = Array(label) }
    }
    drafts[index].records.append(
      Record(
        prefix: SectionedTreeBuilder.word(entry, 0), next: SectionedTreeBuilder.word(entry, 8), start: start,
        length: Int32(entry.count), number: Int32(count), stamp: stamp))
    count += 1
  }

  private mutating func draftIndex(of section: Bytes, label: Bytes, _ range: Range<Int>) -> Int {
    if current >= 0, drafts[current].key.withUnsafeBytes({ $0.equals(section) }) { return current }
    var position = slot(of: section)
    if draftTable[position] == 0 {
      drafts.append(Draft(key: Array(section), label: Array(label), first: range))
      if drafts.count * 2 > draftTable.count { growDraftTable() }
      position = slot(of: section)
      draftTable[position] = Int32(drafts.count)
    }
    current = Int(draftTable[position]) - 1
    return current
  }

  /// Where the section's draft is in the table, or would be.
  private func slot(of section: Bytes) -> Int {
    var position = Int(truncatingIfNeeded: section.hash(seed: 0)) & (draftTable.count - 1)
    while draftTable[position] != 0 {
      if drafts[Int(draftTable[position]) - 1].key.withUnsafeBytes({ $0.equals(section) }) { return position }
      position = (position + 1) & (draftTable.count - 1)
    }
    return position
  }

  private mutating func growDraftTable() {
    draftTable = [Int32](repeating: 0, count: draftTable.count * 2)
    for index in drafts.indices.dropLast() {
      let position = drafts[index].key.withUnsafeBytes { slot(of: $0) }
      draftTable[position] = Int32(index + 1)
    }
  }

  /// Eight bytes from `start` on as a number that compares as they do; zeros where there are none.
  private static func word(_ entry: Bytes, _ start: Int) -> UInt64 {
    if entry.count >= start + 8 {
      return UInt64(bigEndian: entry.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var result: UInt64 = 0
    for index in start..<start + 8 { result = result << 8 | (index < entry.count ? UInt64(entry[index]) : 0) }
    return result
  }

  private func isBefore(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    arena.withUnsafeBytes { Bytes(rebasing: $0[left]).compare(Bytes(rebasing: $0[right])) < 0 }
  }

  /// Brings the rows into their order; to be called once, after the last one.
  ///
  /// - Throws: `DuplicateIdentity`, for some of those that there are; the rest shows when the rows are put to use.
  /// - Complexity: O(n log n), O(n) when the rows came in order.
  package mutating func sort() throws {
    drafts.sort { $0.key.lexicographicallyPrecedes($1.key) }
    current = -1
    for index in drafts.indices { try sort(&drafts[index].records) }
  }

  /// The numbers of the rows as they came, from 0, in the result's order. O(n).
  package var order: [Int32] {
    var order: [Int32] = []
    order.reserveCapacity(count)
    for draft in drafts { for record in draft.records { order.append(record.number) } }
    return order
  }

  /// - Returns: an editor that stands at the version built of the sorted rows.
  /// - Throws: `DuplicateIdentity`.
  /// - Complexity: O(n).
  package func finish() throws -> SectionedTreeEditor {
    var index = IdentityIndex(reserving: count)
    var sections = TreeBuilder<Section>()
    for draft in drafts {
      let (rows, leaves) = build(draft.records)
      let key = SectionKey(draft.key)
      for leaf in leaves {
        if let slot = index.add(leaf, of: key) {
          throw DuplicateIdentity(identity: leaf.withIdentity(slot) { Array($0) })
        }
      }
      draft.key.withUnsafeBytes { sections.append($0, Section(rows: rows, label: draft.label)) }
    }
    var tree = SectionedTree(onlySection: onlySection)
    if !drafts.isEmpty { tree.sections = sections.finish().tree }
    return SectionedTreeEditor(tree: tree, index: index)
  }

  private func sort(_ records: inout [Record]) throws {
    try arena.withUnsafeBytes { arena in
      records.sort { left, right in
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        if left.next != right.next { return left.next < right.next }
        return left.bytes(arena).compare(right.bytes(arena)) < 0
      }
      // Equal entries have equal identities; a tree cannot even hold them.
      for (left, right) in zip(records, records.dropFirst()) where left.prefix == right.prefix {
        if left.bytes(arena).equals(right.bytes(arena)) {
          throw DuplicateIdentity(identity: Array(RankedEntry.identity(of: left.bytes(arena))))
        }
      }
    }
  }

  private func build(_ records: [Record]) -> (RankedTree<RowStamp>, [Node<RowStamp>]) {
    var builder = TreeBuilder<RowStamp>()
    arena.withUnsafeBytes { arena in
      for record in records { builder.append(record.bytes(arena), record.stamp) }
    }
    return builder.finish()
  }
}
