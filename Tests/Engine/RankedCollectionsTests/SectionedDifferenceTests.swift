import RankedCollections
import TestSupport
import Testing

@Suite struct SectionedDifferenceTests {
  /// Applies a difference to plain rows by coordinates, section by section.
  func apply(_ difference: SectionedDifference, from old: SectionedTree, to new: SectionedTree) -> [[[UInt64]]] {
    func rows(_ tree: SectionedTree) -> [[[UInt64]]] {
      (0..<tree.sectionCount).map { index in
        let (_, count, offset) = tree.section(at: index)
        return (offset..<offset + count).map { offset in
          let row = tree.row(atOffset: offset)
          return [row.withEntry { $0.map(UInt64.init) }.reduce(0) { $0 &* 257 &+ $1 }, row.stamp.hash]
        }
      }
    }
    func content(_ row: SectionedTree.Row) -> [UInt64] {
      [row.withEntry { $0.map(UInt64.init) }.reduce(0) { $0 &* 257 &+ $1 }, row.stamp.hash]
    }
    var sections = rows(old)
    for common in difference.common {
      for row in common.removed.reversed() { sections[common.oldSection].remove(at: row.item) }
    }
    for index in difference.sectionsRemoved.reversed() { sections.remove(at: index) }
    for index in difference.sectionsInserted { sections.insert(rows(new)[index], at: index) }
    for common in difference.common {
      for row in common.inserted { sections[common.newSection].insert(content(row), at: row.item) }
      for pair in common.restamped { sections[common.newSection][pair.new.item] = content(pair.new) }
    }
    #expect(sections == rows(new))
    return sections
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func differenceOfAnyTwoVersionsLeadsFromOneToTheOther(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var editor = SectionedTreeEditor()
    var versions = [editor.tree]
    for _ in 0..<40 {
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        if Bool.random(using: &generator) {
          _ = editor.put(randomRow(&generator, identities: 0...60))
        } else {
          _ = editor.take(.random(in: 0...60, using: &generator))
        }
      }
      versions.append(editor.tree)
    }
    for _ in 0..<60 {
      let old = versions.randomElement(using: &generator)!
      let new = versions.randomElement(using: &generator)!
      let difference = try #require(SectionedDifference(from: old, to: new))
      _ = apply(difference, from: old, to: new)
    }
  }

  @Test func equalVersionsDoNotDiffer() throws {
    var generator = SeededGenerator(seed: 1)
    var editor = SectionedTreeEditor()
    for identity in 0..<100 as Range<UInt8> { _ = editor.put(randomRow(&generator, identities: identity...identity)) }
    let before = editor.tree
    let row = PlainRow(section: 3, order: [2], identity: 250, stamp: 1)
    _ = editor.put(row)
    _ = editor.take(250)
    let difference = try #require(SectionedDifference(from: before, to: editor.tree))
    #expect(difference.isEmpty)
  }

  @Test func aLimitEndsTheWalk() throws {
    var generator = SeededGenerator(seed: 2)
    var editor = SectionedTreeEditor()
    for identity in 0..<100 as Range<UInt8> { _ = editor.put(randomRow(&generator, identities: identity...identity)) }
    #expect(SectionedDifference(from: SectionedTree(), to: editor.tree, limit: 99) == nil)
    #expect(SectionedDifference(from: SectionedTree(), to: editor.tree, limit: 100) != nil)
  }

  /// Every pair of versions over three identities, two sections and two orders: 17^... small, and complete.
  @Test func exhaustiveSmallWorlds() throws {
    var places: [PlainRow?] = [nil]
    for section in 1...2 as ClosedRange<UInt8> {
      for order in 1...2 as ClosedRange<UInt8> {
        places.append(PlainRow(section: section, order: [order], identity: 0, stamp: 0))
      }
    }
    var worlds: [SectionedTree] = []
    for first in places {
      for second in places {
        for third in places {
          let rows = [first, second, third].enumerated().compactMap { identity, row in
            row.map { PlainRow(section: $0.section, order: $0.order, identity: UInt8(identity), stamp: 0) }
          }
          worlds.append(try SectionedTreeEditor.build(rows).tree)
        }
      }
    }
    for old in worlds {
      for new in worlds { _ = apply(try #require(SectionedDifference(from: old, to: new)), from: old, to: new) }
    }
  }
}
