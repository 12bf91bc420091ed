import ChangeCapture
import LiveQuery
import QueryCompiler
import Store

// Follows lists with aggregates: a tick adds changes to their groups.
extension Lists {
  func followAggregates(of shape: QueryShape, _ change: ShapeChange, _ tick: CapturedTick) {
    var concerned: [ObjectIdentifier: ConcernedUnits?] = [:]
    if !shape.compiled.plan.addsToResult {
      do throws(FreshetError) {
        for (list, units) in try lists(of: shape, concernedBy: change) { concerned[ObjectIdentifier(list)] = units }
      } catch { return fail(shape, error, change.before) }
    }
    for list in shape.lists.values {
      do throws(FreshetError) {
        guard let added = try addChanges(to: list, change, tick) else {
          mustRunAgain(list, change.before)
          continue
        }
        var units = added.units
        if !shape.compiled.plan.addsToResult { units = concerned[ObjectIdentifier(list)] ?? ConcernedUnits() }
        let isAlongside = change.isAlongside || added.concernsAlongside
        if units?.isEmpty == true, !isAlongside { continue }
        update(list, units, change, alongside: isAlongside)
      } catch {
        if error.code == .timeout { return followSlowly(shape, change.before) }
        fail(list, error, change.before)
      }
    }
  }

  /// The changes of a tick in a list's aggregates.
  struct AggregateChange {
    /// The changed groups of the result, some of which may have to be read again. Nil if the result is not an
    /// aggregate, or if the groups are unknown.
    var units: ConcernedUnits?
    var concernsAlongside = false
  }

  /// Adds the changes of a tick to the list's aggregates. If the list is followed, the aggregates then belong to the
  /// tick's state. If a reader is running its query, the changes are logged until the result arrives.
  ///
  /// - Returns: nil if the query must be run again.
  func addChanges(
    to list: LiveList, _ change: ShapeChange, _ tick: CapturedTick
  ) throws(FreshetError) -> AggregateChange? {
    guard let capture else { return nil }
    // Without a WAL, former rows are never known, so everything is read after each commit.
    if capture.comparesTables, list.compiled.plan.resultAggregate == nil { list.reader.forgetGroups() }
    if list.isFollowing, !list.reader.addsChanges { return try lookingUp(list, change) }
    let state = capture.seenState
    let rows = tick.deltas.reduce(0) { $0 + $1.delta.rows.count }
    let steps = try change.deadline.limited(to: Self.followTime, steps: Self.steps(rows)) {
      () throws(FreshetError) in try evaluation.groupSteps(of: list, tick, state)
    }
    if list.machine.isRunning {
      list.groupLog?.append(steps)
      var missed = missed(steps, list.compiled.plan.resultAggregate)
      if list.compiled.plan.resultAggregate != nil, missed.units == nil { missed.units = try units(of: list, change) }
      return missed
    }
    return list.isFollowing ? try apply(steps, to: list, change) : nil
  }

  /// The groups that changed rows lead to, through FROM and through subqueries; nil if they cannot be determined.
  private func units(of list: LiveList, _ change: ShapeChange) throws(FreshetError) -> ConcernedUnits? {
    let rows = change.tables.reduce(0) { $0 + $1.changes.rows.count }
    return try change.deadline.limited(to: Self.followTime, steps: Self.steps(rows)) {
      () throws(FreshetError) in try evaluation.units(of: list, changedBy: change.tables)
    }
  }

  private func missed(_ steps: [GroupStep], _ result: Int?) -> AggregateChange {
    var change = AggregateChange(units: result == nil ? nil : ConcernedUnits())
    for step in steps {
      for (aggregate, changes) in step.changes.enumerated() {
        if aggregate != result {
          change.concernsAlongside = change.concernsAlongside || changes?.isEmpty != true
        } else if let changes {
          changes.addUnits(to: &change.units)
        } else {
          change.units = nil
        }
      }
    }
    return change
  }

  private func apply(
    _ steps: [GroupStep], to list: LiveList, _ concern: ShapeChange
  ) throws(FreshetError) -> AggregateChange? {
    let result = list.compiled.plan.resultAggregate
    var change = AggregateChange(units: result == nil ? nil : ConcernedUnits())
    var isKnown = true
    for step in steps {
      for (aggregate, changes) in step.changes.enumerated() {
        guard let changes else {
          if aggregate != result { return nil }
          isKnown = false
          continue
        }
        guard let touched = list.reader.apply(changes, to: aggregate) else { return nil }
        if aggregate == result {
          change.units?.add(touched)
        } else if !touched.isEmpty {
          change.concernsAlongside = true
        }
      }
    }
    if isKnown { return change }
    // Rows whose former values are unknown still lead to groups, if the group's values come from the first table.
    guard let units = try units(of: list, concern) else { return nil }
    list.reader.outdate(units)
    change.units = units
    return change
  }

  /// Looks up the groups of the result, and has everything else read again, because no groups are kept.
  private func lookingUp(_ list: LiveList, _ concern: ShapeChange) throws(FreshetError) -> AggregateChange? {
    var change = AggregateChange(concernsAlongside: true)
    if list.compiled.plan.resultAggregate == nil { return change }
    guard let units = try units(of: list, concern) else { return nil }
    change.units = units
    return change
  }

  /// Brings a run's aggregates to the tick's state.
  ///
  /// - Parameters:
  ///   - units: the groups of the result that have changed since the state that the run saw.
  ///   - state: the state that the run saw.
  /// - Returns: false if the query must be run again.
  func catchUp(_ list: LiveList, _ units: ConcernedUnits, since state: StateName) -> Bool {
    let plan = list.compiled.plan
    if capture?.comparesTables == true, plan.resultAggregate == nil { list.reader.forgetGroups() }
    // If the rows under groups are kept, they are looked up like the rows of any list.
    guard plan.aggregates.count > (plan.keepsRows ? 1 : 0), list.reader.addsChanges else { return true }
    if let changes = list.groupLog?.changes(after: state) {
      return changes.allSatisfy { step in
        step.enumerated().allSatisfy { list.reader.apply($1, to: $0) != nil }
      }
    }
    // Groups of the result can be read again, but values alongside it cannot.
    if plan.resultAggregate == nil || plan.aggregates.count > 1 { return false }
    list.reader.outdate(units)
    return true
  }
}
