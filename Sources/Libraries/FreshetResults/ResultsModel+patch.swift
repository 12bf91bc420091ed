import Foundation
import LiveQuery

// Protocol 3.3, step by step. What is changed is a copy: a patch that does not fit changes nothing.
extension ResultsModel {
  mutating func apply(_ patch: ListPatch) throws(FreshetError) -> ResultsPatch {
    try require(patch.from == version, "a patch from another version than the one held")
    var next = results
    var step = ResultsPatch()
    let carried = try removeRows(patch, from: &next, &step)
    for index in patch.sectionsDeleted {
      try require(next.sections.indices.contains(index), "no section \(index) to delete")
      next.sections.remove(at: index)
    }
    step.deletedSections = patch.sectionsDeleted.reversed()
    try insertSections(patch, into: &next, &step)
    try insertRows(patch, carried, into: &next, &step)
    for change in patch.moved + patch.updated { try merge(change, into: &next) }
    step.moves = patch.moved.map(ResultsPatch.Change.init)
    step.updates = patch.updated.map(ResultsPatch.Change.init)
    next.count = next.sections.reduce(0) { $0 + $1.count }
    try require(next.count == patch.total, "total is not what the patch leads to")
    try fill(patch, &next, &step)
    for value in patch.alongside where next.alongside[value.name] != value.value {
      next.alongside[value.name] = value.value
      step.alongside.append(value.name)
    }
    if let order = patch.order { ordering = Ordering(order, columns: next.columns) }
    next.commit = patch.commit
    results = next
    version = patch.to
    return step
  }

  /// - Returns: the contents of rows that move, in the patch's order.
  private func removeRows(
    _ patch: ListPatch, from next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) -> [Results.Entry?] {
    var carried: [Results.Entry?] = []
    for path in patch.deleted + patch.moved.map(\.from) {
      try require(next.contains(IndexPath(path)), "no row at \(path.section),\(path.item) to take away")
    }
    for change in patch.moved { carried.append(next.sections[change.from.section].rows[change.from.item]) }
    let gone = (patch.deleted + patch.moved.map(\.from)).sorted(by: >)
    for index in gone.indices.dropFirst() { try require(gone[index] != gone[index - 1], "a row that leaves twice") }
    for path in gone { next.sections[path.section].rows.remove(at: path.item) }
    step.deletions = patch.deleted.reversed().map { IndexPath($0) }
    return carried
  }

  private func insertSections(
    _ patch: ListPatch, into next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) {
    for section in patch.sectionsInserted {
      let count = section.info.count
      try require(section.index >= 0 && section.index <= next.sections.count, "a section that has no place")
      try require(count >= 0 && count <= patch.total, "a section with more rows than the list")
      try require(section.rows == nil || section.rows?.count == count, "a section without all of its rows")
      var rows: [Results.Entry?] = Array(repeating: nil, count: count)
      for (index, row) in (section.rows ?? []).enumerated() { rows[index] = try entry(row) }
      next.sections.insert(.init(section.info, RowSequence(rows)), at: section.index)
      step.insertedSections.append(section.index)
    }
  }

  private func insertRows(
    _ patch: ListPatch, _ carried: [Results.Entry?], into next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) {
    var arrivals: [(path: LiveQuery.IndexPath, entry: Results.Entry?)] = []
    for (change, entry) in zip(patch.moved, carried) { arrivals.append((change.to, entry)) }
    for insertion in patch.inserted {
      var contents: Results.Entry?
      if let row = insertion.row { contents = try entry(row) }
      arrivals.append((insertion.path, contents))
      step.insertions.append(IndexPath(insertion.path))
    }
    arrivals.sort { $0.path < $1.path }
    for (path, entry) in arrivals {
      try require(
        next.sections.indices.contains(path.section) && path.item >= 0
          && path.item <= next.sections[path.section].count,
        "no place for a row at \(path.section),\(path.item)")
      next.sections[path.section].rows.insert(entry, at: path.item)
    }
  }

  private func merge(_ change: ListPatch.Change, into next: inout Results) throws(FreshetError) {
    let path = IndexPath(change.to)
    try require(next.contains(path), "no row at \(path.section),\(path.item) to change")
    if change.values.isEmpty { return }
    guard let old = next.sections[path.section].rows[path.item] else {
      throw FreshetError(.internal, "changes of a row whose contents are not held")
    }
    var values = old.row.values
    for (column, value) in change.values {
      try require(values.indices.contains(column), "a change of an unknown column")
      values[column] = value
    }
    next.sections[path.section].rows[path.item] = try entry(values)
  }

  private func fill(_ patch: ListPatch, _ next: inout Results, _ step: inout ResultsPatch) throws(FreshetError) {
    if let window = patch.window { next.setWindow(window) }
    for (offset, row) in patch.filled {
      guard let path = next.indexPath(atOffset: offset) else {
        throw FreshetError(.internal, "a row beyond the end of the list")
      }
      let wasLoaded = next.sections[path.section].rows[path.item] != nil
      next.sections[path.section].rows[path.item] = try entry(row)
      if !wasLoaded { step.loaded.append(path) }
    }
    // The other side does not send the changes of what is outside.
    guard let window = next.window else { return }
    next.forget(0..<window.lowerBound)
    next.forget(window.upperBound..<next.count)
  }
}

extension ResultsPatch.Change {
  fileprivate init(_ change: ListPatch.Change) {
    self.init(from: IndexPath(change.from), to: IndexPath(change.to))
  }
}
