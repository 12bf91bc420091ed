import ChangeCapture
import LiveQuery
import Logging
import RankedCollections
import Store

// Following the database.
extension WorkerLoop {
  /// Brings every query to the state of the database that the transaction sees, but for those that are to be run again and
  /// were not long ago.
  func follow() throws {
    guard let connection = database?.connection else { return }
    let before = commit
    var failure: (any Error)?
    var schema = database?.schema
    let tick = connection.capture.advance { names in
      do { schema = try connection.readSchema() } catch {
        failure = error
        throw error
      }
      return names.map { schema?.table($0)?.storage?.table }
    }
    commit += tick.commits
    if !tick.isQuiet { statistics.ticks += 1 }
    if let failure {
      // What changed is not told a second time.
      for query in queries.values { mustRefetch(query, before) }
      throw failure
    }
    if tick.hasSchemaChanged, let schema { recompile(for: schema, isSameFile: !tick.isFirst) }
    if !tick.isQuiet { follow(tick, before) }
    refetchDue()
  }

  private func follow(_ tick: CapturedTick, _ before: Int64) {
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
        for query in shape.queries.values { mustRefetch(query, before) }
      }
    }
    // A shape that reads several of the tables is followed once.
    let isOnlyTable = tick.deltas.count == 1
    var followed: Set<ObjectIdentifier> = []
    for (number, _) in tick.deltas {
      for (id, shape) in shapesByTable[number] ?? [:]
      where shapesOfEveryCommit[id] == nil && (isOnlyTable || followed.insert(id).inserted) {
        follow(shape, changes, before)
      }
    }
  }

  private func follow(_ shape: QueryShape, _ changes: [CapturedChanges], _ before: Int64) {
    guard let database else { return }
    let compiled = shape.compiled
    guard let tables = shape.captured.changes(of: compiled.tables, among: changes) else {
      for query in shape.queries.values { mustRefetch(query, before) }
      return
    }
    let isBeside = shape.captured.concernsAlongside(changes)
    do throws(FreshetError) {
      var concerned = try database.connection.deadline.limited(milliseconds: configuration.queryTimeout) {
        () throws(FreshetError) in try shape.concerned(by: tables)
      }
      if isBeside {
        let known = Set(concerned.map { ObjectIdentifier($0.query) })
        for query in shape.queries.values where !known.contains(ObjectIdentifier(query)) {
          concerned.append((query, ConcernedUnits()))
        }
      }
      for (query, units) in concerned {
        if let units, query.pending == nil, !compiled.isRefetched, !isTooMany(units.count, query) {
          follow(query, before) { () throws(FreshetError) in try query.follow(units, alongside: isBeside) }
        } else {
          mustRefetch(query, before)
        }
      }
    } catch {
      for query in shape.queries.values { fail(query, error, before) }
    }
  }

  /// So many look-ups cost more than running the query again.
  private func isTooMany(_ units: Int, _ query: FollowedQuery) -> Bool {
    units > max(1_024, query.controller.newest.tree.count / 8)
  }

  /// Changes a query's version, in the time that a query may take.
  private func follow(_ query: FollowedQuery, _ before: Int64, _ change: () throws(FreshetError) -> Bool) {
    do throws(FreshetError) {
      guard let database else { return }
      let isNew = try database.connection.deadline.limited(milliseconds: configuration.queryTimeout, change)
      query.hasFailed = false
      if isNew { dirty[ObjectIdentifier(query)] = query }
    } catch { fail(query, error, before) }
  }
}

// Running queries again.
extension WorkerLoop {
  /// A query has to be run again: now, or when some time has passed since the last.
  ///
  /// - Parameter before: the commit whose state it shows until then.
  func mustRefetch(_ query: FollowedQuery, _ before: Int64) {
    let (end, duration) = query.lastRefetch
    let due = end == 0 ? 0 : end + max(UInt64(configuration.refetchInterval) * 1_000_000, duration)
    query.pending = .init(commit: query.pending?.commit ?? before, due: due)
    timed[ObjectIdentifier(query)] = query
  }

  func refetchDue() {
    let now = monotonicNanoseconds()
    for query in timed.values {
      let due = min(query.pending?.due ?? .max, query.refreshDue)
      if due <= now {
        refetch(query)
      } else {
        nextDue = min(nextDue, due)
      }
      if query.pending == nil, query.refreshDue == .max { timed[ObjectIdentifier(query)] = nil }
    }
  }

  /// Brings a query to the state that the transaction sees, if it is not there.
  func bringToNow(_ query: FollowedQuery) { if query.pending != nil { refetch(query) } }

  private func refetch(_ query: FollowedQuery) {
    statistics.refetches += 1
    follow(query, query.pending?.commit ?? commit) { () throws(FreshetError) in try query.refetch() }
    nextDue = min(nextDue, query.refreshDue)
  }

  /// The state of the database that a query shows.
  func commit(of query: FollowedQuery) -> Int64 { query.pending?.commit ?? commit }

  /// A query could not be followed. Some things no later try mends; others are told once, and tried again.
  func fail(_ query: FollowedQuery, _ error: FreshetError, _ before: Int64) {
    database?.connection.restoreSnapshot()
    if error.isFinal { return end(query, error) }
    logger.error("a query cannot be run", metadata: ["error": "\(error.message)", "from": "\(query.query.from)"])
    let due = monotonicNanoseconds() + retryInterval
    query.pending = .init(commit: query.pending?.commit ?? before, due: due)
    timed[ObjectIdentifier(query)] = query
    nextDue = min(nextDue, due)
    if query.hasFailed { return }
    query.hasFailed = true
    for subscription in query.subscriptions.values {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }

  var retryInterval: UInt64 { UInt64(configuration.retryInterval) * 1_000_000 }

  /// Ends all subscriptions of a query with an error.
  func end(_ query: FollowedQuery, _ error: FreshetError) {
    for subscription in query.subscriptions.values { end(subscription, error) }
    for waiter in query.waiters { waiter.request.reply(.failure(error)) }
    query.waiters = []
    forget(query)
  }

  func end(_ subscription: Subscription, _ error: FreshetError) {
    subscription.deferred = []
    remove(subscription)
    output.subscriptionEnded(subscription.key)
    output.send(.error(error, isFatal: true), to: subscription)
  }

  /// Nobody follows the query any more.
  func forget(_ query: FollowedQuery) {
    let id = ObjectIdentifier(query)
    if queries[query.query] === query { queries[query.query] = nil }
    dirty[id] = nil
    timed[id] = nil
    waiting[id] = nil
    idle[id] = nil
    hasFreedMuch = hasFreedMuch || query.isLarge
    query.close()
    if query.shape.queries.isEmpty { forget(query.shape, query.query.withoutValues) }
  }
}

extension FreshetError {
  /// Whether trying again cannot help, or would cost the other lists what it takes.
  var isFinal: Bool {
    [ErrorCode.duplicateKey, .timeout, .noSuchTable, .noSuchColumn, .badQuery, .notAllowed, .schemaChanged, .tooLarge]
      .contains(
        code)
  }
}
