import Foundation
import LiveQuery
import Wire

// Protocol 3.3, step by step. Changes a copy, so that a patch that does not fit changes nothing.
extension ResultsModel {
  mutating func apply(_ message: PatchMessage) throws(FreshetError) -> ResultsPatch {
    let patch = message.patch
    let contents = message.rows.values(0..<message.rows.count)
    try require(message.from == version, "a patch from another version than the one held")
    var next = results
    var step = ResultsPatch()
    let carried = try removeRows(patch, from: &next, &step)
    for index in patch.sectionsDeleted {
      try require(next.sections.indices.contains(index), "no section \(index) to delete")
      next.sections.remove(at: index)
    }
    step.deletedSections = patch.sectionsDeleted.reversed()
    try insertSections(message, contents, into: &next, &step)
    try insertRows(patch, carried, contents, into: &next, &step)
    for change in patch.moved + patch.updated {
      try merge(change.to, message.changes(change, in: contents), into: &next)
    }
    step.moves = patch.moved.map(ResultsPatch.Change.init)
    step.updates = patch.updated.map(ResultsPatch.Change.init)
    next.count = next.sections.reduce(0) { $0 + $1.count }
    try require(next.count == message.total, "total is not what the patch leads to")
    try fill(patch, contents, &next, &step)
    try mergeTotals(patch, into: &next, &step)
    for value in message.alongside ?? [] where next.alongside[value.name] != value.value {
      next.alongside[value.name] = value.value
      step.alongside.append(value.name)
    }
    if let order = message.order { ordering = Ordering(order, columns: next.columns) }
    next.commit = message.commit
    results = next
    version = message.to
    return step
  }

  /// - Returns: the contents of rows that move, in the patch's order.
  private func removeRows(
    _ patch: Patch, from next: inout Results, _ step: inout ResultsPatch
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
    _ message: PatchMessage, _ contents: [[SQLValue]], into next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) {
    for section in message.patch.sectionsInserted {
      let count = section.info.count
      try require(section.index >= 0 && section.index <= next.sections.count, "a section that has no place")
      try require(count >= 0 && count <= message.total, "a section with more rows than the list")
      try require(section.contents == nil || section.contents?.count == count, "a section without all of its rows")
      var rows: [Results.Entry?] = Array(repeating: nil, count: count)
      for (index, content) in (section.contents ?? 0..<0).enumerated() { rows[index] = try entry(contents[content]) }
      next.sections.insert(.init(section.info, RowSequence(rows)), at: section.index)
      step.insertedSections.append(section.index)
    }
  }

  private func insertRows(
    _ patch: Patch, _ carried: [Results.Entry?], _ contents: [[SQLValue]], into next: inout Results,
    _ step: inout ResultsPatch
  ) throws(FreshetError) {
    var arrivals: [(path: LiveQuery.IndexPath, entry: Results.Entry?)] = []
    for (change, entry) in zip(patch.moved, carried) { arrivals.append((change.to, entry)) }
    for insertion in patch.inserted {
      var row: Results.Entry?
      if let content = insertion.content { row = try entry(contents[content]) }
      arrivals.append((insertion.path, row))
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

  private func merge(
    _ path: LiveQuery.IndexPath, _ changes: [(column: Int, value: SQLValue)], into next: inout Results
  ) throws(FreshetError) {
    let path = IndexPath(path)
    try require(next.contains(path), "no row at \(path.section),\(path.item) to change")
    if changes.isEmpty { return }
    guard let old = next.sections[path.section].rows[path.item] else {
      throw FreshetError(.internal, "changes of a row whose contents are not held")
    }
    var values = old.row.values
    for (column, value) in changes {
      try require(values.indices.contains(column), "a change of an unknown column")
      values[column] = value
    }
    next.sections[path.section].rows[path.item] = try entry(values)
  }

  private func mergeTotals(
    _ patch: Patch, into next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) {
    for value in patch.totals { next.totals[value.name] = value.value }
    step.totals = patch.totals.map(\.name)
    for section in patch.sectionTotals {
      try require(next.sections.indices.contains(section.section), "totals of the unknown section \(section.section)")
      for value in section.changes { next.sections[section.section].totals[value.name] = value.value }
      step.sectionTotals.append(section.section)
    }
  }

  private func fill(
    _ patch: Patch, _ contents: [[SQLValue]], _ next: inout Results, _ step: inout ResultsPatch
  ) throws(FreshetError) {
    if let window = patch.window { next.setWindow(window) }
    for (offset, content) in patch.filled {
      guard let path = next.indexPath(atOffset: offset) else {
        throw FreshetError(.internal, "a row beyond the end of the list")
      }
      let wasLoaded = next.sections[path.section].rows[path.item] != nil
      next.sections[path.section].rows[path.item] = try entry(contents[content])
      if !wasLoaded { step.loaded.append(path) }
    }
    // The source does not send changes outside the window.
    guard let window = next.window else { return }
    next.forget(0..<window.lowerBound)
    next.forget(window.upperBound..<next.count)
  }
}

extension ResultsPatch.Change {
  fileprivate init(_ change: Patch.Change) {
    self.init(from: IndexPath(change.from), to: IndexPath(change.to))
  }
}
