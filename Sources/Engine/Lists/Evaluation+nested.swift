import LiveQuery
import QueryCompiler
import Store

// Follows changes of tables that correlated subqueries read.
extension Evaluation {
  /// The units of a list that changes concern, through FROM and through subqueries.
  ///
  /// - Returns: nil if the units cannot be determined.
  func units(of list: LiveList, changedBy tables: [ConcernedTable]) throws(FreshetError) -> ConcernedUnits? {
    let (direct, nested) = list.compiled.divided(tables)
    guard var units = try list.shape.units(of: list, changedBy: direct) else { return nil }
    if nested.isEmpty { return units }
    guard let more = try nestedUnits(of: list, nested) else { return nil }
    units.add(more)
    return units
  }

  /// The units of a list that changes of tables in its subqueries concern.
  ///
  /// - Returns: nil if the units cannot be determined, so that the query must be run again.
  func nestedUnits(of list: LiveList, _ tables: [ConcernedTable]) throws(FreshetError) -> ConcernedUnits? {
    var units = ConcernedUnits()
    let steps = Set(tables.map(\.step)).sorted()
    // The conditions that rows met in an intermediate state are unknown.
    if steps.count > 1, Set(tables.map(\.index)).count > 1 { return nil }
    for step in steps {
      var shown: [CapturedRows] = []
      defer { for rows in shown { rows.hide() } }
      var indexes: [Int] = []
      for table in tables where table.step == step {
        let used = list.compiled.tables[table.index].usedColumns
        if !table.changes.meets(used) { continue }
        // Queries that are run again need no units.
        if list.compiled.slowness != nil { return nil }
        guard let rows = capturedRows[table.number], rows.showSigned(table.changes, in: used) else {
          return nil
        }
        shown.append(rows)
        indexes.append(table.index)
      }
      if indexes.isEmpty { continue }
      let isKnown = try list.shape.statements.addUnits(
        nested: indexes, binding: { list.reader.bind() }, to: &units)
      if !isKnown { return nil }
    }
    return units
  }
}

// Handles changes that make a query run again.
extension Evaluation {
  /// Whether changes of some tables certainly do not concern a list, although its units are unknown.
  func concernsNothing(_ list: LiveList, _ tables: [ConcernedTable]) -> Bool {
    tables.allSatisfy { table in
      let used = list.compiled.tables[table.index].usedColumns
      if !table.changes.meets(used) { return true }
      guard list.compiled.tables[table.index].tellsWhatPasses, let rows = capturedRows[table.number],
        rows.showSigned(table.changes, in: used)
      else { return false }
      defer { rows.hide() }
      let mayPass = try? list.shape.statements.mayPass(table: table.index) { list.reader.bind() }
      return mayPass == false
    }
  }
}

extension CompiledQuery {
  /// Divides changed tables into those that FROM reads and those that subqueries read. A table that both read is in
  /// both.
  func divided(_ tables: [ConcernedTable]) -> (direct: [ConcernedTable], nested: [ConcernedTable]) {
    let nested = tables.filter { nestedTables.contains($0.index) }
    if nested.isEmpty { return (tables, []) }
    return (tables.filter { !nestedTables.contains($0.index) || !self.tables[$0.index].mappings.isEmpty }, nested)
  }
}
