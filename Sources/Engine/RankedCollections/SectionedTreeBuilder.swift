package import Ground

/// Builds a version from rows in any order: packs them into an arena, sorts them, and fills the trees leaf by leaf.
///
/// Sorting here, on packed keys, is faster than asking SQLite for the order, and takes little time if the rows come
/// sorted. Sorting moves sixteen bytes a row, and each leaf's buffer is exactly large enough. From 20,000 rows on, up
/// to four threads sort and build leaves (`ConcurrentWork`): each takes pieces, which are sections or parts of long
/// sections.
package struct SectionedTreeBuilder {
  /// A row: the start of its entry, and a pointer into the arena, to its stamp, number and length, and then its entry.
  /// Small, because sorting moves it.
  struct Record {
    /// The entry's first eight bytes, which decide most comparisons.
    let prefix: UInt64
    fileprivate let start: UnsafeRawPointer

    fileprivate typealias Header = (stamp: RowStamp, number: Int32, length: Int32)

    @inline(__always)
    private var header: Header { start.loadUnaligned(as: Header.self) }

    var stamp: RowStamp { header.stamp }
    /// The number of the row in the order in which rows were added, from 0.
    var number: Int32 { header.number }
    /// The bytes of the entry.
    @inline(__always)
    var bytes: Bytes { Bytes(start: start + MemoryLayout<Header>.size, count: Int(header.length)) }
  }

  struct Draft {
    /// The section's key, in the arena.
    var key: Bytes
    /// The label according to `least`, the row with the least entry so far.
    var label: [UInt8]
    var least: Record
    var records: [Record] = []
  }

  /// Two rows had the same identity.
  package struct DuplicateIdentity: Error {
    package let identity: [UInt8]
    package init(identity: [UInt8]) { self.identity = identity }
  }

  /// Contains the keys of sections and the entries. It must outlive their use.
  let arena = EntryArena()
  private(set) var drafts: [Draft] = []
  /// Hash table of sections' keys. A slot is a draft's index + 1, or 0 if empty. A power of two, at most half full.
  private var draftTable = [Int32](repeating: 0, count: 64)
  /// The draft of the last row, because rows of one section often come together.
  private var current = -1

  private let onlySection: [UInt8]?
  private let work: ConcurrentWork

  /// - Parameters:
  ///   - onlySection: the label of the one section that a result without sections has.
  ///   - work: runs the sorting of large results, and the building of their leaves.
  package init(onlySection: [UInt8]? = nil, work: ConcurrentWork = .serial) {
    self.onlySection = onlySection
    self.work = work
  }

  package private(set) var count = 0
  /// The size of all entries so far.
  package private(set) var byteCount = 0

  /// Adds a row. O(1) amortised. Parameters as for `SectionedTreeEditor.insert`.
  ///
  /// - Parameter label: called only if the row comes before all rows of its section so far.
  package mutating func append(section: Bytes, entry: Bytes, stamp: RowStamp, label: () -> [UInt8]) {
    let record = keep(entry, stamp)
    if let index = draftIndex(of: section) {
      if Self.isBefore(record, drafts[index].least) {
        drafts[index].least = record
        drafts[index].label = label()
      }
      drafts[index].records.append(record)
    } else {
      add(Draft(key: arena.copy(section), label: label(), least: record, records: [record]))
    }
  }

  private mutating func keep(_ entry: Bytes, _ stamp: RowStamp) -> Record {
    let header: Record.Header = (stamp, Int32(count), Int32(entry.count))
    let start = arena.room(MemoryLayout<Record.Header>.size + entry.count)
    start.storeBytes(of: header, as: Record.Header.self)
    UnsafeMutableRawBufferPointer(start: start + MemoryLayout<Record.Header>.size, count: entry.count)
      .copyMemory(from: entry)
    count += 1
    byteCount += entry.count
    return Record(prefix: entry.word(at: 0), start: start)
  }

  private mutating func draftIndex(of section: Bytes) -> Int? {
    if current >= 0, drafts[current].key.equals(section) { return current }
    let known = draftTable[slot(of: section)]
    if known == 0 { return nil }
    current = Int(known) - 1
    return current
  }

  private mutating func add(_ draft: Draft) {
    drafts.append(draft)
    if drafts.count * 2 > draftTable.count {
      draftTable = [Int32](repeating: 0, count: draftTable.count * 2)
      for index in drafts.indices.dropLast() { draftTable[slot(of: drafts[index].key)] = Int32(index + 1) }
    }
    draftTable[slot(of: draft.key)] = Int32(drafts.count)
    current = drafts.count - 1
  }

  /// The slot that contains the section's draft, or the empty slot where it belongs.
  private func slot(of section: Bytes) -> Int {
    var position = Int(truncatingIfNeeded: section.hash(seed: Bytes.tableSeed)) & (draftTable.count - 1)
    while draftTable[position] != 0 {
      if drafts[Int(draftTable[position]) - 1].key.equals(section) { return position }
      position = (position + 1) & (draftTable.count - 1)
    }
    return position
  }

  @inline(__always)
  private static func isBefore(_ left: Record, _ right: Record) -> Bool {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    return left.bytes.compare(right.bytes) < 0
  }
}

// Turns the rows into a version. Large results are cut into pieces, which several threads may sort and build leaves of.
extension SectionedTreeBuilder {
  /// The most rows of one section in a piece.
  private var pieceLimit: Int { count < ConcurrentWork.leastRows ? .max : max(1, count / work.parts) }

  private func forEach<Piece>(_ pieces: inout [Piece], _ body: (inout Piece) throws -> Void) throws {
    if count >= ConcurrentWork.leastRows { return try work.forEach(&pieces, body) }
    for index in pieces.indices { try body(&pieces[index]) }
  }

  /// Sorts the rows. To be called once, after the last row.
  ///
  /// - Throws: `DuplicateIdentity`, for duplicates with equal entries; `finish` and `merge` find the others.
  /// - Complexity: O(n log n); O(n) if the rows were added in order.
  package mutating func sort() throws {
    defer { withExtendedLifetime(arena) {} }
    drafts.sort { $0.key.compare($1.key) < 0 }
    current = -1
    var pieces = takeRecords()
    try forEach(&pieces) { try Self.sort(&$0.records) }
    for (draft, records) in pieces {
      if drafts[draft].records.isEmpty { drafts[draft].records = records } else { drafts[draft].records += records }
    }
    // A draft of several pieces consists of several sorted runs, which sorting merges.
    for draft in Set(zip(pieces, pieces.dropFirst()).filter { $0.draft == $1.draft }.map(\.0.draft)) {
      try Self.sort(&drafts[draft].records)
    }
  }

  /// Takes all records out of their drafts, so that only the sorting code references them.
  private mutating func takeRecords() -> [(draft: Int, records: [Record])] {
    let limit = pieceLimit
    var pieces: [(draft: Int, records: [Record])] = []
    pieces.reserveCapacity(drafts.count + work.parts)
    for draft in drafts.indices {
      var records: [Record] = []
      swap(&records, &drafts[draft].records)
      if records.count <= limit {
        pieces.append((draft, records))
      } else {
        for range in Self.ranges(of: records.count, limit) { pieces.append((draft, Array(records[range]))) }
      }
    }
    return pieces
  }

  private static func ranges(of count: Int, _ limit: Int) -> [Range<Int>] {
    if count <= limit { return [0..<count] }
    return stride(from: 0, to: count, by: limit).map { $0..<min($0 + limit, count) }
  }

  private static func sort(_ records: inout [Record]) throws {
    records.sort { isBefore($0, $1) }
    // Equal entries have equal identities, and a tree cannot hold two equal entries.
    for (left, right) in zip(records, records.dropFirst()) where left.prefix == right.prefix {
      if left.bytes.equals(right.bytes) {
        throw DuplicateIdentity(identity: Array(RankedEntry.identity(of: left.bytes)))
      }
    }
  }

  /// The numbers of the rows in the order in which they were added, from 0, listed in the result's order. O(n).
  package var order: [Int32] {
    var order: [Int32] = []
    order.reserveCapacity(count)
    for draft in drafts { for record in draft.records { order.append(record.number) } }
    return order
  }

  /// - Returns: an editor whose newest version is built of the sorted rows.
  /// - Throws: `DuplicateIdentity`.
  /// - Complexity: O(n).
  package func finish() throws -> SectionedTreeEditor {
    defer { withExtendedLifetime(arena) {} }
    var index = IdentityIndex(reserving: count)
    var sections: [Section] = []
    sections.reserveCapacity(drafts.count)
    for (draft, leaves) in zip(drafts, try leaves()) {
      let key = SectionKey(Array(draft.key))
      for leaf in leaves {
        if let slot = index.add(leaf, of: key) {
          throw DuplicateIdentity(identity: leaf.withIdentity(slot) { Array($0) })
        }
      }
      sections.append(Section(rows: RankedTree(leaves: leaves), label: draft.label))
    }
    var tree = SectionedTree(onlySection: onlySection)
    if !drafts.isEmpty {
      tree.sections = RankedTree.build(count: drafts.count, key: { drafts[$0].key }, payload: { sections[$0] })
    }
    return SectionedTreeEditor(tree: tree, index: index)
  }

  /// The leaves of each draft, by the draft's index.
  private func leaves() throws -> [[Node<RowStamp>]] {
    var pieces: [(draft: Int, range: Range<Int>, leaves: [Node<RowStamp>])] = []
    pieces.reserveCapacity(drafts.count + work.parts)
    let limit = pieceLimit
    for draft in drafts.indices {
      for range in Self.ranges(of: drafts[draft].records.count, limit) { pieces.append((draft, range, [])) }
    }
    try forEach(&pieces) { piece in
      piece.leaves = drafts[piece.draft].records.withUnsafeBufferPointer { records in
        RankedTree.leaves(of: piece.range, key: { records[$0].bytes }, payload: { records[$0].stamp })
      }
    }
    var leaves = [[Node<RowStamp>]](repeating: [], count: drafts.count)
    for piece in pieces { leaves[piece.draft] += piece.leaves }
    return leaves
  }
}
