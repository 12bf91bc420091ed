package import RankedCollections

/// The difference of two versions, matched row by row. It is made once for all subscriptions that go from one version
/// to the other.
///
/// Owner: the follower's thread. Mutable state: `offsets`, which is made for the first window.
package final class VersionDifference {
  let old: SectionedTree
  let new: SectionedTree
  let sections: SectionedDifference
  let matching: Matching
  private(set) lazy var offsets = OffsetMap(
    gone: .init(rows: matching.deleted + matching.moved.map(\.old), sections: sections.sectionsRemoved, of: old),
    come: .init(rows: matching.inserted + matching.moved.map(\.new), sections: sections.sectionsInserted, of: new))

  /// - Parameter limit: the most rows that may differ. The result is nil if more do, because a snapshot is cheaper
  ///   then.
  /// - Complexity: O(changes × log n) between versions that grew from each other.
  package init?(from old: SectionedTree, to new: SectionedTree, limit: Int = .max) {
    guard let sections = SectionedDifference(from: old, to: new, limit: limit) else { return nil }
    self.old = old
    self.new = new
    self.sections = sections
    matching = Matching(sections)
  }

  /// The patch for a client that holds `window` of the old version, or all rows if `window` is nil.
  ///
  /// - Parameter wanted: the client's new window; nil if the present one is adapted.
  /// - Complexity: O((changes + rows filled) × log n).
  package func patch(window: Window?, becoming wanted: Window? = nil) -> Patch {
    var planner = PatchPlanner(self, window: window, becoming: wanted)
    planner.plan()
    return planner.patch
  }
}

/// Turns a difference into the patch for one window, with its coordinates and the contents that the window needs.
struct PatchPlanner {
  private let difference: VersionDifference
  private let window: Window?
  /// The offsets whose contents the client holds before and after the patch.
  private let oldRange: Range<Int>
  private let newRange: Range<Int>
  /// The window after the patch.
  private let shifted: Window?
  private(set) var patch = Patch()

  private var old: SectionedTree { difference.old }
  private var new: SectionedTree { difference.new }
  private var offsets: OffsetMap { difference.offsets }

  init(_ difference: VersionDifference, window: Window?, becoming wanted: Window? = nil) {
    self.difference = difference
    self.window = wanted ?? window
    shifted = wanted ?? window.map { PatchPlanner.shift($0, difference) }
    oldRange = window?.range(total: difference.old.count) ?? 0..<difference.old.count
    newRange = shifted?.range(total: difference.new.count) ?? 0..<difference.new.count
  }

  mutating func plan() {
    planSections()
    planRows()
    planTotals()
    if shifted != nil { planFilled() }
    // If a patch is empty, and therefore not sent, the client's window stays as it is.
    patch.window = patch.isEmpty ? window : shifted
  }

  /// The window after the patch. It stays at offset 0, or otherwise starts at the first of its rows that keeps its
  /// place.
  private static func shift(_ window: Window, _ difference: VersionDifference) -> Window {
    if window.offset == 0 { return window }
    let isStructureSame = difference.offsets.gone.ranges.isEmpty && difference.offsets.come.ranges.isEmpty
    if isStructureSame { return window }
    let kept = difference.offsets.kept(old: window.range(total: difference.old.count))
    let offset =
      kept.isEmpty
      ? min(window.offset, max(0, difference.new.count - 1))
      : difference.offsets.newOffset(ofKept: kept.lowerBound)
    return Window(offset: offset, limit: window.limit)
  }

  private mutating func planSections() {
    if !difference.sections.sectionsRemoved.isEmpty {
      patch.sectionsDeleted = difference.sections.sectionsRemoved.reversed()
    }
    for index in difference.sections.sectionsInserted {
      let (label, count, offset) = new.section(at: index)
      var contents: Range<Int>?
      if shifted == nil {
        let start = patch.contents.count
        new.forEachRow(in: offset..<offset + count) { _ = patch.content(of: $0) }
        contents = start..<patch.contents.count
      }
      let info = SectionInfo(label: label, totals: new.totals(ofSection: index), count: count)
      patch.sectionsInserted.append(Patch.InsertedSection(index: index, info: info, contents: contents))
    }
  }

  private mutating func planTotals() {
    if old.totals != new.totals {
      patch.totals = [NamedValue](totals: new.totals, changedSince: old.totals)
    }
    for section in difference.sections.totals {
      let changes = [NamedValue](
        totals: new.totals(ofSection: section.newSection), changedSince: old.totals(ofSection: section.oldSection))
      if changes.isEmpty { continue }
      patch.sectionTotals.append(Patch.SectionTotals(section: section.newSection, changes: changes))
    }
  }

  private mutating func planRows() {
    if !difference.matching.deleted.isEmpty { patch.deleted = difference.matching.deleted.reversed().map { $0.path } }
    if !difference.matching.inserted.isEmpty { patch.inserted.reserveCapacity(difference.matching.inserted.count) }
    for row in difference.matching.inserted {
      patch.inserted.append(Patch.Insertion(path: row.path, content: isVisible(row) ? patch.content(of: row) : nil))
    }
    for pair in PatchPlanner.ordered(difference.matching.moved) {
      let content = pair.isContentChanged && isHeld(pair.old, pair.new) ? patch.content(of: pair.new) : nil
      patch.moved.append(Patch.Change(from: pair.old.path, to: pair.new.path, content: content))
    }
    for pair in updated {
      guard pair.isContentChanged, isHeld(pair.old, pair.new) else { continue }
      patch.updated.append(
        Patch.Change(from: pair.old.path, to: pair.new.path, content: patch.content(of: pair.new)))
    }
  }

  /// Rows that stay where they are and may have other contents, ascending by new place.
  private var updated: [SectionedDifference.Pair] {
    if difference.matching.kept.isEmpty, difference.sections.common.count == 1 {
      return difference.sections.common[0].restamped
    }
    return PatchPlanner.ordered(difference.matching.kept + difference.sections.common.flatMap { $0.restamped })
  }

  /// By new place, ascending.
  private static func ordered(_ pairs: [SectionedDifference.Pair]) -> [SectionedDifference.Pair] {
    pairs.count < 2 ? pairs : pairs.sorted { $0.new.path < $1.new.path }
  }

  private func isVisible(_ row: SectionedTree.Row) -> Bool {
    shifted == nil || newRange.contains(new.offset(of: row))
  }

  /// Whether the client has the row's contents, and keeps them after the patch.
  private func isHeld(_ before: SectionedTree.Row, _ after: SectionedTree.Row) -> Bool {
    shifted == nil || (oldRange.contains(old.offset(of: before)) && newRange.contains(new.offset(of: after)))
  }

  /// Adds the rows of the new window whose contents the client does not have.
  private mutating func planFilled() {
    var missing: [Int] = []
    // These rows kept their position and were in the old window.
    let held = offsets.kept(old: oldRange)
    let wanted = offsets.kept(new: newRange)
    for rank in wanted.lowerBound..<max(wanted.lowerBound, min(wanted.upperBound, held.lowerBound)) {
      missing.append(offsets.newOffset(ofKept: rank))
    }
    for rank in min(wanted.upperBound, max(wanted.lowerBound, held.upperBound))..<wanted.upperBound {
      missing.append(offsets.newOffset(ofKept: rank))
    }
    for pair in difference.matching.moved where !oldRange.contains(old.offset(of: pair.old)) {
      missing.append(new.offset(of: pair.new))
    }
    for index in difference.sections.sectionsInserted {
      let section = new.section(at: index)
      missing += (section.offset..<section.offset + section.count).clamped(to: newRange)
    }
    for offset in missing.sorted() where newRange.contains(offset) {
      patch.filled.append((offset, patch.content(of: new.row(atOffset: offset))))
    }
  }
}

extension OffsetMap.Gaps {
  fileprivate init(rows: [SectionedTree.Row], sections: [Int], of tree: SectionedTree) {
    let places = rows.map { row in
      let offset = tree.offset(of: row)
      return offset..<offset + 1
    }
    let wholes = sections.map { index in
      let section = tree.section(at: index)
      return section.offset..<section.offset + section.count
    }
    self.init(places + wholes)
  }
}

extension SectionedTree.Row {
  var path: IndexPath { IndexPath(section: section, item: item) }
}

extension SectionedTree {
  func offset(of row: Row) -> Int { offset(section: row.section, item: row.item) }
}
