import Foundation
import Ground
import TestSupport
import Testing

@testable import ChangeCapture

/// Pages made by hand, and damaged real ones: at worst the result is a doubt. The code never crashes, and always ends.
@Suite struct PageTests {
  private let packer = RowPacker(hasher: PayloadHasher())

  private func summary(_ source: MemoryPages, root: UInt32 = 2, _ layout: RecordLayout = .init()) throws -> TableSummary
  {
    let summary = TableSummary(root: root, layout, packer)
    _ = try summary.readOn(source, limit: .max)
    return summary
  }

  private func doubt(_ body: () throws -> Void) -> Doubt.Reason? {
    do {
      try body()
      return nil
    } catch { return (error as? Doubt)?.reason }
  }

  // MARK: - Numbers and records

  @Test(
    arguments: [
      0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 0x1F_FFFF, 0x20_0000, 0xFFFF_FFFF, 0x00FF_FFFF_FFFF_FFFF, 0x0100_0000_0000_0000,
      .max,
    ] as [UInt64])
  func varintsAreRead(number: UInt64) {
    // As https://sqlite.org/fileformat2.html#varint says: the ninth byte has eight bits.
    var bytes: [UInt8] = []
    if number >> 56 != 0 {
      bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 + 7 * (7 - $0))) | 0x80 } + [UInt8(number & 255)]
    } else {
      var rest = number
      repeat {
        bytes.insert(UInt8(rest & 127) | (bytes.isEmpty ? 0 : 128), at: 0)
        rest >>= 7
      } while rest > 0
    }
    (bytes + [0xFF]).withUnsafeBytes { buffer in
      let start = buffer.baseAddress!
      var value: UInt64 = 0
      #expect(readVarint(start, start + buffer.count, &value) == bytes.count)
      #expect(value == number)
      for end in 0..<bytes.count { #expect(readVarint(start, start + end, &value) == 0) }
    }
    let buffer = ByteBuffer(capacity: 1)
    buffer.appendPacked(number)
    buffer.appendPacked(zigzag(Int64(bitPattern: number)))
    var cursor = UnsafeRawPointer(buffer.start)
    #expect(readPacked(&cursor) == number)
    #expect(unzigzag(readPacked(&cursor)) == Int64(bitPattern: number))
    #expect(cursor == UnsafeRawPointer(buffer.start) + buffer.count)
  }

  /// The values of a record, which are valid within `body`.
  private func read(_ record: [UInt8], _ body: ([StoredValue]) -> Void = { _ in }) throws {
    try record.withUnsafeBytes { bytes in
      var fields = try RecordFields(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, available: bytes.count)
      var values: [StoredValue] = []
      while let field = try fields.next() {
        guard field.body.upperBound <= bytes.count else { throw Doubt(.page) }
        values.append(StoredValue(type: field.type, body: bytes.baseAddress! + field.body.lowerBound))
      }
      body(values)
    }
  }

  @Test func recordsAreRead() throws {
    let header: [UInt8] = [10, 0, 1, 2, 3, 4, 5, 6, 8, 9]
    var body: [UInt8] = [0x80]
    for count in [2, 3, 4, 6, 8] { body += [0xFF] + [UInt8](repeating: 0, count: count - 1) }
    let integers = [-128, -1 << 8, -1 << 16, -1 << 24, -1 << 40, -1 << 56, 0, 1].map { StoredValue.integer($0) }
    try read(header + body) { #expect($0 == [.null] + integers) }
    try read([2, 7, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0]) { #expect($0 == [.real(1.5)]) }
    try [UInt8]("ab".utf8).withUnsafeBytes { text in
      try read([3, 17, 16, 97, 98, 97, 98]) { #expect($0 == [.text(text), .blob(text)]) }
    }
    // Records whose header is too long or too short, whose type does not end, or whose bodies reach beyond the end.
    for record: [UInt8] in [[5, 0], [0], [2, 0x81], [2, 6, 1], [6, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], []] {
      #expect(doubt { try read(record) } == .page)
    }
  }

  // MARK: - Trees

  private func tree() -> MemoryPages {
    MemoryPages([
      2: HandMade.interior([3, 4]), 3: HandMade.interior([5, 6]), 4: HandMade.interior([7, 8]),
      5: HandMade.leaf([(1, "a"), (2, "b")]), 6: HandMade.leaf([(3, "c")]), 7: HandMade.leaf([(4, "d")]),
      8: HandMade.leaf([(5, "e")]),
    ])
  }

  @Test func aTreeThatIsNoneIsADoubt() {
    for (page, image) in [
      (3, HandMade.interior([3, 6])), (3, HandMade.interior([2, 6])), (3, HandMade.interior([5, 5])),
      (4, HandMade.interior([7, 5])),
    ] as [(UInt32, [UInt8])] {
      let source = tree()
      source.pages[page] = image
      #expect(doubt { _ = try summary(source) } == .tree)
    }
    let source = tree()
    source.pages[3] = HandMade.interior([5, 0])
    #expect(doubt { _ = try summary(source) } == .page)
  }

  /// Each change of a tree's shape, as the pages that were written; nil: the result is a tree, and rows are reported.
  // Rules of capture: tree-visited-once, tree-claimed-once, tree-dirty-found, tree-removed-not-visited,
  // tree-two-parents, tree-lost-child
  @Test func changesThatLeaveNoTreeAreADoubt() throws {
    typealias Pages = [UInt32: [UInt8]]
    let interior = { (children: [UInt32]) in HandMade.interior(children) }
    let cases: [(Pages, [ChangedRows.Kind]?)] = [
      // A leaf moves from one parent to the other; a level comes; a subtree goes.
      ([3: interior([5]), 4: interior([6, 7, 8])], []),
      ([2: interior([9]), 9: interior([3, 4])], []),
      ([2: interior([3])], [.delete, .delete]),
      ([2: interior([3, 9]), 9: interior([8])], [.delete]),
      ([2: HandMade.leaf([(1, "a"), (2, "x")])], [.update, .delete, .delete, .delete]),
      // A page with two parents, both changed or only one of them; a page that is its own parent; a page that is named
      // twice.
      ([3: interior([5, 6, 7]), 4: interior([7, 8])], nil),
      ([3: interior([5, 6, 7])], nil),
      ([3: interior([5, 3])], nil),
      ([3: interior([5, 2])], nil),
      ([3: interior([5, 5])], nil),
      ([2: interior([3, 4, 7])], nil),
      // A page below a deleted one changes; an unclaimed page changes with its parent.
      ([2: interior([3]), 7: HandMade.leaf([(9, "z")])], [.delete, .delete]),
      // A page changes, and moves from below a deleted page to another parent.
      ([2: interior([3, 8]), 8: HandMade.leaf([(5, "x")])], [.delete, .update]),
      // A page claims a page that is above it.
      ([4: interior([7, 3])], nil),
      // The page is not a page of a table.
      ([7: [UInt8](repeating: 0, count: 512)], nil),
      ([3: interior([5, 99])], nil),
    ]
    for (changed, kinds) in cases {
      let source = tree()
      let summary = try summary(source)
      source.former = source.pages
      source.pages.merge(changed) { $1 }
      let delta = ChangedRows()
      let reason = doubt { try summary.apply(changed.keys.sorted(), source, into: delta) }
      guard let kinds else {
        #expect(reason != nil, "\(changed.mapValues { $0.prefix(30) })")
        #expect(summary.rowCount == 5)
        continue
      }
      #expect(reason == nil)
      #expect(delta.rows.map(\.kind) == kinds)
      try expectSame(summary, as: source)
    }
  }

  /// Expects the same memory as from a fresh read.
  private func expectSame(_ summary: TableSummary, as source: MemoryPages) throws {
    let fresh = try self.summary(source)
    #expect(Set(summary.nodes.keys) == Set(fresh.nodes.keys))
    for (page, node) in fresh.nodes {
      #expect(summary.nodes[page]?.parent == node.parent || page == fresh.root)
      #expect(summary.nodes[page]?.hasSameRows(as: node) == true)
    }
    #expect(summary.rowCount == fresh.rowCount)
  }

  // MARK: - Overflow

  private func overflowing(_ fills: UInt8...) -> MemoryPages {
    MemoryPages([
      2: HandMade.leafWithOverflow(total: 1_500, first: 3), 3: HandMade.overflow(next: 4, fills[0]),
      4: HandMade.overflow(next: 5, fills[1]), 5: HandMade.overflow(next: 0, 0),
    ])
  }

  // Rules of capture: overflow-owner, chain-reuse-unchanged
  @Test func aPageOfAChainChangesItsRow() throws {
    let source = overflowing(1, 2)
    let summary = try summary(source)
    for page: UInt32 in [3, 4] {
      source.former = source.pages
      source.pages[page]?[100] ^= 1
      let delta = ChangedRows()
      try summary.apply([page], source, into: delta)
      #expect(delta.rows.map(\.kind) == [.update])
    }
    // The pages were written again without a change.
    let delta = ChangedRows()
    try summary.apply([3, 4], source, into: delta)
    #expect(delta.isEmpty)
  }

  // Rules of capture: chains-compared
  @Test(arguments: [true, false])
  func aComparisonSeesChainsThatChanged(keepsRows: Bool) throws {
    let source = overflowing(1, 2)
    let summary = TableSummary(root: 2, .init(), keepsRows: keepsRows, packer)
    _ = try summary.readOn(source, limit: .max)
    let delta = ChangedRows()
    try summary.compare(root: 2, source, into: delta)
    #expect(delta.isEmpty)
    source.pages[4]?[100] ^= 1
    try summary.compare(root: 2, source, into: delta)
    #expect(keepsRows ? delta.rows.map(\.kind) == [.update] : delta.isUnknown)
  }

  // Rules of capture: chain-cycle, chain-two-rows
  @Test func chainsThatDoNotEndAreADoubt() {
    for next: UInt32 in [3, 0] {
      let source = overflowing(1, 2)
      source.pages[3] = HandMade.overflow(next: next, 1)
      #expect(doubt { _ = try summary(source) } == .overflow)
    }
    let source = overflowing(1, 2)
    source.pages[4] = HandMade.overflow(next: 3, 1)
    source.pages[2] = HandMade.leafWithOverflow(total: 16_000, first: 3)
    #expect(doubt { _ = try summary(source) } == .overflow)
  }

  // MARK: - Tables that come and go

  @Test func aTableThatGoesBeforeItWasReadIsNotRead() {
    let source = tree()
    let made = CapturedTable(name: "t", rootPage: 2, definition: "d", layout: .init())
    let table = FollowedTable(number: 1, made, remembering: [], packer)
    _ = table.readOn(source, limit: 1)
    #expect(table.form == .reading)
    #expect(table.define(nil))
    table.compare(source)
    // The table's pages may belong to another table by now.
    while table.readOn(source, limit: 1) > 0 {}
    #expect(table.summary.rowCount == 0)
    table.delta.removeAll()
    table.compare(source)
    #expect(table.delta.isEmpty)
  }

  // Rules of capture: define-root, define-definition
  @Test func anotherDefinitionOrRootIsNoticed() {
    let source = tree()
    var made = CapturedTable(name: "t", rootPage: 2, definition: "d", layout: .init())
    let table = FollowedTable(number: 1, made, remembering: [], packer)
    while table.readOn(source, limit: .max) > 0 {}
    #expect(!table.define(StoredTable(rootPage: 2, definition: "d")) && !table.delta.isUnknown)
    #expect(table.define(StoredTable(rootPage: 3, definition: "d")) && !table.delta.isUnknown)
    table.compare(source)
    #expect(table.delta.rows.count == 2)
    table.delta.removeAll()
    let another = StoredTable(rootPage: 3, definition: "e")
    #expect(!table.define(another) && table.delta.isUnknown && table.form == .reading)
    // The table's rows are unknown until its records are described.
    table.delta.removeAll()
    #expect(table.readOn(source, limit: .max) == 0)
    table.compare(source)
    #expect(table.delta.isUnknown)
    (made.rootPage, made.definition) = (3, "e")
    table.describe(made)
    table.delta.removeAll()
    while table.readOn(source, limit: .max) > 0 {}
    #expect(!table.define(another) && !table.delta.isUnknown && table.form == .rows)
    made.layout.columnBits = [1]
    table.take(masksOf: made.layout)
    #expect(table.form == .rows && table.summary.layout.columnBits == [1])
  }

  // MARK: - Damage

  /// 100,000 real pages with flipped bits, changed bytes or missing ends.
  // Rules of capture: page-cell-bounds
  @Test(arguments: 0..<10)
  func damagedPagesAreADoubtAtWorst(part: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    let seed = UInt64.random(in: 0 ... .max)
    print("damage, part \(part), seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try SQLiteShell(path: path).run(
      """
      PRAGMA page_size = 512; CREATE TABLE t(a, b); CREATE TABLE u(a, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60)
      INSERT INTO t SELECT i, printf('%.*c', i * i, 'x') FROM n;
      INSERT INTO u SELECT a, substr(b, 1, a * 20), 5.5 FROM t;
      """)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let whole = MemoryPages()
    for start in stride(from: 0, to: bytes.count, by: 512) {
      whole.pages[UInt32(start / 512 + 1)] = [UInt8](bytes[start..<start + 512])
    }
    let table = RecordLayout(remembered: [0, 1], columnBits: [1, 2])
    let index = RecordLayout(isWithoutRowid: true, keyFieldCount: 2, remembered: [2], columnBits: [1, 2, 4])
    for (root, layout) in [(2 as UInt32, table), (3, index)] {
      let known = try summary(whole, root: root, layout)
      #expect(known.rowCount == 60)
      for round in 0..<5_000 {
        let page = known.nodes.keys.sorted().randomElement(using: &random)!
        let source = MemoryPages(whole.pages)
        damage(&source.pages[page]!, &random)
        var reading = RowPacker.Reading(layout: layout, keepsRows: true, known: known.chains, changed: nil)
        _ = try? packer.node(page, parent: 0, source, &reading)
        if round % 25 == 0 {
          source.former = whole.pages
          let fresh = try? summary(source, root: root, layout)
          let delta = ChangedRows()
          // The result may differ, but must be the same as a comparison finds.
          let other = try summary(whole, root: root, layout)
          if (try? other.apply([page], source, into: delta)) != nil {
            #expect(fresh == nil || fresh!.rowCount == other.rowCount)
          }
        }
      }
    }
  }

  private func damage(_ page: inout [UInt8], _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      // Most of the structure of a page is at its beginning.
      let index = Int.random(in: 0..<(Bool.random(using: &random) ? 40 : 512), using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: page[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: page[index] = .random(in: 0...255, using: &random)
      case 2: page[index] = 255
      default: for place in index..<min(512, index + 9) { page[place] = .random(in: 0...255, using: &random) }
      }
    }
  }
}
