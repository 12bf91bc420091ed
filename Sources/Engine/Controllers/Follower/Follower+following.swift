import ChangeCapture
import LiveQuery
import Logging
import QueryCompiler
import RankedCollections
import Store
import Wire

// Following the database.
extension Follower {
  /// Brings every query to the state of the database that the transaction sees, but for those that are to be run again and
  /// were not long ago.
  func follow() throws {
    guard let connection = database?.connection else { return }
    var failure: (any Error)?
    var schema = database?.schema
    let tick = connection.capture.advance(through: begun.map(\.state)) { names in
      do { schema = try connection.readSchema() } catch {
        failure = error
        throw error
      }
      return names.map { schema?.table($0)?.storage?.table }
    }
    noteBegun(connection.capture)
    takeNumber(tick, connection)
    trail.note(tick, connection.capture.state, commit: commit)
    let before = commits.before
    if !tick.isQuiet { statistics.ticks += 1 }
    if let failure {
      // What changed is not told a second time.
      for query in queries.values { mustRunAgain(query, before) }
      throw failure
    }
    if tick.hasSchemaChanged, let schema { schemaChanged(to: schema, isSameFile: !tick.isFirst, before) }
    if !tick.isQuiet { follow(tick, before) }
    attendToDue()
  }

  /// Notes which runs of readers can be joined: those that began in a state that ticks have passed.
  private func noteBegun(_ capture: ChangeCapture) {
    if begun.isEmpty { return }
    for begun in begun {
      guard let query = runs[begun.id], case .running(var run) = query.phase, run.id == begun.id else { continue }
      run.passed = capture.hasPassed(begun.state) ? begun.state : nil
      query.phase = .running(run)
    }
    begun.removeAll(keepingCapacity: true)
  }

  private func follow(_ tick: CapturedTick, _ before: CommitNumber) {
    guard let capture = database?.connection.capture else { return }
    var changes: [CapturedChanges] = []
    changes.reserveCapacity(tick.deltas.count)
    for (number, delta) in tick.deltas {
      var known: TableChanges?
      if !delta.isUnknown, let storage = storages[number] {
        known = TableChanges(delta, of: storage, remembered: capture.rememberedFields(of: number))
      }
      changes.append(CapturedChanges(number: number, changes: known))
    }
    if tick.commits > 0 {
      for shape in shapesOfEveryCommit.values {
        for query in shape.queries.values { mustRunAgain(query, before) }
      }
    }
    // A shape that reads several of the tables is followed once.
    let isOnlyTable = tick.deltas.count == 1
    var followed: Set<ObjectIdentifier> = []
    for (number, _) in tick.deltas {
      for (id, shape) in shapesByTable[number] ?? [:]
      where !shape.isOutdated && shapesOfEveryCommit[id] == nil && (isOnlyTable || followed.insert(id).inserted) {
        follow(shape, changes, before)
      }
    }
  }

  private func follow(_ shape: QueryShape, _ changes: [CapturedChanges], _ before: CommitNumber) {
    guard let connection = database?.connection else { return }
    let compiled = shape.compiled
    guard let tables = shape.captured.changes(of: compiled.tables, among: changes) else {
      for query in shape.queries.values { mustRunAgain(query, before) }
      return
    }
    let isBeside = shape.captured.concernsAlongside(changes)
    let rows = tables.reduce(0) { $0 + $1.changes.count }
    do throws(FreshetError) {
      var concerned = try connection.deadline.limited(
        to: Self.followTime, steps: Self.steps(rows)
      ) { () throws(FreshetError) in try shape.concerned(by: tables) }
      if isBeside {
        let known = Set(concerned.map { ObjectIdentifier($0.query) })
        for query in shape.queries.values where !known.contains(ObjectIdentifier(query)) {
          concerned.append((query, ConcernedUnits()))
        }
      }
      for (query, units) in concerned { follow(query, units, isBeside, before) }
    } catch {
      if error.code == .timeout { return followSlowly(shape, before) }
      for query in shape.queries.values { fail(query, error, before) }
    }
  }

  /// - Parameter units: nil: not known.
  private func follow(
    _ query: FetchedResultsController, _ units: ConcernedUnits?, _ isBeside: Bool, _ before: CommitNumber
  ) {
    if case .running(var run) = query.phase {
      // Kept once, so that it is changed in place.
      query.phase = .stale(shown: run.shown, due: .distantFuture)
      run.missed.add(units, limit: Self.missedLimit)
      run.missed.concernsAlongside = run.missed.concernsAlongside || isBeside
      query.phase = .running(run)
      return
    }
    guard let units, query.isCurrent, !query.compiled.isRefetched, !isTooMany(units.count, query) else {
      return mustRunAgain(query, before)
    }
    do throws(FreshetError) {
      guard let connection = database?.connection else { return }
      let isNew = try connection.deadline.limited(
        to: Self.followTime, steps: Self.steps(units.count) + (isBeside ? Self.stepsBeside : 0)
      ) { () throws(FreshetError) in try query.follow(units, alongside: isBeside) }
      query.hasFailed = false
      if isNew { dirty[ObjectIdentifier(query)] = query }
    } catch {
      if error.code == .timeout {
        mustRunAgain(query, before)
        followSlowly(query.shape, before)
      } else {
        fail(query, error, before)
      }
    }
  }

  /// So many look-ups cost more than running the query again.
  private func isTooMany(_ units: Int, _ query: FetchedResultsController) -> Bool {
    units > max(1_024, query.result.newest.tree.count / 8)
  }

  /// What a tick may take for one query's look-ups, in steps of SQLite's machine: some twenty a look-up is usual.
  static func steps(_ lookUps: Int) -> Int { 100_000 + 5_000 * lookUps }
  /// For what is alongside: some milliseconds.
  private static let stepsBeside = 2_000_000
  /// The same in time, for functions that are slow in one step.
  static let followTime = Nanoseconds.milliseconds(250)

  /// Looking rows up takes too long for a tick: from now on readers run the shape's queries again.
  func followSlowly(_ shape: QueryShape, _ before: CommitNumber) {
    let queries = Array(shape.queries.values)
    guard shape.compiled.slowness == nil, let first = queries.first?.query else { return }
    logger.notice("looking rows up is slow: the query is run again instead", metadata: ["from": "\(first.from)"])
    do throws(FreshetError) {
      forget(shape, first.withoutValues)
      let slow = try self.shape(of: first, shape.compiled.runAgain(because: Self.slowness))
      for query in queries {
        _ = query.adopt(slow, settings(of: query.query))
        mustRunAgain(query, before)
      }
    } catch { for query in queries { fail(query, error, before) } }
  }

  private static let slowness = "looking up the rows that a change concerns takes too long"
}

// Running queries again.
extension Follower {
  /// A reader has to run a query: now, or when some time has passed since the last run.
  ///
  /// - Parameter before: the number of the state that it shows until then.
  func mustRunAgain(_ query: FetchedResultsController, _ before: CommitNumber) {
    switch query.phase {
    case .following:
      query.phase = .stale(shown: query.shown(unlessFollowedFrom: before), due: nextRun(of: query))
    case .stale(let shown, let due): query.phase = .stale(shown: shown, due: min(due, nextRun(of: query)))
    case .running(var run):
      run.missed.units = nil
      query.phase = .running(run)
    }
    scheduleRun(of: query)
  }

  /// When a query may be run again: half of the time at most, and not too often.
  func nextRun(of query: FetchedResultsController) -> Instant {
    let (end, duration) = query.lastRun
    return end + max(intervals.refetch, duration)
  }

  /// Has a query looked at when it is to be run again.
  func scheduleRun(of query: FetchedResultsController) {
    if let due = due(query) { deadlines.wake(query, at: due) }
  }

  private func due(_ query: FetchedResultsController) -> Instant? {
    switch query.phase {
    case .following: query.refreshDue == .distantFuture ? nil : query.refreshDue
    case .stale(_, let due): min(due, query.refreshDue)
    case .running: nil
    }
  }

  /// Looks at the queries whose time has come.
  func attendToDue() {
    let now = clock.now
    for query in deadlines.takeDue(now) {
      if letGoIfIdle(query, now) { continue }
      if let due = due(query) {
        if due > now { deadlines.wake(query, at: due) } else if mayRun(query) { run(query) }
      }
      // Its subscriptions and waiting requests are looked at when the tick sends.
      dirty[ObjectIdentifier(query)] = query
    }
  }

  /// A query could not be followed. Some things no later try mends; others are told once, and tried again.
  func fail(_ query: FetchedResultsController, _ error: FreshetError, _ before: CommitNumber) {
    database?.connection.restoreSnapshot()
    if error.isFinal { return end(query, error) }
    logger.error("a query cannot be run", metadata: ["error": "\(error.message)", "from": "\(query.query.from)"])
    if case .running = query.phase { cancelRun(of: query) }
    query.phase = .stale(
      shown: query.shown(unlessFollowedFrom: before), due: clock.now + intervals.retry)
    scheduleRun(of: query)
    if query.hasFailed { return }
    query.hasFailed = true
    for subscription in query.subscriptions.values {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }

  /// Ends all subscriptions of a query with an error.
  func end(_ query: FetchedResultsController, _ error: FreshetError) {
    for subscription in query.subscriptions.values { end(subscription, error) }
    for waiter in query.waiters { waiter.request.reply(.failure(error)) }
    query.waiters = []
    rejectBlocked(query, error)
    for request in query.reads.flatMap(\.requests) { request.reply(.failure(error)) }
    forget(query)
  }

  func end(_ subscription: Subscription, _ error: FreshetError) {
    remove(subscription)
    output.subscriptionEnded(subscription.key, because: error.code)
    output.send(.error(error, isFatal: true), to: subscription)
  }

  func cancelRun(of query: FetchedResultsController) {
    guard case .running(let run) = query.phase else { return }
    readers.cancel(run.id)
    runs[run.id] = nil
    query.phase = .stale(shown: run.shown, due: .distantFuture)
  }

  /// Nobody follows the query any more.
  func forget(_ query: FetchedResultsController) {
    let id = ObjectIdentifier(query)
    if queries[query.query] === query { queries[query.query] = nil }
    dirty[id] = nil
    deadlines.remove(query)
    cancelRun(of: query)
    for read in query.reads where read.contents == nil {
      readers.cancel(read.id)
      queriesByRead[read.id] = nil
    }
    freedRows += query.rowCount + FetchedResultsController.rowsWorthOfStatements
    query.close()
    if query.shape.queries.isEmpty { forget(query.shape, query.query.withoutValues) }
  }
}

extension FreshetError {
  /// Whether trying again cannot help, or would cost the other lists what it takes.
  var isFinal: Bool {
    [ErrorCode.duplicateKey, .timeout, .noSuchTable, .noSuchColumn, .badQuery, .notAllowed, .schemaChanged, .tooLarge]
      .contains(code)
  }
}
