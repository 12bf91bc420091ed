package import LiveQuery

// Keeps the values of subqueries in a query's conditions (`ResultPlan.Scalars`).
extension ResultReader {
  /// The present values.
  ///
  /// - Parameters:
  ///   - reads: whether to read all of them, because kept values may belong to another state.
  ///   - known: values that are results of other lists, by index.
  func scalars(reads: Bool, known: [Int: SQLValue] = [:]) throws(FreshetError) -> [SQLValue] {
    var scalars: [SQLValue] = []
    for (place, index) in plan.alongside.indices.suffix(plan.scalars?.count ?? 0).enumerated() {
      if let value = known[place] {
        scalars.append(value)
        continue
      }
      for value in try values(alongside: index..<index + 1, reads: reads) {
        if let message = value.error { throw FreshetError(.badQuery, message) }
        scalars.append(value.value)
      }
    }
    return scalars
  }

  /// The kept value of a result that is a single value; nil if it is unknown.
  package func keptValue() throws(FreshetError) -> SQLValue? {
    do {
      return try AggregateGroups.keyOfEverything.withUnsafeBytes { everything in
        try withGroupRow(everything) { $0.value(plan.firstColumn + plan.columns.count - 1).value }
      }
    } catch { throw failure(error) }
  }

  /// Brings the values up to date.
  ///
  /// - Parameter known: values that are results of other lists, by index.
  /// - Returns: the units whose result of `where` has changed, and whether that of `having` may have changed; nil if
  ///   the query must be run again.
  package func takeScalars(_ known: [Int: SQLValue]) throws(FreshetError) -> (units: ConcernedUnits, ofAllGroups: Bool)?
  {
    guard let plan = plan.scalars else { return (ConcernedUnits(), false) }
    let now = try scalars(reads: false, known: known)
    if now == memory.scalars { return (ConcernedUnits(), false) }
    var units = ConcernedUnits()
    if let sql = plan.changedSQL {
      try checkSnapshot()
      bind()
      do {
        let statement = try prepared(sql)
        for (index, value) in now.enumerated() { statement.bind(value, at: plan.newParameter + Int32(index)) }
        var unit: [UInt8] = []
        while try statement.step() {
          statement.readKey(plan.orders, statements.encoding, into: &unit)
          unit.withUnsafeBytes { units.add($0, .all) }
        }
      } catch { throw failure(error) }
    } else if !plan.areInHaving {
      return nil
    }
    if plan.areInHaving, memory.groups == nil || self.plan.resultAggregate == nil { return nil }
    memory.scalars = now
    return (units, plan.areInHaving)
  }

  /// All groups of the result.
  package var allGroups: ConcernedUnits {
    plan.resultAggregate.flatMap { memory.groups?[$0].units } ?? ConcernedUnits()
  }
}
