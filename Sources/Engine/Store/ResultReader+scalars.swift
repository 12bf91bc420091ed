package import LiveQuery

// Values that stand in a query's conditions (`ResultPlan.Scalars`).
extension ResultReader {
  /// The values as they are.
  ///
  /// - Parameter reads: whether to read all of them: what is kept may be of another state.
  func scalars(reads: Bool) throws(FreshetError) -> [SQLValue] {
    var scalars: [SQLValue] = []
    for value in try values(alongside: plan.alongside.indices.suffix(plan.scalars?.count ?? 0), reads: reads) {
      if let message = value.error { throw FreshetError(.badQuery, message) }
      scalars.append(value.value)
    }
    return scalars
  }

  /// Brings the values up to date.
  ///
  /// - Returns: the units for which `where` has changed, and whether `having` has; nil: the query must be run again.
  package func takeScalars() throws(FreshetError) -> (units: ConcernedUnits, ofAllGroups: Bool)? {
    guard let plan = plan.scalars else { return (ConcernedUnits(), false) }
    let now = try scalars(reads: false)
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
