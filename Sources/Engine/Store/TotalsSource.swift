import CSQLite
package import LiveQuery
package import RankedCollections

/// A source of a list's totals.
package protocol TotalsSource {
  /// Sets the totals of an editor's present rows.
  ///
  /// - Parameter units: the units that have changed, and were looked up, since the editor's totals were set; nil if
  ///   anything may have changed.
  /// - Precondition: the rows belong to the state that the transaction sees.
  func setTotals(of editor: inout SectionedTreeEditor, after units: ConcernedUnits?) throws(FreshetError)
}

/// Computes all totals of a list by SQL. O(rows of the list).
struct TotalsByStatement: TotalsSource {
  let reader: ResultReader

  func setTotals(of editor: inout SectionedTreeEditor, after units: ConcernedUnits?) throws(FreshetError) {
    guard let totals = reader.plan.rows.totals, let statements = reader.statements.totals else { return }
    if units?.isEmpty == true { return }
    try reader.checkSnapshot()
    reader.bind()
    do throws(SQLiteFailure) {
      do throws(SQLiteFailure) {
        let whole = try whole(statements.whole, totals.names)
        if let sections = statements.sections { try setSections(sections, totals.names, of: &editor) }
        set(whole, of: &editor)
        reader.memory.hasFailedTotals = false
      } catch {
        // If one total cannot be computed, for example because of an overflow, the others still can.
        guard error.primaryCode == SQLITE_ERROR else { throw error }
        try TotalsOneByOne(reader: reader).setTotals(totals, of: &editor)
        reader.memory.hasFailedTotals = true
      }
    } catch { throw FreshetError(queryFailure: error, place: "totals") }
  }

  private func set(_ whole: [UInt8], of editor: inout SectionedTreeEditor) {
    editor.setTotals(whole)
    if reader.plan.section == nil { editor.setTotals(whole, ofSection: ReadRow.keyOfOnlySection) }
  }

  private func whole(_ statement: PreparedStatement, _ names: [String]) throws(SQLiteFailure) -> [UInt8] {
    defer { statement.reset() }
    _ = try statement.step()
    return packed(statement, from: 0, names)
  }

  private func setSections(
    _ statement: PreparedStatement, _ names: [String], of editor: inout SectionedTreeEditor
  ) throws(SQLiteFailure) {
    guard let order = reader.plan.section else { return }
    defer { statement.reset() }
    var key: [UInt8] = []
    while try statement.step() {
      key.removeAll(keepingCapacity: true)
      PreparedStatement.appendKey(statement.handle, 0, order, reader.statements.encoding, to: &key)
      let totals = packed(statement, from: 1, names)
      key.withUnsafeBytes { editor.setTotals(totals, ofSection: $0) }
    }
  }
}

extension ResultReader {
  /// Whether the query has totals.
  package var hasTotals: Bool { plan.rows.totals != nil }

  package var totals: any TotalsSource {
    if plan.totalAggregates.isEmpty || !addsChanges || memory.hasFailedTotals { return TotalsByStatement(reader: self) }
    return TotalsByArithmetic(reader: self)
  }
}

/// Takes totals from groups that are kept up to date by arithmetic. O(sections that changed).
struct TotalsByArithmetic: TotalsSource {
  let reader: ResultReader

  func setTotals(of editor: inout SectionedTreeEditor, after units: ConcernedUnits?) throws(FreshetError) {
    let byStatement = TotalsByStatement(reader: reader)
    guard units != nil, let names = reader.plan.rows.totals?.names, let whole = reader.plan.totalAggregates.first
    else {
      return try byStatement.setTotals(of: &editor, after: units)
    }
    let before = reader.mustCompare(editor.tree.count) ? editor : nil
    do {
      let isKnown = try setWhole(whole, names, of: &editor) && setSections(whole + 1, names, of: &editor)
      if !isKnown { return try byStatement.setTotals(of: &editor, after: units) }
    } catch { throw reader.failure(error) }
    guard var other = before, (try? byStatement.setTotals(of: &other, after: nil)) != nil else { return }
    let isSame =
      other.tree.totals == editor.tree.totals
      && (0..<editor.tree.sectionCount).allSatisfy {
        other.tree.totals(ofSection: $0) == editor.tree.totals(ofSection: $0)
      }
    if !isSame { fatalError(TotalsByArithmetic.difference(editor.tree, other.tree, reader.plan.rows)) }
  }

  /// A description of the difference between totals by arithmetic and totals that were read.
  private static func difference(_ added: SectionedTree, _ read: SectionedTree, _ rows: ResultPlan.Rows) -> String {
    func text(_ bytes: [UInt8]) -> String {
      [NamedValue](totals: bytes).map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
    }
    let sections = (0..<added.sectionCount).filter { added.totals(ofSection: $0) != read.totals(ofSection: $0) }
    let pairs =
      [(added.totals, read.totals)] + sections.map { (added.totals(ofSection: $0), read.totals(ofSection: $0)) }
    let texts = pairs.map { "(\(text($0)) instead of \(text($1)))" }.joined(separator: "; ")
    return "totals that were added to: \(texts), of \(rows.totals?.wholeSQL ?? "")"
  }

  /// - Returns: false if the totals must be read.
  private func setWhole(_ aggregate: Int, _ names: [String], of editor: inout SectionedTreeEditor) throws -> Bool {
    let totals = try AggregateGroups.keyOfEverything.withUnsafeBytes { key in
      try reader.withGroupRow(of: aggregate, key) { packed($0, from: 0, names) }
    }
    guard let totals else { return false }
    editor.setTotals(totals)
    if reader.plan.section == nil { editor.setTotals(totals, ofSection: ReadRow.keyOfOnlySection) }
    return true
  }

  private func setSections(_ aggregate: Int, _ names: [String], of editor: inout SectionedTreeEditor) throws -> Bool {
    guard reader.plan.totalAggregates.contains(aggregate), let order = reader.plan.section else { return true }
    let touched = reader.takeTouchedSections()
    var key: [UInt8] = []
    var areKnown = true
    try touched.forEach { unit, _ in
      // A section without rows has no group, and needs no totals.
      guard areKnown, reader.hasGroup(unit, of: aggregate) else { return }
      let totals = try reader.withGroupRow(of: aggregate, unit) { statement in
        key.removeAll(keepingCapacity: true)
        PreparedStatement.appendKey(statement.handle, 0, order, reader.statements.encoding, to: &key)
        return packed(statement, from: 1, names)
      }
      guard let totals else { return areKnown = false }
      key.withUnsafeBytes { editor.setTotals(totals, ofSection: $0) }
    }
    return areKnown
  }
}

private func packed(_ statement: PreparedStatement, from first: Int, _ names: [String]) -> [UInt8] {
  var values = PackedValues()
  for (column, name) in names.enumerated() { values.appendTotal(name, statement.value(first + column)) }
  return values.bytes
}
