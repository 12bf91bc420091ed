import Ground
package import LiveQuery
import RankedCollections

// Makes results of aggregates from the kept groups.
extension ResultReader {
  /// Whether changes of the result can be found by arithmetic now.
  package var addsChanges: Bool { memory.groups != nil && statements.prepareSigned() }

  /// Reads all groups of the query's aggregates; nil if it has no aggregates, or too many groups.
  func readGroups() throws(FreshetError) -> [AggregateGroups]? {
    if statements.aggregates.isEmpty { return nil }
    bind()
    var groups: [AggregateGroups] = []
    do throws(SQLiteFailure) {
      for aggregate in statements.aggregates {
        guard let known = try aggregate.readGroups() else { return nil }
        groups.append(known)
      }
    } catch { throw failure(error) }
    return groups
  }

  /// The changes in the groups of an aggregate that come from the changed rows in the virtual tables.
  ///
  /// - Parameter tables: indexes of the aggregate's tables that have changed.
  /// - Returns: nil if the changes are unknown.
  package func groupChanges(
    of aggregate: Int, ofTables tables: [Int]
  ) throws(FreshetError) -> GroupChanges? {
    if tables.isEmpty { return GroupChanges(plan.aggregates[aggregate]) }
    guard plan.aggregates[aggregate].tells(changesOf: tables), statements.prepareSigned(aggregate, tables) else {
      return nil
    }
    bind()
    do throws(SQLiteFailure) { return try statements.aggregates[aggregate].changes(ofTables: tables) } catch {
      throw failure(error)
    }
  }

  /// Brings the groups of an aggregate up to date.
  ///
  /// - Returns: the groups that changed; nil if the query must be run again.
  package func apply(_ changes: GroupChanges, to aggregate: Int) -> ConcernedUnits? {
    guard memory.groups != nil else { return nil }
    var touched = ConcernedUnits()
    if memory.groups![aggregate].apply(changes, plan.aggregates[aggregate], touched: &touched) {
      if plan.totalAggregates.dropFirst().contains(aggregate) { memory.touchedSections.add(touched) }
      return touched
    }
    memory.groups = nil
    return nil
  }

  /// Forgets all groups. Their values are read by SQL until the query is run again.
  package func forgetGroups() { memory.groups = nil }

  /// Marks the kept values of these groups as out of date, so that they are read again when they are needed.
  package func outdate(_ units: ConcernedUnits) {
    if let result = plan.resultAggregate { memory.groups?[result].outdate(units) }
  }

  /// Whether a group of the result has values that only a run of the whole query gives, because SQLite may read its
  /// rows in another order when the group is looked up.
  package var dependsOnOrder: Bool {
    guard let aggregate = orderedAggregate, let groups = memory.groups?[aggregate] else { return false }
    return groups.contains { knownRow($0) == nil }
  }

  /// As above, but looks up groups that are not kept.
  package func dependsOnOrder(_ units: ConcernedUnits) throws(FreshetError) -> Bool {
    guard let aggregate = orderedAggregate else { return false }
    var dependsOnOrder = false
    do {
      try units.forEach { unit, _ in
        if !dependsOnOrder { dependsOnOrder = try self.dependsOnOrder(unit, aggregate) }
      }
    } catch { throw failure(error) }
    return dependsOnOrder
  }

  /// As above, for the groups of rows.
  func dependsOnOrder(_ rows: [SectionedTree.Row]) throws -> Bool {
    guard let aggregate = orderedAggregate else { return false }
    return try rows.contains { place in
      try place.withIdentity { identity in
        if plan.unit?.isKey == true { return try dependsOnOrder(identity, aggregate) }
        return try (memory.keys.unit(of: Array(identity)) ?? []).withUnsafeBytes { try dependsOnOrder($0, aggregate) }
      }
    }
  }

  /// The result's aggregate, if its groups may show the order of rows.
  private var orderedAggregate: Int? {
    plan.resultAggregate.flatMap { plan.aggregates[$0].dependsOnOrder ? $0 : nil }
  }

  private func dependsOnOrder(_ unit: Bytes, _ aggregate: Int) throws -> Bool {
    if addsChanges {
      bind()
      guard case .unknown = try row(of: unit, aggregate) else { return false }
      return true
    }
    try checkSnapshot()
    bind()
    var asked = AggregateGroups(statements.encoding)
    try statements.aggregates[aggregate].ask(unit, in: &asked)
    return asked[Array(unit)].map { knownRow($0) == nil } ?? false
  }

  /// An `alongside` value, computed from its kept groups; nil if it must be read.
  func keptValue(alongside index: Int) throws(FreshetError) -> SQLValue? {
    guard let aggregate = plan.alongsideAggregates[index], addsChanges else { return nil }
    do {
      return try AggregateGroups.keyOfEverything.withUnsafeBytes {
        try withGroupRow(of: aggregate, $0) { $0.value(0).value }
      }
    } catch { throw failure(error) }
  }

  /// Makes the editor agree with the kept groups.
  ///
  /// - Returns: false if the units must be looked up.
  func refreshGroups(_ units: ConcernedUnits, in editor: inout SectionedTreeEditor) throws -> Bool {
    guard addsChanges, let aggregate = plan.resultAggregate, let single = statements.single else { return false }
    bind()
    var shown = ConcernedUnits(reserving: units.count)
    var lookedUp: [[UInt8]] = []
    let isDone = try statements.aggregates[aggregate].withResult { table in
      try units.forEach { unit, columns in
        switch try row(of: unit, aggregate) {
        case .none: shown.add(unit, columns)
        case .known(let values, let calls):
          shown.add(unit, columns)
          table.append(values, calls)
        case .unknown: lookedUp.append(Array(unit))
        }
      }
    } _: { statement in
      try evaluateTogether(shown, statement, in: &editor)
    }
    guard isDone == true else { return false }
    if lookedUp.isEmpty { return true }
    try checkSnapshot()
    for unit in lookedUp { try unit.withUnsafeBytes { try refresh($0, single, in: &editor) } }
    return true
  }

  /// Calls `body` with a statement whose current row is that of a group of the result.
  ///
  /// - Returns: nil if the group must be looked up.
  func withGroupRow<Result>(_ unit: Bytes, _ body: (PreparedStatement) throws -> Result) throws -> Result? {
    guard addsChanges, let aggregate = plan.resultAggregate else { return nil }
    return try withGroupRow(of: aggregate, unit, body)
  }

  /// The values of sections whose totals have changed since the last call.
  func takeTouchedSections() -> ConcernedUnits {
    defer { memory.touchedSections = ConcernedUnits() }
    return memory.touchedSections
  }

  func hasGroup(_ unit: Bytes, of aggregate: Int) -> Bool { memory.groups?[aggregate][Array(unit)] != nil }

  func withGroupRow<Result>(
    of aggregate: Int, _ unit: Bytes, _ body: (PreparedStatement) throws -> Result
  ) throws -> Result? {
    bind()
    var isKnown = false
    let result = try statements.aggregates[aggregate].withResult { table in
      guard case .known(let values, let calls) = try row(of: unit, aggregate) else { return }
      table.append(values, calls)
      isKnown = true
    } _: { statement -> Result? in
      try isKnown && statement.step() ? body(statement) : nil
    }
    return result ?? nil
  }

  private enum GroupRow {
    case none
    case known([KeptValue], [KeptValue])
    /// The kept state does not give the group's values, so its rows must be read.
    case unknown
  }

  private func row(of unit: Bytes, _ aggregate: Int) throws -> GroupRow {
    let key = Array(unit)
    if memory.groups?[aggregate][key]?.isOld == true { try ask(unit, aggregate) }
    guard let group = memory.groups?[aggregate][key] else { return .none }
    if let row = knownRow(group) { return row }
    if group.isAmbiguous { return .unknown }
    // All kept extremes were taken out, so the group is read again.
    try ask(unit, aggregate)
    guard let group = memory.groups?[aggregate][key] else { return .none }
    return knownRow(group) ?? .unknown
  }

  private func ask(_ unit: Bytes, _ aggregate: Int) throws {
    try checkSnapshot()
    guard var groups = memory.groups else { return }
    // If reading fails, the groups are unknown.
    memory.groups = nil
    try statements.aggregates[aggregate].ask(unit, in: &groups[aggregate])
    memory.groups = groups
  }

  private func knownRow(_ group: AggregateGroups.Group) -> GroupRow? {
    if group.isAmbiguous { return nil }
    var calls: [KeptValue] = []
    calls.reserveCapacity(group.calls.count)
    for call in group.calls {
      // If the sum is too large for an integer, looking up the group reports SQLite's error.
      guard let value = (try? call.value) ?? nil else { return nil }
      calls.append(value)
    }
    return .known(group.values, calls)
  }
}
