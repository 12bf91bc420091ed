import Ground
package import LiveQuery
package import RankedCollections

// Looks up changes.
extension ResultReader {
  /// Looks up units that may have changed, and makes the editor agree with their present rows.
  ///
  /// For a unit that has not changed, only the look-up is done. O(units × log n).
  ///
  /// - Parameter captured: the changed rows that lead to the units, if nothing else changed them; nil if the units must
  ///   be looked up.
  /// - Throws: `duplicate_key`; the editor must not be used then.
  package func refresh(
    _ units: ConcernedUnits, from captured: CapturedRows? = nil, in editor: inout SectionedTreeEditor
  ) throws(FreshetError) {
    guard let single = statements.single, let unit = plan.unit else { return }
    forgetContents()
    hasEvaluated = false
    if let captured {
      let before = mustCompare(editor.tree.count) ? editor : nil
      if try refresh(units, evaluating: captured, in: &editor) {
        if let before { compare(editor, to: units, before) }
        hasEvaluated = true
        return
      }
    }
    if plan.resultAggregate != nil, !isComparing {
      let before = mustCompare(editor.tree.count) ? editor : nil
      do {
        if try refreshGroups(units, in: &editor) {
          if let before { compare(editor, to: units, before) }
          hasEvaluated = true
          return
        }
      } catch { throw failure(error) }
      forgetContents()
    }
    try checkSnapshot()
    let isBatch = unit.isKey && units.count >= ResultPlan.Unit.batchSize && statements.prepareBatch()
    bind()
    do {
      if !unit.isKey {
        try refreshAll(units, single, in: &editor)
      } else if try !isBatch || !refreshTogether(units, single, in: &editor) {
        forgetContents()
        try units.forEach { unit, _ in try refresh(unit, single, in: &editor) }
      }
      try editor.refreshLabels { identity in try withRow(identity: identity) { row.label($0) } }
    } catch { throw failure(error) }
  }

  /// Frees the contents that the last `refresh` read, once they are not needed any more.
  package func forgetContents() { recent.removeAll() }

  /// Looks up a unit that is a key, and so has at most one row.
  func refresh(_ unit: Bytes, _ single: PreparedStatement, in editor: inout SectionedTreeEditor) throws {
    defer { single.reset() }
    bind(unit, to: single)
    var isFirst = true
    while try single.step() {
      row.readWhole(single)
      try row.withParts { section, label, entry in
        if isFirst {
          let identity = RankedEntry.identity(of: entry)
          // Under NOCASE a key also finds a row that is spelled differently now. If so, the row with the former
          // spelling is removed.
          if !unit.equals(identity) { editor.remove(unit) }
          recent.keep(identity, row)
          editor.put(section: section, label: label, entry: entry, stamp: row.stamp)
          try check(rows: editor.tree.count, bytes: 0)
        } else {
          try insert(section, label, entry, in: &editor)
        }
      }
      isFirst = false
    }
    if isFirst { editor.remove(unit) }
  }

  /// Looks up units that are keys, many at a time, and then changes the tree once for all of them.
  ///
  /// - Returns: false, and nothing is changed, if several rows have the same key, because their order matters then.
  private func refreshTogether(
    _ units: ConcernedUnits, _ single: PreparedStatement, in editor: inout SectionedTreeEditor
  ) throws -> Bool {
    guard let batch = statements.batch else { return false }
    recent.reserve(units.count)
    var changes = RowBatch(reserving: units.count)
    var next = 0
    while next < units.count {
      let isWhole = next + ResultPlan.Unit.batchSize <= units.count
      let places = next..<next + (isWhole ? ResultPlan.Unit.batchSize : 1)
      guard try note(places, of: units, isWhole ? batch : single, &changes, editor) else { return false }
      next = places.upperBound
    }
    editor.apply(changes)
    try check(rows: editor.tree.count, bytes: 0)
    return true
  }

  /// Looks up as many units as the statement has places for, and notes the changes.
  private func note(
    _ places: Range<Int>, of units: ConcernedUnits, _ statement: PreparedStatement, _ changes: inout RowBatch,
    _ editor: borrowing SectionedTreeEditor
  ) throws -> Bool {
    defer { statement.reset() }
    for place in places { units.withUnit(place) { bind($0, to: statement, place: place - places.lowerBound) } }
    // The places whose row was found, one bit for each.
    var found: UInt64 = 0
    while try statement.step() {
      let place = places.count == 1 ? 0 : Int(statement.integer(contentColumns.upperBound))
      if found & 1 << UInt64(place) != 0 { return false }
      found |= 1 << UInt64(place)
      row.readWhole(statement)
      let isNew = row.withParts { section, label, entry in
        let identity = RankedEntry.identity(of: entry)
        units.withUnit(places.lowerBound + place) { unit in
          if !unit.equals(identity) { changes.remove(unit, from: editor) }
        }
        changes.put(section: section, label: label, entry: entry, stamp: row.stamp, in: editor)
        return recent.keep(identity, row)
      }
      if !isNew { return false }
    }
    for place in places where found & 1 << UInt64(place - places.lowerBound) == 0 {
      units.withUnit(place) { changes.remove($0, from: editor) }
    }
    return true
  }

  /// Looks up all units. A key may have moved from one unit to another, so all former rows are removed before present
  /// rows are inserted.
  private func refreshAll(
    _ units: ConcernedUnits, _ single: PreparedStatement, in editor: inout SectionedTreeEditor
  ) throws {
    units.forEach { unit, _ in remove(rowsOf: Array(unit), in: &editor) }
    var readOtherwise: Set<[UInt8]> = []
    try units.forEach { unit, _ in
      if !readOtherwise.isEmpty, readOtherwise.contains(Array(unit)) { return }
      defer { single.reset() }
      bind(unit, to: single)
      var isSpelledOtherwise = false
      while try single.step() {
        row.readWhole(single)
        // Under NOCASE a unit also finds rows of units that are spelled differently now, and then all rows of these.
        if !isSpelledOtherwise, !row.unit.withUnsafeBytes({ $0.equals(unit) }) {
          isSpelledOtherwise = true
          readOtherwise.insert(row.unit)
          remove(rowsOf: row.unit, in: &editor)
        }
        try row.withParts { section, label, entry in try insert(section, label, entry, in: &editor) }
        memory.keys.remember(row.identity, of: row.unit)
      }
    }
  }

  private func remove(rowsOf unit: [UInt8], in editor: inout SectionedTreeEditor) {
    for key in memory.keys.forget(unit) { _ = key.withUnsafeBytes { editor.remove($0) } }
  }

  private func insert(
    _ section: Bytes, _ label: Bytes, _ entry: Bytes, in editor: inout SectionedTreeEditor
  ) throws {
    guard editor.insert(section: section, label: label, entry: entry, stamp: row.stamp) else {
      throw SectionedTreeBuilder.DuplicateIdentity(identity: Array(RankedEntry.identity(of: entry)))
    }
    try check(rows: editor.tree.count, bytes: 0)
  }
}
