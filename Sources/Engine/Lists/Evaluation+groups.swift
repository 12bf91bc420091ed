import ChangeCapture
import LiveQuery
import QueryCompiler
import Store

/// The changes that one step of a tick makes in a list's aggregates.
struct GroupStep {
  /// The state that the step leads to.
  let state: StateName
  /// The changes of each aggregate; nil if they are unknown.
  let changes: [GroupChanges?]
}

// Follows aggregates that are kept up to date by arithmetic.
extension Evaluation {
  /// Evaluates a list's aggregates over the former and present values of changed rows, step by step.
  ///
  /// - Parameter state: the tick's state.
  func groupSteps(
    of list: LiveList, _ tick: CapturedTick, _ state: StateName
  ) throws(FreshetError) -> [GroupStep] {
    var steps: [GroupStep] = []
    for step in Set(tick.deltas.indices.map(tick.step(ofDelta:))).sorted() {
      var ofAggregates: [GroupChanges?] = []
      for (aggregate, plan) in list.compiled.plan.aggregates.enumerated() {
        if plan.rows != nil {
          ofAggregates.append(try list.reader.groupChanges(of: aggregate, ofTables: []))
          continue
        }
        let concerned = list.shape.captured.concernedTables(
          ofAggregate: aggregate, list.compiled.aggregateTables[aggregate], tick, from: step)
        // Rows that are joined can be read only in the tick's own state.
        let isReadable = !concerned.contains { $0.step > step } || !joins(aggregate, of: list)
        let now = concerned.filter { $0.step == step }
        ofAggregates.append(isReadable || now.isEmpty ? try groupChanges(of: aggregate, of: list, now) : nil)
      }
      steps.append(
        GroupStep(state: step < tick.stops.count ? tick.stops[step].state : state, changes: ofAggregates))
    }
    return steps
  }

  private func joins(_ aggregate: Int, of list: LiveList) -> Bool {
    list.compiled.aggregateTables[aggregate].count > 1 || list.compiled.plan.aggregates[aggregate].signed.count > 1
  }

  /// - Returns: nil if a changed row is unknown, or if signed changes of its table are not followed.
  private func groupChanges(
    of aggregate: Int, of list: LiveList, _ tables: [ConcernedTable]
  ) throws(FreshetError) -> GroupChanges? {
    var shown: [CapturedRows] = []
    defer { for rows in shown { rows.hide() } }
    for table in tables {
      guard list.compiled.plan.aggregates[aggregate].added.contains(table.index),
        let rows = capturedRows[table.number],
        rows.showSigned(table.changes, in: list.compiled.aggregateTables[aggregate][table.index].usedColumns)
      else { return nil }
      shown.append(rows)
    }
    return try list.reader.groupChanges(of: aggregate, ofTables: tables.map(\.index))
  }
}
