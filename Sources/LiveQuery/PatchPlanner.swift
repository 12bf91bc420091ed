import RankedCollections

/// Turns a matched difference into a patch: coordinates, and what the client's window needs.
struct PatchPlanner {
  private let old: SectionedTree
  private let new: SectionedTree
  private let difference: SectionedDifference
  private let matching: Matching
  private let offsets: OffsetMap
  private let window: Window?
  /// Offsets whose contents the client holds, before and after.
  private let oldRange: Range<Int>
  private let newRange: Range<Int>
  private var patch: Patch

  init(
    old: SectionedTree, new: SectionedTree, window: Window?, difference: SectionedDifference, matching: Matching
  ) {
    self.old = old
    self.new = new
    self.difference = difference
    self.matching = matching
    self.window = window
    let offsets = PatchPlanner.offsetMap(old, new, difference, matching)
    self.offsets = offsets
    let shifted = window.map { PatchPlanner.shift($0, from: old, to: new, offsets) }
    oldRange = window?.range(total: old.count) ?? 0..<old.count
    newRange = shifted?.range(total: new.count) ?? 0..<new.count
    patch = Patch(window: shifted)
  }

  mutating func plan() -> Patch {
    planSections()
    planRows()
    if patch.window != nil { planFilled() }
    // A patch that is not sent leaves the client's window where it is.
    if patch.isEmpty { patch.window = window }
    return patch
  }

  private static func offsetMap(
    _ old: SectionedTree, _ new: SectionedTree, _ difference: SectionedDifference, _ matching: Matching
  ) -> OffsetMap {
    func places(_ tree: SectionedTree, _ rows: some Sequence<SectionedTree.Row>, _ sections: [Int]) -> OffsetMap.Gaps {
      OffsetMap.Gaps(
        rows.map { row in
          let offset = tree.offset(of: row)
          return offset..<offset + 1
        }
          + sections.map { index in
            let section = tree.section(at: index)
            return section.offset..<section.offset + section.count
          })
    }
    return OffsetMap(
      gone: places(old, matching.deleted + matching.moved.map(\.old), difference.sectionsRemoved),
      come: places(new, matching.inserted + matching.moved.map(\.new), difference.sectionsInserted))
  }

  /// Where the window goes: it stays at 0, or else on the first of its rows that keeps its place.
  private static func shift(
    _ window: Window, from old: SectionedTree, to new: SectionedTree, _ offsets: OffsetMap
  ) -> Window {
    if window.offset == 0 { return window }
    let kept = offsets.kept(old: window.range(total: old.count))
    if kept.isEmpty { return Window(offset: min(window.offset, max(0, new.count - 1)), limit: window.limit) }
    return Window(offset: offsets.newOffset(ofKept: kept.lowerBound), limit: window.limit)
  }

  private mutating func planSections() {
    patch.sectionsDeleted = difference.sectionsRemoved.reversed()
    for index in difference.sectionsInserted {
      let (label, count, offset) = new.section(at: index)
      var contents: Range<Int>?
      if patch.window == nil {
        let start = patch.contents.count
        new.forEachRow(in: offset..<offset + count) { _ = patch.content(of: $0) }
        contents = start..<patch.contents.count
      }
      patch.sectionsInserted.append(
        Patch.InsertedSection(index: index, info: SectionInfo(label: label, count: count), contents: contents))
    }
  }

  private mutating func planRows() {
    patch.deleted = matching.deleted.map(\.path).sorted(by: >)
    for row in matching.inserted.sorted(by: { $0.path < $1.path }) {
      let isVisible = newRange.contains(new.offset(of: row))
      patch.inserted.append(
        Patch.Insertion(path: row.path, content: isVisible ? patch.content(of: row) : nil))
    }
    for pair in matching.moved.sorted(by: { $0.new.path < $1.new.path }) {
      let content = pair.isContentChanged && isHeld(pair.old, pair.new) ? patch.content(of: pair.new) : nil
      patch.moved.append(Patch.Change(from: pair.old.path, to: pair.new.path, content: content))
    }
    let restamped = difference.common.flatMap(\.restamped).map { Matching.Pair(old: $0.old, new: $0.new) }
    for pair in (matching.kept + restamped).sorted(by: { $0.new.path < $1.new.path }) {
      guard pair.isContentChanged, isHeld(pair.old, pair.new) else { continue }
      patch.updated.append(
        Patch.Change(from: pair.old.path, to: pair.new.path, content: patch.content(of: pair.new)))
    }
  }

  /// Whether the client has the row's contents, and goes on having them.
  private func isHeld(_ before: SectionedTree.Row, _ after: SectionedTree.Row) -> Bool {
    patch.window == nil || (oldRange.contains(old.offset(of: before)) && newRange.contains(new.offset(of: after)))
  }

  /// Rows of the new window whose contents the client has not been given.
  private mutating func planFilled() {
    var missing: [Int] = []
    // Of the rows that kept their place, those that were outside the old window.
    let held = offsets.kept(old: oldRange)
    let wanted = offsets.kept(new: newRange)
    for rank in wanted.lowerBound..<max(wanted.lowerBound, min(wanted.upperBound, held.lowerBound)) {
      missing.append(offsets.newOffset(ofKept: rank))
    }
    for rank in min(wanted.upperBound, max(wanted.lowerBound, held.upperBound))..<wanted.upperBound {
      missing.append(offsets.newOffset(ofKept: rank))
    }
    for pair in matching.moved where !oldRange.contains(old.offset(of: pair.old)) {
      missing.append(new.offset(of: pair.new))
    }
    for index in difference.sectionsInserted {
      let section = new.section(at: index)
      missing += (section.offset..<section.offset + section.count).clamped(to: newRange)
    }
    for offset in missing.sorted() where newRange.contains(offset) {
      patch.filled.append((offset, patch.content(of: new.row(atOffset: offset))))
    }
  }
}

extension SectionedTree.Row {
  var path: IndexPath { IndexPath(section: section, item: item) }
}

extension SectionedTree {
  func offset(of row: Row) -> Int { offset(section: row.section, item: row.item) }
}
