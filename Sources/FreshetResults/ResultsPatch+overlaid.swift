import Foundation
import LiveQuery

extension ResultsPatch {
  /// The patch between two states that are shown, given this one between those that they are laid over. Pure.
  ///
  /// Only rows that this patch or one of the overlays touches can differ: `touched` has the keys of the latter. All others are in the same
  /// order, in the same sections. A touched row is updated where it is if it stands between the same others as before.
  ///
  /// - Returns: nil where sections cannot be told from one another by their names, in their order.
  func overlaid<Element>(
    from old: SectionedResults<Element>, to new: SectionedResults<Element>, touched: Set<[SQLValue]>,
    base: (old: SectionedResults<Element>, new: SectionedResults<Element>)
  ) -> ResultsPatch? {
    if new.window != nil || old.window != nil { return updating(from: old, to: new, touched) }
    guard let sections = SectionMatch(old.sections.map(\.name), new.sections.map(\.name)) else { return nil }
    var keys = touched
    let left = deletions + moves.map(\.from) + updates.map(\.from) + base.old.paths(ofSections: deletedSections)
    keys.formUnion(left.compactMap { base.old.key(at: $0) })
    let came = insertions + base.new.paths(ofSections: insertedSections)
    keys.formUnion(came.compactMap { base.new.key(at: $0) })
    let (before, after) = (old.paths(ofKeys: keys), new.paths(ofKeys: keys))

    var patch = ResultsPatch()
    patch.alongside = alongside
    patch.deletedSections = sections.deleted
    patch.insertedSections = sections.inserted
    let (slotsBefore, slotsAfter) = (Slots(before.values), Slots(after.values))
    var staying: [(key: [SQLValue], change: Change)] = []
    for (key, from) in before {
      let isInDeleted = sections.newIndex[from.section] == nil
      guard let to = after[key] else {
        if !isInDeleted { patch.deletions.append(from) }
        continue
      }
      // Rows of sections that go or come are in no list: what is in one of them on one side only goes, or comes.
      let isInInserted = sections.inserted.contains(to.section)
      if isInDeleted || isInInserted {
        if !isInDeleted { patch.deletions.append(from) }
        if !isInInserted { patch.insertions.append(to) }
      } else if sections.newIndex[from.section] == to.section && slotsBefore[from] == slotsAfter[to] {
        staying.append((key, Change(from: from, to: to)))
      } else {
        patch.moves.append(Change(from: from, to: to))
      }
    }
    for (key, to) in after where before[key] == nil && !sections.inserted.contains(to.section) {
      patch.insertions.append(to)
    }
    // In one slot, each stays that is behind all that stay before it.
    var last: IndexPath?
    for (_, change) in staying.sorted(by: { $0.change.from < $1.change.from }) {
      if let reached = last, change.to < reached {
        patch.moves.append(change)
      } else {
        last = change.to
        if old.differs(change, in: new) { patch.updates.append(change) }
      }
    }
    patch.deletions.sort()
    patch.insertions.sort()
    patch.moves.sort { $0.to < $1.to }
    patch.updates.sort { $0.to < $1.to }
    return patch
  }

  /// Where no row is anywhere else because of an overlay.
  private func updating<Element>(
    from old: SectionedResults<Element>, to new: SectionedResults<Element>, _ touched: Set<[SQLValue]>
  ) -> ResultsPatch {
    var patch = self
    let (before, after) = (old.paths(ofKeys: touched), new.paths(ofKeys: touched))
    let named = Set((moves + updates).map(\.to) + insertions + loaded)
    for (key, from) in before {
      guard let to = after[key], !named.contains(to), !insertedSections.contains(to.section) else { continue }
      if old.differs(Change(from: from, to: to), in: new) { patch.updates.append(Change(from: from, to: to)) }
    }
    patch.updates.sort { $0.to < $1.to }
    return patch
  }
}

/// Sections of one state and those of the next, matched by their names.
private struct SectionMatch {
  /// By old index.
  var newIndex: [Int: Int] = [:]
  var deleted: [Int] = []
  var inserted: [Int] = []

  /// Nil where two have one name, or those that stay are in another order.
  init?(_ old: [SQLValue], _ new: [SQLValue]) {
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

/// How many of a section's untouched rows are before a touched one.
private struct Slots {
  private var slots: [IndexPath: Int] = [:]

  init(_ touched: some Sequence<IndexPath>) {
    var (section, count) = (-1, 0)
    for path in touched.sorted() {
      if path.section != section { (section, count) = (path.section, 0) }
      slots[path] = path.item - count
      count += 1
    }
  }

  subscript(path: IndexPath) -> Int? { slots[path] }
}

extension SectionedResults {
  fileprivate func paths(ofSections indexes: [Int]) -> [IndexPath] {
    indexes.flatMap { section in sections[section].rows.indices.map { IndexPath(item: $0, section: section) } }
  }

  /// Whether a row is shown otherwise in other results.
  fileprivate func differs(_ change: ResultsPatch.Change, in other: Self) -> Bool {
    rowIfLoaded(at: change.from) != other.rowIfLoaded(at: change.to)
      || pendingState(at: change.from) != other.pendingState(at: change.to)
  }
}
