import Foundation
import LiveQuery

extension ResultsPatch {
  /// The patch between two shown states. Pure.
  ///
  /// Only rows that the server's patch or one of the overlays touches can differ; all others are in the same order and
  /// sections. Rows are identified by their server positions, and by their keys if only one state has them. A touched
  /// row is updated in place if it stands between the same rows as before. O(touched rows × log + sections + window).
  ///
  /// - Returns: nil if the names and order of sections do not identify them.
  init?<Element>(
    from before: OptimisticOverlay<Element>, to after: OptimisticOverlay<Element>, _ correspondence: BaseCorrespondence
  ) {
    let (old, new) = (before.results, after.results)
    guard let sections = SectionMatch(old.results.sections.map(\.names), new.results.sections.map(\.names)) else {
      return nil
    }
    deletedSections = sections.deleted
    insertedSections = sections.inserted
    sectionTotals = sections.newIndex.filter { old.results.sections[$0].totals != new.results.sections[$1].totals }
      .map(\.value).sorted()
    let touched = TouchedRows(before, after, correspondence)
    let (olds, nows) = (OffsetSet(touched.rows.compactMap(\.old)), OffsetSet(touched.rows.compactMap(\.new)))
    let insertedSet = Set(sections.inserted)
    /// Former positions of touched rows that are in both states, by their new positions.
    var origins: [Int: Int] = [:]
    var arriving: Set<Int> = []
    var staying: [Change] = []
    for row in touched.rows {
      let (from, to) = (row.old.map(old.path), row.new.map(new.path))
      let isInDeleted = from.map { sections.newIndex[$0.section] == nil } ?? false
      let isInInserted = to.map { insertedSet.contains($0.section) } ?? false
      guard let from, let to, let oldOffset = row.old, let newOffset = row.new, !isInDeleted, !isInInserted else {
        // Rows of deleted and inserted sections are in no list: only the other side's position of such a row is an
        // insertion or deletion.
        if let from, !isInDeleted { deletions.append(from) }
        if let to, !isInInserted { insertions.append(to) }
        if let new = row.new { arriving.insert(new) }
        continue
      }
      origins[newOffset] = oldOffset
      let isBetweenTheSame = olds.rank(of: oldOffset) == nows.rank(of: newOffset)
      if sections.newIndex[from.section] == to.section && isBetweenTheSame {
        staying.append(Change(from: from, to: to))
      } else {
        moves.append(Change(from: from, to: to))
      }
    }
    // In one slot, a row stays in place if it follows all rows that stay before it.
    var last: IndexPath?
    for change in staying.sorted(by: { $0.from < $1.from }) {
      if let reached = last, change.to < reached {
        moves.append(change)
      } else {
        last = change.to
        if old.results.isHeldAndDiffers(change, in: new.results) { updates.append(change) }
      }
    }
    deletions.sort()
    insertions.sort()
    moves.sort { $0.to < $1.to }
    updates.sort { $0.to < $1.to }
    guard old.results.window != nil else { return }
    for offset in new.results.window ?? 0..<new.results.count where !arriving.contains(offset) {
      let origin = origins[offset] ?? olds.offset(ofRank: nows.rank(of: offset))
      if new.entry(at: offset) != nil && old.entry(at: origin) == nil { loaded.append(new.path(of: offset)) }
    }
  }
}

extension SectionedResults.Section {
  /// The parts of a section that no patch changes.
  fileprivate var names: [SQLValue] { [value, .text(indexTitle)] }
}

/// Matches the sections of two states by their names.
private struct SectionMatch {
  /// Keyed by old index.
  var newIndex: [Int: Int] = [:]
  var deleted: [Int] = []
  var inserted: [Int] = []

  /// Nil if two sections have the same name, or the remaining ones are in another order.
  init?(_ old: [[SQLValue]], _ new: [[SQLValue]]) {
    let indexes = Dictionary(zip(new, new.indices)) { first, _ in first }
    guard indexes.count == new.count, Set(old).count == old.count else { return nil }
    var last = -1
    for (index, name) in old.enumerated() {
      guard let match = indexes[name] else {
        deleted.append(index)
        continue
      }
      if match < last { return nil }
      newIndex[index] = match
      last = match
    }
    let kept = Set(newIndex.values)
    inserted = new.indices.filter { !kept.contains($0) }
  }
}

/// The rows that may differ between two shown states: their offsets before and after; nil: that state lacks the row.
private struct TouchedRows {
  typealias Row = (old: Int?, new: Int?)

  private(set) var rows: [Row] = []
  private var indexes: [[SQLValue]: Int] = [:]

  init<Element>(
    _ before: OptimisticOverlay<Element>, _ after: OptimisticOverlay<Element>, _ correspondence: BaseCorrespondence
  ) {
    var both = Set(correspondence.changed)
    both.formUnion(before.effects.compactMap(\.offset).filter { !correspondence.deleted.contains($0) })
    both.formUnion(after.effects.compactMap { $0.offset.flatMap(correspondence.oldOffset) })
    for offset in both {
      add((before.shownOffset(offset), correspondence.newOffset(offset).flatMap(after.shownOffset)), nil)
    }
    // A row that only one state has may have come with another section, or was inserted.
    for offset in correspondence.deleted { add((before.shownOffset(offset), nil), before.base.key(at: offset)) }
    for (key, offset) in before.inserted { add((offset, nil), key) }
    for offset in correspondence.inserted { add((nil, after.shownOffset(offset)), after.base.key(at: offset)) }
    for (key, offset) in after.inserted { add((nil, offset), key) }
  }

  private mutating func add(_ row: Row, _ key: [SQLValue]?) {
    if row.old == nil && row.new == nil { return }
    if let key, let index = indexes[key] {
      let known = rows[index]
      if (known.old == nil || row.old == nil) && (known.new == nil || row.new == nil) {
        rows[index] = (known.old ?? row.old, known.new ?? row.new)
        return
      }
    }
    if let key { indexes[key] = rows.count }
    rows.append(row)
  }
}

extension SectionedResults {
  /// Whether both results have the row's contents, and differ in them.
  fileprivate func isHeldAndDiffers(_ change: ResultsPatch.Change, in other: Self) -> Bool {
    guard let old = rowIfLoaded(at: change.from), let new = other.rowIfLoaded(at: change.to) else { return false }
    return old != new || pendingState(at: change.from) != other.pendingState(at: change.to)
  }
}
