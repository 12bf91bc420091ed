import LiveQuery
import RankedCollections
import TestSupport
import Testing
import Wire

/// Applies a patch to what a client with this window holds, and requires the new state.
func check(_ old: World, _ new: World, window: Window?, _ context: @autoclosure () -> String = "") throws {
  var client = ClientModel()
  try client.apply(try old.snapshot(window: window, version: "v"))
  let (patch, message) = try old.patch(to: new, window: window)
  if patch.isEmpty {
    #expect(old.sectionNames == new.sectionNames && old.rows.count == new.rows.count)
  } else {
    do { try client.apply(message) } catch { Issue.record("\(error) \(context()) \(message)") }
  }
  var fresh = ClientModel()
  try fresh.apply(try new.snapshot(window: patch.window ?? window, version: "v"))
  #expect(client == fresh, "\(context())")
  checkCanonical(old, new, patch)
  if let window, let after = patch.window { checkWindow(old, new, patch, window, after) }
}

/// Checks that the protocol permits no shorter patch, by trying which changed rows could stay.
func checkCanonical(_ old: World, _ new: World, _ patch: Patch) {
  let stay = Set(old.sectionNames).intersection(new.sectionNames)
  let before = Dictionary(uniqueKeysWithValues: old.rows.map { ($0.id, $0) })
  let after = Dictionary(uniqueKeysWithValues: new.rows.map { ($0.id, $0) })
  var moves = 0
  for section in stay {
    // Rows that are in the section on both sides. Rows with the same sort value are fixed.
    let common = old.rows.filter { $0.section == section && after[$0.id]?.section == section }
    let order = new.rows.filter { $0.section == section && before[$0.id]?.section == section }.map(\.id)
    let fixed = Set(common.filter { after[$0.id]?.name == $0.name }.map(\.id))
    moves += common.count - mostThatStay(common.map(\.id), order, fixed)
  }
  moves +=
    new.rows.filter { row in
      guard let was = before[row.id], was.section != row.section else { return false }
      return stay.contains(row.section) && stay.contains(was.section)
    }.count
  #expect(patch.moved.count == moves, "more moves than needed")
}

/// The longest common order that has all of `fixed`: a plain quadratic dynamic program.
private func mostThatStay(_ old: [Int], _ new: [Int], _ fixed: Set<Int>) -> Int {
  let position = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1, $0) })
  let fixedBefore = { (ids: ArraySlice<Int>) in ids.filter(fixed.contains).count }
  let candidates = old.enumerated().filter { index, id in
    fixed.contains(id) || fixedBefore(old[..<index]) == fixedBefore(new[..<position[id]!])
  }.map { position[$1]! }
  var best = [Int](repeating: 1, count: candidates.count)
  for end in candidates.indices {
    for start in 0..<end where candidates[start] < candidates[end] { best[end] = max(best[end], best[start] + 1) }
  }
  return best.max() ?? 0
}

/// Checks that the window stays at 0, or at the first of its rows that is neither deleted nor moved.
private func checkWindow(_ old: World, _ new: World, _ patch: Patch, _ before: Window, _ after: Window) {
  #expect(after.limit == before.limit)
  let isStructureSame =
    patch.deleted.isEmpty && patch.inserted.isEmpty && patch.moved.isEmpty
    && patch.sectionsDeleted.isEmpty && patch.sectionsInserted.isEmpty
  if before.offset == 0 || isStructureSame {
    #expect(after.offset == before.offset)
    return
  }
  let gone = Set(patch.deleted + patch.moved.map(\.from))
  for offset in before.range(total: old.tree.count) {
    let row = old.tree.row(atOffset: offset)
    let path = IndexPath(section: row.section, item: row.item)
    if gone.contains(path) || patch.sectionsDeleted.contains(row.section) { continue }
    let id = old.rows[offset].id
    #expect(new.rows.firstIndex { $0.id == id } == after.offset)
    return
  }
  #expect(after.offset == min(before.offset, max(0, new.rows.count - 1)))
}

@Suite struct PatchTests {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func randomPatchesLeadFromOldToNew(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<25 {
      let size = Int.random(in: 0...24, using: &generator)
      var rows = (0..<size).map { randomRow(id: $0, &generator) }
      let old = try World(rows, hasTotals: seed % 2 == 0)
      for _ in 0..<Int.random(in: 0...10, using: &generator) {
        if let index = rows.indices.randomElement(using: &generator), Bool.random(using: &generator) {
          if Int.random(in: 0..<3, using: &generator) == 0 {
            rows.remove(at: index)
          } else {
            rows[index] = randomRow(id: rows[index].id, &generator)
          }
        } else {
          rows.append(randomRow(id: (rows.map(\.id).max() ?? 0) + 1, &generator))
        }
      }
      let new = try World(rows, hasTotals: seed % 2 == 0)
      try check(old, new, window: nil, "seed \(seed) round \(round)")
      for _ in 0..<3 {
        let window = Window(
          offset: .random(in: 0...(size + 2), using: &generator), limit: .random(in: 0...8, using: &generator))
        try check(old, new, window: window, "seed \(seed) round \(round) \(window)")
      }
    }
  }

  private func randomRow(id: Int, _ generator: inout SeededGenerator) -> WorldRow {
    WorldRow(
      section: ["A", "B", "C", "D"].randomElement(using: &generator)!,
      name: ["a", "b", "c", "d", "e"].randomElement(using: &generator)!, id: id,
      depth: .random(in: 0...1, using: &generator))
  }

  /// Every pair of states of three rows, each absent or at one of four places with one of two contents.
  @Test func exhaustiveSmallWorlds() throws {
    var places: [WorldRow?] = [nil]
    for section in ["A", "B"] {
      for name in ["x", "y"] { places.append(WorldRow(section: section, name: name, id: 0, depth: 0)) }
    }
    places.append(WorldRow(section: "A", name: "x", id: 0, depth: 1))
    var worlds: [World] = []
    for first in places {
      for second in places {
        for third in places.prefix(4) {
          worlds.append(
            try World(
              [first, second, third].enumerated().compactMap { id, row in
                row.map { WorldRow(section: $0.section, name: $0.name, id: id, depth: $0.depth) }
              }, hasTotals: true))
        }
      }
    }
    for old in worlds {
      for new in worlds {
        try check(old, new, window: nil)
        try check(old, new, window: Window(offset: 1, limit: 1))
      }
    }
  }

  @Test func `Totals alone are a patch with the members that changed`() throws {
    func world(_ totals: [(section: String, feet: SQLValue)]) throws -> SectionedTree {
      var editor = SectionedTreeEditor()
      func packed(_ feet: SQLValue) -> [UInt8] {
        var packed = PackedValues()
        for (name, value) in [("feet", feet), ("n", 1)] {
          packed.appendTotal(name, value, error: nil)
        }
        return packed.bytes
      }
      for (section, feet) in totals {
        var entry = RankedEntry()
        entry.startIdentity()
        entry.append { $0 += Array(section.utf8) }
        entry.finish()
        var label = PackedValues()
        for text in [section, section] { label.append(.text(text)) }
        Array(section.utf8).withUnsafeBytes { key in
          entry.bytes.withUnsafeBytes { entry in
            label.bytes.withUnsafeBytes { label in
              _ = editor.insert(section: key, label: label, entry: entry, stamp: RowStamp(1))
            }
          }
          editor.setTotals(packed(feet), ofSection: key)
        }
      }
      editor.setTotals(packed(.integer(Int64(totals.count))))
      return editor.tree
    }
    let old = try world([("a", 1), ("b", "é"), ("c", 3)])
    let window = Window(offset: 0, limit: 0)
    func patch(to new: SectionedTree) -> Patch? { VersionDifference(from: old, to: new)?.patch(window: window) }
    // Texts that Swift treats as equal are different values.
    let changed = try #require(patch(to: try world([("a", 1), ("b", "e\u{301}"), ("c", 3.0)])))
    #expect(!changed.isEmpty && changed.totals.isEmpty && changed.sectionTotals.map(\.section) == [1, 2])
    #expect(changed.sectionTotals.map { $0.changes.map(\.name) } == [["feet"], ["feet"]])
    // Totals are in new coordinates; an inserted section brings its own.
    let moved = try #require(patch(to: try world([("0", 1), ("b", "é"), ("c", 4), ("d", 5)])))
    #expect(moved.sectionTotals.map(\.section) == [2] && moved.totals.map(\.value) == [4])
    #expect(moved.sectionsInserted.map { $0.info.totals.map(\.value) } == [[1, 1], [5, 1]])
    #expect(patch(to: try world([("a", 1), ("b", "é"), ("c", 3)]))?.isEmpty == true)
  }

  @Test func aLimitGivesNoPatch() throws {
    let old = try World([])
    let new = try World((0..<10).map { WorldRow(section: "A", name: "n", id: $0, depth: 0) })
    #expect(VersionDifference(from: old.tree, to: new.tree, limit: 9) == nil)
    #expect(VersionDifference(from: old.tree, to: new.tree, limit: 10) != nil)
  }

  @Test(arguments: [([], 0), ([3], 1), ([3, 1, 2], 2), ([5, 4, 3], 1), ([1, 9, 2, 3, 8, 4], 4)])
  func longestRuns(values: [Int], length: Int) {
    let run = longestIncreasingRun(values)
    #expect(run.count == length)
    let kept = values.enumerated().filter { run.contains($0.offset) }.map(\.element)
    #expect(kept == kept.sorted())
  }
}
