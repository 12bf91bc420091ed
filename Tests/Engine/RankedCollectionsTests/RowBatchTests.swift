import Ground
import RankedCollections
import TestSupport
import Testing

/// A change of a row: sets the row of an identity, or deletes it.
private enum Change {
  case put(PlainRow)
  case remove(UInt8)

  var identity: UInt8 {
    switch self {
    case .put(let row): row.identity
    case .remove(let identity): identity
    }
  }
}

extension SectionedTreeEditor {
  fileprivate mutating func apply(_ changes: [Change]) {
    var batch = RowBatch(reserving: changes.count)
    for change in changes {
      switch change {
      case .put(let row):
        [row.section].withUnsafeBytes { section in
          row.entry.bytes.withUnsafeBytes { entry in
            batch.put(section: section, label: section, entry: entry, stamp: RowStamp(row.stamp), in: self)
          }
        }
      case .remove(let identity): [1, identity].withUnsafeBytes { batch.remove($0, from: self) }
      }
    }
    apply(batch)
  }

  fileprivate mutating func applyOneByOne(_ changes: [Change]) {
    for change in changes {
      switch change {
      case .put(let row):
        [row.section].withUnsafeBytes { section in
          row.entry.bytes.withUnsafeBytes { entry in
            put(section: section, label: section, entry: entry, stamp: RowStamp(row.stamp))
          }
        }
      case .remove(let identity): _ = take(identity)
      }
    }
  }
}

/// Applies changes to plain rows.
private func apply(_ changes: [Change], to rows: inout [UInt8: PlainRow]) {
  for change in changes {
    switch change {
    case .put(let row): rows[row.identity] = row
    case .remove(let identity): rows[identity] = nil
    }
  }
}

@Suite struct RowBatchTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func batchDoesWhatItsChangesDoOneByOne(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var rows: [UInt8: PlainRow] = [:]
    var editor = SectionedTreeEditor()
    var other = SectionedTreeEditor()
    for _ in 0..<60 {
      var changes: [UInt8: Change] = [:]
      // Sometimes most of the rows are removed or inserted.
      let removals = Double.random(in: 0...1, using: &generator)
      for _ in 0..<Int.random(in: 0...120, using: &generator) {
        let row = randomRow(&generator)
        changes[row.identity] = .random(in: 0..<1, using: &generator) < removals ? .remove(row.identity) : .put(row)
      }
      let batch = changes.values.sorted { $0.identity < $1.identity }
      let before = editor.tree
      let plainBefore = before.plain
      apply(batch, to: &rows)
      editor.apply(batch)
      editor.refreshLabels { [rows[$0[1]]!.section] }
      other.applyOneByOne(batch.shuffled(using: &generator))
      other.refreshLabels { [rows[$0[1]]!.section] }
      editor.checkInvariants()
      #expect(editor.tree.plain == plain(rows.values))
      #expect(editor.tree.plain == other.tree.plain)
      #expect(before.plain == plainBefore, "an older version has changed")
      before.checkInvariants()
    }
  }

  /// Every change of two sections of few rows to every other.
  @Test func everySmallWorldLeadsToEveryOther() throws {
    // A row is missing, or in one of two sections at one of two places.
    func worlds(_ count: Int) -> [[Int]] {
      (0..<count).reduce([[]]) { worlds, _ in worlds.flatMap { world in (0..<5).map { world + [$0] } } }
    }
    func row(_ identity: Int, _ state: Int, stamp: UInt64 = 0) -> PlainRow? {
      if state == 0 { return nil }
      let (section, place) = (state - 1).quotientAndRemainder(dividingBy: 2)
      return PlainRow(
        section: UInt8(1 + section), order: [UInt8(1 + place)], identity: UInt8(identity), stamp: stamp)
    }
    let all = worlds(3)
    for before in all {
      let start = try SectionedTreeEditor.build(before.enumerated().compactMap { row($0, $1) })
      for after in all {
        var editor = start
        let rows = after.enumerated().compactMap { row($0, $1, stamp: UInt64(after[0] % 2)) }
        editor.apply(
          after.enumerated().map { index, state in
            row(index, state, stamp: UInt64(after[0] % 2)).map { .put($0) } ?? .remove(UInt8(index))
          })
        editor.refreshLabels { identity in rows.filter { $0.identity == identity[1] }.map(\.section) }
        editor.checkInvariants()
        #expect(editor.tree.plain == plain(rows))
      }
    }
  }

  @Test func batchThatChangesNothingLeavesTheVersion() throws {
    var generator = SeededGenerator(seed: 7)
    var rows: [UInt8: PlainRow] = [:]
    for _ in 0..<100 {
      let row = randomRow(&generator)
      rows[row.identity] = row
    }
    var editor = try SectionedTreeEditor.build(Array(rows.values))
    let before = editor.tree
    editor.apply(rows.values.map { .put($0) } + [.remove(201)])
    #expect(editor.tree.isIdentical(to: before))
  }

  /// A bulk insert into one section, with every row between the same two rows.
  @Test func manyRowsIntoOneLeaf() throws {
    let entry = { (identity: Int) in
      var entry = RankedEntry()
      entry.append { $0 += [2, 0] }
      entry.startIdentity()
      entry.append { $0 += [1, UInt8(identity >> 8), UInt8(identity & 255)] }
      entry.finish()
      return entry.bytes
    }
    var editor = SectionedTreeEditor(onlySection: [9])
    for range in [0..<2, 2..<1_500, 0..<0] {
      var batch = RowBatch(reserving: range.count)
      for identity in range {
        entry(identity).withUnsafeBytes { entry in
          ([9] as [UInt8]).withUnsafeBytes { label in
            batch.put(
              section: Bytes(start: nil, count: 0), label: label, entry: entry, stamp: RowStamp(UInt64(identity)),
              in: editor)
          }
        }
      }
      editor.apply(batch)
      editor.checkInvariants()
    }
    #expect(editor.tree.count == 1_500)
    var batch = RowBatch(reserving: 1_500)
    for identity in 0..<1_500 {
      entry(identity).withUnsafeBytes { batch.remove(RankedEntry.identity(of: $0), from: editor) }
    }
    editor.apply(batch)
    editor.checkInvariants()
    #expect(editor.tree.count == 0)
  }

  @Test func sectionIsLabelledByItsFirstRow() throws {
    func row(_ order: UInt8, _ identity: UInt8) -> [UInt8] {
      PlainRow(section: 1, order: [order], identity: identity, stamp: 0).entry.bytes
    }
    func put(_ entry: [UInt8], label: UInt8, _ batch: inout RowBatch, _ editor: SectionedTreeEditor) {
      let (section, label): ([UInt8], [UInt8]) = ([1], [label])
      section.withUnsafeBytes { section in
        label.withUnsafeBytes { label in
          entry.withUnsafeBytes {
            batch.put(section: section, label: label, entry: $0, stamp: RowStamp(0), in: editor)
          }
        }
      }
    }
    var editor = SectionedTreeEditor()
    var batch = RowBatch(reserving: 3)
    for (order, label) in [(3, 30), (1, 10), (2, 20)] as [(UInt8, UInt8)] {
      put(row(order, order), label: label, &batch, editor)
    }
    editor.apply(batch)
    #expect(editor.tree.section(at: 0).label == [10])

    // Another spelling of the first row, and of a row that is not the first.
    batch = RowBatch(reserving: 2)
    put(row(1, 1), label: 11, &batch, editor)
    put(row(2, 2), label: 21, &batch, editor)
    editor.apply(batch)
    #expect(editor.tree.section(at: 0).label == [11])

    // The first row is removed, so its section needs the next row's label.
    batch = RowBatch(reserving: 1)
    ([1, 1] as [UInt8]).withUnsafeBytes { batch.remove($0, from: editor) }
    editor.apply(batch)
    editor.refreshLabels { identity in [identity[1] + 20] }
    #expect(editor.tree.section(at: 0).label == [22])
    editor.refreshLabels { _ in fatalError("nothing has changed since") }
  }
}
