package import ChangeCapture
package import Following
import Ground
import LiveQuery
import Logging
import QueryCompiler
import RankedCollections
package import Requests
import Store

// Brings lists to the state that a tick sees.
extension Lists {
  /// Captures what changed since the last tick, and brings the lists to the transaction's state.
  ///
  /// - Parameter begun: runs that readers have begun since the last tick. The tick stops at the states that they see.
  /// - Throws: the error that keeps the schema from being read. The lists keep what they show.
  package func follow(_ connection: DatabaseConnection, _ begun: [BegunRun]) throws -> CapturedTick {
    let isFirst = connection.capture.hasSeenState == false
    let tick = connection.capture.advance(through: begun.map(\.state))
    note(begun)
    note(numbers.note(tick, connection))
    ages.note(tick, at: numbers.commits.number)
    if !tick.isQuiet { context.statistics.ticks += 1 }
    // A restored capture may report no change, but this connection has not read the schema yet.
    if tick.hasSchemaChanged || isFirst { try takeSchema(of: tick, connection) }
    if !tick.isQuiet { apply(tick, connection) }
    attendToDue()
    return tick
  }

  private func takeSchema(of tick: CapturedTick, _ connection: DatabaseConnection) throws {
    do {
      let schema = try connection.readSchema()
      connection.capture.define { schema.table($0)?.storage?.table }
      schemaChanged(to: schema, isSameFile: !tick.isFirst)
    } catch {
      ages.removeAll()
      // After an error the lists' queries must run again, because capture does not report these changes a second time.
      for list in byQuery.values { mustRunAgain(list, numbers.commits.before) }
      throw error
    }
  }

  /// Brings every list that a tick concerns to its state, except lists whose query must be run again.
  private func apply(_ tick: CapturedTick, _ connection: DatabaseConnection) {
    let before = numbers.commits.before
    evaluation.forEachConcern(of: tick) { concern in
      switch concern {
      case .anything(let shape): mustRunAgain(shape, before)
      case .changes(let shape, let tables, let isAlongside):
        let change = ShapeChange(
          tables: tables, captured: evaluation.capturedRows(shape, tables, tick), isAlongside: isAlongside,
          deadline: connection.deadline, before: before)
        if shape.compiled.plan.aggregates.isEmpty {
          apply(change, to: shape)
        } else {
          followAggregates(of: shape, change, tick)
        }
      }
    }
  }

  /// The changes of a tick for the lists of a shape.
  struct ShapeChange {
    let tables: [ConcernedTable]
    /// The changed rows that results can be brought up to date from.
    let captured: CapturedRows?
    let isAlongside: Bool
    let deadline: Deadline
    /// The number of the last tick's state.
    let before: CommitNumber
  }

  private func apply(_ change: ShapeChange, to shape: QueryShape) {
    do throws(FreshetError) {
      var concerned = try lists(of: shape, concernedBy: change)
      if change.isAlongside {
        let known = Set(concerned.map { ObjectIdentifier($0.list) })
        for list in shape.lists.values where !known.contains(ObjectIdentifier(list)) {
          concerned.append((list, ConcernedUnits()))
        }
      }
      for (list, units) in concerned { update(list, units, change, alongside: change.isAlongside) }
    } catch { fail(shape, error, change.before) }
  }

  func lists(
    of shape: QueryShape, concernedBy change: ShapeChange
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    let rows = change.tables.reduce(0) { $0 + $1.changes.rows.count }
    return try change.deadline.limited(to: Self.followTime, steps: Self.steps(rows)) {
      () throws(FreshetError) in
      let (direct, nested) = shape.compiled.divided(change.tables)
      if nested.isEmpty {
        let concerned = try shape.concerned(by: change.tables, change.captured)
        return concerned.filter { $0.units != nil || !evaluation.concernsNothing($0.list, change.tables) }
      }
      let known = direct.isEmpty ? [] : try shape.concerned(by: direct, nil)
      return try adding(nested, to: known, shape)
    }
  }

  /// Adds the units that changes of tables in subqueries concern.
  private func adding(
    _ nested: [ConcernedTable], to known: [(list: LiveList, units: ConcernedUnits?)], _ shape: QueryShape
  ) throws(FreshetError) -> [(list: LiveList, units: ConcernedUnits?)] {
    var unitsOfList: [ObjectIdentifier: ConcernedUnits?] = [:]
    for (list, units) in known { unitsOfList[ObjectIdentifier(list)] = .some(units) }
    var result: [(list: LiveList, units: ConcernedUnits?)] = []
    for list in shape.lists.values {
      var units = unitsOfList[ObjectIdentifier(list)] ?? ConcernedUnits()
      if units != nil {
        if let more = try evaluation.nestedUnits(of: list, nested) { units!.add(more) } else { units = nil }
      }
      if units?.isEmpty != true { result.append((list, units)) }
    }
    return result
  }

  func fail(_ shape: QueryShape, _ error: FreshetError, _ before: CommitNumber) {
    if error.code == .timeout { return followSlowly(shape, before) }
    for list in shape.lists.values { fail(list, error, before) }
  }

  /// - Parameters:
  ///   - units: the changed units of the result; nil if unknown.
  ///   - isAlongside: whether values alongside the result may have changed.
  func update(_ list: LiveList, _ units: ConcernedUnits?, _ change: ShapeChange, alongside isAlongside: Bool) {
    let before = change.before
    let isCheap = list.compiled.plan.addsToResult && list.reader.addsChanges
    let scalars = isAlongside ? scalars(of: list) : [:]
    let canLookUp =
      units.map { scalars != nil && !list.compiled.isRefetched && (isCheap || !isTooMany($0.count, list)) } ?? false
    let mustLookUp = list.advance {
      $0.changed(
        units, alongside: isAlongside, canLookUp: canLookUp, shown: list.versions.shown(unlessFollowedFrom: before))
    }
    guard mustLookUp, let units, let scalars else { return schedule(list) }
    do throws(FreshetError) {
      let steps =
        Self.steps(units.count, of: list.compiled) + (isAlongside ? Self.stepsAlongside : 0)
        + (list.compiled.hasTotals ? Self.stepsTotals(list.rowCount) : 0)
      let isNew = try change.deadline.limited(to: Self.followTime, steps: steps) {
        () throws(FreshetError) in
        try list.update(units, from: change.captured, alongside: isAlongside, scalars: scalars)
      }
      list.shape.slowTicks = 0
      guard let isNew else { return tellsNothing(list, before) }
      if isNew { noteDirty(list) }
      if list.reader.hasEvaluated {
        context.statistics.evaluatedUnits += units.count
      } else {
        context.statistics.lookedUpUnits += units.count
      }
    } catch {
      if database?.connection.hasLostState == true {
        mustRunAgain(list, before)
      } else if error.code == .timeout {
        mustRunAgain(list, before)
        // If groups are kept, look-ups are rare, so a slow one does not change how the shape is followed.
        if !isCheap, list.compiled.plan.scalars == nil, list.isSlow() { followSlowly(list.shape, before) }
      } else {
        fail(list, error, before)
      }
    }
  }

  /// Whether looking up this many units costs more than running the query again.
  private func isTooMany(_ units: Int, _ list: LiveList) -> Bool {
    // The result's rows are groups, which have many more rows under them.
    let most =
      list.compiled.plan.keepsRows
      ? list.reader.stepsOfRun / Self.stepsOfKeptUnit : list.result.newest.tree.count / 8
    return units > max(1_024, most)
  }

  /// The approximate cost of looking up the rows of a unit under groups, in steps of SQLite's virtual machine.
  private static let stepsOfKeptUnit = 200

  /// The most steps of SQLite's virtual machine that a tick may spend on one list's look-ups. A look-up usually takes
  /// about twenty.
  static func steps(_ lookUps: Int) -> Int { 100_000 + 5_000 * lookUps }
  /// As above, for look-ups of a unit that is a group or partition, or that makes one, and may have some hundred rows.
  private static func steps(_ lookUps: Int, of compiled: CompiledQuery) -> Int {
    compiled.looksUpKeys ? steps(lookUps) : 100_000 + 50_000 * lookUps
  }
  /// As above, for the values of `alongside`. These steps take some milliseconds.
  private static let stepsAlongside = 2_000_000
  /// As above, for totals, which read every row of the list twice: for the whole result, and by section.
  private static func stepsTotals(_ rows: Int) -> Int { 100_000 + 200 * rows }
  /// The most time of such look-ups, because some functions take long in one step.
  static let followTime = Nanoseconds.milliseconds(250)

  /// Called when looking rows up takes too long for a tick.
  func followSlowly(_ shape: QueryShape, _ before: CommitNumber) {
    runFromNowOn(shape, before, because: "looking up the rows that a change concerns takes too long")
  }

  /// The reason for running a query instead of looking up: of equal values SQLite shows the first that it reads, and a
  /// look-up may read them in another order.
  static let ambiguity =
    "a group has values that are equal and not the same, as 1 and 1.0, and which of them SQLite shows depends on the order of the rows"

  /// Called when a look-up could not bring the list up to date.
  func tellsNothing(_ list: LiveList, _ before: CommitNumber) {
    // The kept rows are out of date, and a run reads them again.
    if list.compiled.plan.keepsRows || list.compiled.plan.scalars != nil { return mustRunAgain(list, before) }
    runFromNowOn(list.shape, before, because: Self.ambiguity)
  }

  /// Called when a run has ended. Has its shape followed in another way, if what it keeps is too much or too little.
  func mustFollowOtherwise(_ list: LiveList) {
    if list.reader.dependsOnOrder { return runFromNowOn(list.shape, list.shown, because: Self.ambiguity) }
    guard list.compiled.plan.keepsRows, let other = list.compiled.otherwise,
      list.reader.lacksRows || keepsTooMuch()
    else { return }
    follow(list.shape, list.shown, as: other)
  }

  private func keepsTooMuch() -> Bool {
    byQuery.values.reduce(0) { $0 + $1.reader.keptRowBytes } > context.configuration.keptRowBytes
  }

  /// Has readers run the shape's queries after changes from now on, instead of looking changes up.
  func runFromNowOn(_ shape: QueryShape, _ before: CommitNumber, because reason: String) {
    // If the shape is run again already, its lists only need another run for the changes that led here.
    guard shape.compiled.slowness == nil, database != nil else { return mustRunAgain(shape, before) }
    context.logger.notice(
      "after changes the query is run again from now on",
      metadata: ["from": "\(shape.lists.values.first?.query.from ?? "")", "why": "\(reason)"])
    follow(shape, before, as: shape.compiled.runAgain(because: reason))
  }

  /// Follows the shape's queries in another way.
  private func follow(_ shape: QueryShape, _ before: CommitNumber, as compiled: CompiledQuery) {
    let lists = Array(shape.lists.values)
    guard let first = lists.first?.query, let database else { return }
    do throws(FreshetError) {
      evaluation.forget(shape, of: first, capture)
      let other = try evaluation.shape(of: first, compiled, database)
      for list in lists {
        _ = exchangeStatements(of: list, other)
        mustRunAgain(list, before)
      }
    } catch { for list in lists { fail(list, error, before) } }
  }

  private func mustRunAgain(_ shape: QueryShape, _ before: CommitNumber) {
    for list in shape.lists.values { mustRunAgain(list, before) }
  }

  func mustRunAgain(_ list: LiveList, _ before: CommitNumber) {
    list.advance { $0.mustRunAgain(shown: list.versions.shown(unlessFollowedFrom: before)) }
    schedule(list)
  }

  // MARK: - Failures

  /// Called when a list could not be brought to the tick's state. Final errors end the list; others are reported once
  /// and retried.
  func fail(_ list: LiveList, _ error: FreshetError, _ before: CommitNumber) {
    database?.connection.transaction.restore()
    if error.isOfSchema { return awaitSchema(list.shape, error, before) }
    if error.isFinal { return end(list, error) }
    if error.code == .duplicateKey, list.compiled.hasHiddenRows {
      return runFromNowOn(list.shape, before, because: CompiledQuery.hiddenDuplicates)
    }
    // If the query is compiled again, its key is the rowid, which has no duplicates.
    if error.code == .duplicateKey, list.compiled.plan.rows.rowidName != nil, !list.shape.isOutdated {
      return recompileAsOutdated(list.shape, before)
    }
    context.logger.error(
      "a query cannot be run", metadata: ["error": "\(error.message)", "from": "\(list.query.from)"])
    let shown = list.versions.shown(unlessFollowedFrom: before)
    let (job, isFirst) = list.advance { $0.failed(shown: shown, now: context.clock.now) }
    if let job { jobs.cancel(job) }
    schedule(list)
    if isFirst { note(.announced(list, error)) }
  }

  /// Called when a query that has compiled names a missing table or column. It was compiled for a state of the file
  /// that no tick has seen, such as one in which the file is truncated or partly written. The lists wait until their
  /// queries compile again.
  private func awaitSchema(_ shape: QueryShape, _ error: FreshetError, _ before: CommitNumber) {
    evaluation.outdate(shape)
    let due = context.clock.now + context.intervals.retry
    for list in shape.lists.values {
      outdate(list, before, due: due)
      schedule(list)
      let isFirst = list.advance { $0.doesNotCompile() }
      note(.doesNotCompile(list, error, isFirst: isFirst))
    }
  }

  /// Called when the list was found wrong. Its query is run from scratch, and all subscribers get a snapshot.
  func distrust(_ list: LiveList) {
    list.forgetVersions()
    if let job = list.advance({ [shown = list.shown] in $0.distrusted(shown: shown) }) { jobs.cancel(job) }
    note(.startsOver(list))
    run(list)
  }

  /// Ends a list and all its subscriptions.
  func end(_ list: LiveList, _ error: FreshetError) {
    forget(list)
    note(.ended(list, error))
  }
}

extension CompiledQuery {
  /// Whether a look-up reads one row of a table, with the rows that it joins.
  fileprivate var looksUpKeys: Bool { unit?.isKey == true && !plan.keepsRows }
}

extension LiveList {
  /// Called when look-ups for a change have taken too long.
  ///
  /// - Returns: whether all look-ups are too slow. For rows, this follows from one change; for groups, from several
  ///   changes in a row, because a single change may concern many groups.
  fileprivate func isSlow() -> Bool {
    shape.slowTicks += 1
    return compiled.looksUpKeys || shape.slowTicks > 3
  }
}

extension FreshetError {
  /// Whether only a change of the schema explains the error, if the query has compiled before.
  fileprivate var isOfSchema: Bool { code == .noSuchTable || code == .noSuchColumn }
}
