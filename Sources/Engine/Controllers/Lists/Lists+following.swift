import ChangeCapture
import LiveQuery
import Logging
import QueryCompiler
import RankedCollections
import Store

// Brings lists to the state that a tick sees.
extension Lists {
  /// Captures what changed since the last tick, and brings the lists to the transaction's state.
  ///
  /// - Parameter begun: runs that readers have begun meanwhile: the tick stops at the states that they see.
  /// - Throws: the error that keeps the schema from being read. The lists keep what they show.
  func follow(_ connection: DatabaseConnection, _ begun: [BegunRun]) throws -> CapturedTick {
    var failure: (any Error)?
    var schema = database?.schema
    let tick = connection.capture.advance(through: begun.map(\.state)) { names in
      do { schema = try connection.readSchema() } catch {
        failure = error
        throw error
      }
      return names.map { schema?.table($0)?.storage?.table }
    }
    note(begun)
    note(numbers.note(tick, connection))
    if !tick.isQuiet { context.statistics.ticks += 1 }
    if let failure {
      // Capture does not report these changes again.
      for list in byQuery.values { mustRunAgain(list, numbers.commits.before) }
      throw failure
    }
    if tick.hasSchemaChanged, let schema { schemaChanged(to: schema, isSameFile: !tick.isFirst) }
    if !tick.isQuiet { follow(tick, connection) }
    attendToDue()
    return tick
  }

  /// Brings every list that a tick concerns to its state, except lists whose query must be run again.
  private func follow(_ tick: CapturedTick, _ connection: DatabaseConnection) {
    let before = numbers.commits.before
    evaluation.forEachConcern(of: tick, connection.capture) { concern in
      switch concern {
      case .anything(let shape): mustRunAgain(shape, before)
      case .changes(let shape, let tables, let isAlongside):
        follow(
          shape, tables, evaluation.capturedChanges(shape, tables, tick), isAlongside, connection.deadline, before)
      }
    }
  }

  /// - Parameter before: the number of the last tick's state.
  private func follow(
    _ shape: QueryShape, _ tables: [ConcernedTable], _ captured: CapturedChanges?, _ isAlongside: Bool,
    _ deadline: Deadline, _ before: CommitNumber
  ) {
    let rows = tables.reduce(0) { $0 + $1.changes.count }
    do throws(FreshetError) {
      var concerned = try deadline.limited(to: Self.followTime, steps: Self.steps(rows)) {
        () throws(FreshetError) in try shape.concerned(by: tables)
      }
      if isAlongside {
        let known = Set(concerned.map { ObjectIdentifier($0.list) })
        for list in shape.lists.values where !known.contains(ObjectIdentifier(list)) {
          concerned.append((list, ConcernedUnits()))
        }
      }
      for (list, units) in concerned { follow(list, units, captured, isAlongside, deadline, before) }
    } catch {
      if error.code == .timeout { return followSlowly(shape, before) }
      for list in shape.lists.values { fail(list, error, before) }
    }
  }

  /// - Parameter units: nil: unknown.
  private func follow(
    _ list: LiveList, _ units: ConcernedUnits?, _ captured: CapturedChanges?, _ isAlongside: Bool,
    _ deadline: Deadline, _ before: CommitNumber
  ) {
    let canLookUp = units.map { !list.compiled.isRefetched && !isTooMany($0.count, list) } ?? false
    let mustLookUp = list.advance {
      $0.changed(
        units, alongside: isAlongside, canLookUp: canLookUp, shown: list.versions.shown(unlessFollowedFrom: before))
    }
    guard mustLookUp, let units else { return schedule(list) }
    do throws(FreshetError) {
      let steps = Self.steps(units.count) + (isAlongside ? Self.stepsAlongside : 0)
      let isNew = try deadline.limited(to: Self.followTime, steps: steps) {
        () throws(FreshetError) in try list.follow(units, from: captured, alongside: isAlongside)
      }
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
        followSlowly(list.shape, before)
      } else {
        fail(list, error, before)
      }
    }
  }

  /// Whether so many look-ups cost more than running the query again.
  private func isTooMany(_ units: Int, _ list: LiveList) -> Bool {
    units > max(1_024, list.result.newest.tree.count / 8)
  }

  /// The most steps of SQLite's virtual machine that a tick may spend on one list's look-ups. A look-up usually takes
  /// about twenty.
  private static func steps(_ lookUps: Int) -> Int { 100_000 + 5_000 * lookUps }
  /// The same for `alongside`: some milliseconds.
  private static let stepsAlongside = 2_000_000
  /// The same in time, for functions that take long in one step.
  private static let followTime = Nanoseconds.milliseconds(250)

  /// Looking rows up takes too long for a tick: from now on readers run the shape's queries.
  private func followSlowly(_ shape: QueryShape, _ before: CommitNumber) {
    let lists = Array(shape.lists.values)
    guard shape.compiled.slowness == nil, let first = lists.first?.query, let database else {
      return
    }
    context.logger.notice(
      "looking rows up is slow: the query is run again instead", metadata: ["from": "\(first.from)"])
    do throws(FreshetError) {
      evaluation.forget(shape, of: first, capture)
      let slow = try evaluation.shape(of: first, shape.compiled.runAgain(because: Self.slowness), database)
      for list in lists {
        _ = list.adopt(BoundStatements(list.query, slow, context.settings(of: list.query)))
        mustRunAgain(list, before)
      }
    } catch { for list in lists { fail(list, error, before) } }
  }

  private static let slowness = "looking up the rows that a change concerns takes too long"

  private func mustRunAgain(_ shape: QueryShape, _ before: CommitNumber) {
    for list in shape.lists.values { mustRunAgain(list, before) }
  }

  private func mustRunAgain(_ list: LiveList, _ before: CommitNumber) {
    list.advance { $0.mustRunAgain(shown: list.versions.shown(unlessFollowedFrom: before)) }
    schedule(list)
  }

  // MARK: - Failures

  /// A list could not be brought to the tick's state. Final errors end it; others are reported once and retried.
  func fail(_ list: LiveList, _ error: FreshetError, _ before: CommitNumber) {
    database?.connection.restoreSnapshot()
    if error.isFinal { return end(list, error) }
    context.logger.error(
      "a query cannot be run", metadata: ["error": "\(error.message)", "from": "\(list.query.from)"])
    let shown = list.versions.shown(unlessFollowedFrom: before)
    let (job, isFirst) = list.advance { $0.failed(shown: shown, now: context.clock.now) }
    if let job { jobs.cancel(job) }
    schedule(list)
    if isFirst { note(.announced(list, error)) }
  }

  /// The list was found wrong: its query is run from nothing, and all subscribers get a snapshot.
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

extension FreshetError {
  /// Whether a retry cannot help, or would take too much from the other lists.
  var isFinal: Bool {
    [ErrorCode.duplicateKey, .timeout, .noSuchTable, .noSuchColumn, .badQuery, .notAllowed, .schemaChanged, .tooLarge]
      .contains(code)
  }
}
