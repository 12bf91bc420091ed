import Ground
import RankedCollections
import TestSupport
import Testing

/// A row of the model: a plain sorted array with which the tree is compared.
struct PlainRow: Hashable, Comparable {
  var section: UInt8
  var order: [UInt8]
  var identity: UInt8
  var stamp: UInt64

  /// Orders are single bytes or byte strings without a common prefix relation: terminated by a zero byte.
  var entry: RankedEntry {
    var entry = RankedEntry()
    entry.append { $0 += order + [0] }
    entry.startIdentity()
    entry.append { $0 += [1, identity] }
    entry.finish()
    return entry
  }

  static func < (left: PlainRow, right: PlainRow) -> Bool {
    (left.section, left.entry.bytes) < (right.section, right.entry.bytes)
  }
}

private func < (left: (UInt8, [UInt8]), right: (UInt8, [UInt8])) -> Bool {
  left.0 != right.0 ? left.0 < right.0 : left.1.lexicographicallyPrecedes(right.1)
}

extension SectionedTreeEditor {
  mutating func put(_ row: PlainRow) -> Bool {
    _ = [1, row.identity].withUnsafeBytes { remove($0) }
    return [row.section].withUnsafeBytes { section in
      row.entry.bytes.withUnsafeBytes { entry in
        insert(section: section, label: section, entry: entry, stamp: RowStamp(row.stamp))
      }
    }
  }

  mutating func take(_ identity: UInt8) -> Bool { [1, identity].withUnsafeBytes { remove($0) } }

  static func build(_ rows: [PlainRow]) throws -> SectionedTreeEditor {
    var builder = SectionedTreeBuilder(work: .threads)
    for row in rows {
      [row.section].withUnsafeBytes { section in
        row.entry.bytes.withUnsafeBytes { entry in
          builder.append(section: section, entry: entry, stamp: RowStamp(row.stamp)) { [row.section] }
        }
      }
    }
    try builder.sort()
    return try builder.finish()
  }
}

extension SectionedTree {
  /// Section, entry and stamp of every row, read through the tree.
  var plain: [[UInt64]] {
    var result: [[UInt64]] = []
    forEachRow(in: 0..<count) { row in
      let label = section(at: row.section).label.map(UInt64.init)
      result.append(label + row.withEntry { $0.map(UInt64.init) } + [row.stamp.hash])
    }
    return result
  }
}

func plain(_ rows: some Collection<PlainRow>) -> [[UInt64]] {
  rows.sorted().map { [UInt64($0.section)] + $0.entry.bytes.map(UInt64.init) + [$0.stamp] }
}

func randomRow(_ generator: inout SeededGenerator, identities: ClosedRange<UInt8> = 0...200) -> PlainRow {
  let length = Int.random(in: 1...3, using: &generator)
  return PlainRow(
    section: .random(in: 1...5, using: &generator),
    order: (0..<length).map { _ in .random(in: 1...4, using: &generator) },
    identity: .random(in: identities, using: &generator), stamp: .random(in: 0...3, using: &generator))
}

@Suite struct SectionedTreeTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func randomEditsKeepTreeAndIndexInStep(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var rows: [UInt8: PlainRow] = [:]
    var editor = SectionedTreeEditor()
    for step in 0..<600 {
      if Int.random(in: 0..<100, using: &generator) < (step < 300 ? 75 : 30) {
        let row = randomRow(&generator)
        rows[row.identity] = row
        let wasPut = editor.put(row)
        #expect(wasPut)
      } else {
        let identity = UInt8.random(in: 0...200, using: &generator)
        let wasThere = rows.removeValue(forKey: identity) != nil
        let wasTaken = editor.take(identity)
        #expect(wasTaken == wasThere)
      }
      if step % 20 == 0 {
        editor.checkInvariants()
        #expect(editor.tree.plain == plain(rows.values), "seed \(seed) step \(step)")
      }
    }
  }

  @Test(arguments: [0, 1, 3, 4, 5, 16, 17, 100, 201])
  func buildingGivesTheSameAsInserting(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let rows = (0..<count).map { index in
      var row = randomRow(&generator)
      row.identity = UInt8(index)
      return row
    }
    let built = try SectionedTreeEditor.build(rows)
    built.checkInvariants()
    #expect(built.tree.plain == plain(rows))
  }

  @Test func aBuiltTreeCanBeEdited() throws {
    var generator = SeededGenerator(seed: 7)
    var rows: [UInt8: PlainRow] = [:]
    for identity in 0..<150 as Range<UInt8> { rows[identity] = randomRow(&generator, identities: identity...identity) }
    var editor = try SectionedTreeEditor.build(Array(rows.values))
    for _ in 0..<300 {
      let row = randomRow(&generator)
      rows[row.identity] = row
      _ = editor.put(row)
      editor.checkInvariants()
    }
    #expect(editor.tree.plain == plain(rows.values))
  }

  @Test func oldVersionsStayAsTheyWere() throws {
    var generator = SeededGenerator(seed: 11)
    var rows: [UInt8: PlainRow] = [:]
    var editor = SectionedTreeEditor()
    var versions: [(SectionedTree, [[UInt64]])] = []
    for _ in 0..<200 {
      let row = randomRow(&generator, identities: 0...80)
      rows[row.identity] = row
      _ = editor.put(row)
      versions.append((editor.tree, plain(rows.values)))
    }
    for (tree, expected) in versions { #expect(tree.plain == expected) }
  }

  @Test func twoRowsOfOneIdentityAreRefused() throws {
    let row = PlainRow(section: 1, order: [1], identity: 9, stamp: 0)
    var other = row
    other.order = [2]
    other.section = 2
    #expect(throws: SectionedTreeBuilder.DuplicateIdentity.self) { try SectionedTreeEditor.build([row, other]) }
    #expect(throws: SectionedTreeBuilder.DuplicateIdentity.self) { try SectionedTreeEditor.build([row, row]) }
    var editor = try SectionedTreeEditor.build([row])
    let inserted = [other.section].withUnsafeBytes { section in
      other.entry.bytes.withUnsafeBytes {
        editor.insert(section: section, label: section, entry: $0, stamp: RowStamp(0))
      }
    }
    #expect(!inserted)
    #expect(editor.tree.plain == plain([row]))
  }

  /// In debug builds, few rows are enough for several threads, which get whole sections, or pieces of long ones.
  @Test(arguments: [1, 2, 40] as [UInt8], 0..<20 as Range<UInt64>)
  func manyRowsMakeTheSameTree(sections: UInt8, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var rows: [PlainRow] = []
    for identity in 0..<UInt8.random(in: 1...200, using: &generator) {
      var row = randomRow(&generator, identities: identity...identity)
      row.section = UInt8.random(in: 0..<sections, using: &generator)
      rows.append(row)
    }
    let editor = try SectionedTreeEditor.build(rows.shuffled(using: &generator))
    editor.checkInvariants()
    #expect(editor.tree.plain == plain(rows))
    rows.append(rows.randomElement(using: &generator)!)
    rows.shuffle(using: &generator)
    #expect(throws: SectionedTreeBuilder.DuplicateIdentity.self) { try SectionedTreeEditor.build(rows) }
  }

  @Test func positionsAndOffsetsAgree() throws {
    var generator = SeededGenerator(seed: 3)
    var rows: [PlainRow] = []
    for identity in 0..<120 as Range<UInt8> { rows.append(randomRow(&generator, identities: identity...identity)) }
    let tree = try SectionedTreeEditor.build(rows).tree
    for offset in 0..<tree.count {
      let row = tree.row(atOffset: offset)
      #expect(tree.offset(section: row.section, item: row.item) == offset)
      let section = tree.section(at: row.section).label
      let place = row.withEntry { entry in section.withUnsafeBytes { tree.position(ofEntry: entry, section: $0) } }
      #expect(place?.section == row.section && place?.item == row.item && place?.offset == offset)
    }
  }

  @Test func `A range of offsets has the rows at these`() throws {
    var generator = SeededGenerator(seed: 5)
    var rows: [PlainRow] = []
    for identity in 0..<90 as Range<UInt8> { rows.append(randomRow(&generator, identities: identity...identity)) }
    let tree = try SectionedTreeEditor.build(rows).tree
    for end in 0...91 {
      for start in 0...end {
        let part = tree.rows(at: start..<end)
        part.checkInvariants()
        #expect(part.plain == Array(tree.plain.prefix(end).dropFirst(start)))
      }
    }
    #expect(tree.plain == plain(rows))
  }

  @Test func `A section that goes and comes back in one edit keeps its totals`() throws {
    var editor = try SectionedTreeEditor.build([])
    func entry(_ identity: UInt8) -> [UInt8] {
      var entry = RankedEntry()
      entry.startIdentity()
      entry.append { $0.append(identity) }
      entry.finish()
      return entry.bytes
    }
    func put(_ identity: UInt8, in section: UInt8) {
      withUnsafeBytes(of: section) { section in
        entry(identity).withUnsafeBytes { entry in
          editor.put(section: section, label: section, entry: entry, stamp: RowStamp(1))
        }
      }
    }
    func remove(_ identity: UInt8) {
      entry(identity).withUnsafeBytes { _ = editor.remove(RankedEntry.identity(of: $0)) }
    }
    put(1, in: 7)
    withUnsafeBytes(of: 7 as UInt8) { editor.setTotals([1, 2], ofSection: $0) }
    editor.setTotals([3])
    let before = editor.tree
    remove(1)
    #expect(editor.tree.sectionCount == 0)
    put(1, in: 7)
    #expect(editor.tree.totals(ofSection: 0) == [1, 2] && before.totals(ofSection: 0) == [1, 2])
    // A section that is inserted after the totals of a version were set has no totals.
    remove(1)
    editor.setTotals([4])
    put(1, in: 7)
    #expect(editor.tree.totals(ofSection: 0) == [] && editor.tree.totals == [4])
  }

  @Test func longIdentitiesAreFoundFromTheEnd() {
    for length in [0, 1, 254, 255, 256, 70_000] {
      var entry = RankedEntry()
      entry.append { $0 += [1, 2, 3] }
      entry.startIdentity()
      let identity = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      entry.append { $0 += identity }
      entry.finish()
      entry.bytes.withUnsafeBytes { #expect(Array(RankedEntry.identity(of: $0)) == identity) }
    }
  }
}
