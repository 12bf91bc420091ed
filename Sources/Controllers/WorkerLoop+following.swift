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
    let schemaVersion = try connection.schemaVersion()
    let hasMoved = connection.takeChange()
    if schemaVersion != database?.schemaVersion {
      try readSchema()
    } else if let changes = try readLog() {
      if hasMoved || !changes.isEmpty { tick(changes, hasMoved, before) }
    } else {
      // What happened is not known. The list of tables may be another one too, which the schema does not tell.
      try readSchema()
    }
    refetchDue()
  }

  func advanceCommit() {
    commit += 1
    statistics.ticks += 1
  }

  /// What the log tells since the last time; nil: it does not tell.
  private func readLog() throws -> [Int64: TableChanges]? {
    guard let open = database, let log = open.log else { return [:] }
    let (schema, sequence, encoding) = (open.schema, open.sequence, open.connection.encoding)
    var changes: [Int64: TableChanges] = [:]
    // One table's changes follow one another, mostly.
    var table: TrackedTable?
    var ofTable = TableChanges()
    let outcome: ReadOutcome
    do {
      outcome = try log.read(after: sequence) { change in
        if change.table != table?.id {
          if let table { changes[table.id] = ofTable }
          table = schema.table(id: change.table)?.tracked
          ofTable = changes.removeValue(forKey: change.table) ?? TableChanges()
        }
        guard let table else { return }
        ofTable.note(change, of: table, encoding: encoding)
        self.statistics.changes += 1
      }
      if let table { changes[table.id] = ofTable }
    } catch {
      guard error.code == ErrorCode.notTracked else { throw error }
      database?.log = nil
      return nil
    }
    database?.sequence = outcome.newest
    if case .gap = outcome {
      if outcome.newest < sequence { output.epochChanged() }
      return nil
    }
    return changes
  }

  /// Something was committed.
  private func tick(_ changes: [Int64: TableChanges], _ hasMoved: Bool, _ before: Int64) {
    guard let schema = database?.schema else { return }
    let isUnlogged = hasMoved && !schema.isWhollyTracked
    // A checkpoint, or a change of what nobody logs and nobody reads.
    if changes.isEmpty, !isUnlogged { return }
    advanceCommit()
    var touched: [ObjectIdentifier: QueryShape] = [:]
    var byName: [String: TableChanges] = [:]
    for (id, changes) in changes {
      guard let name = schema.table(id: id)?.name.lowercased() else { continue }
      byName[name] = changes
      touched.merge(shapesByTable[name] ?? [:]) { shape, _ in shape }
    }
    if isUnlogged {
      for table in schema.tables where table.tracked == nil {
        for shape in (shapesByTable[table.name.lowercased()] ?? [:]).values {
          touched[ObjectIdentifier(shape)] = nil
          for query in shape.queries.values { mustRefetch(query, before) }
        }
      }
    }
    for shape in touched.values { follow(shape, byName, before) }
  }

  private func follow(_ shape: QueryShape, _ changes: [String: TableChanges], _ before: Int64) {
    let compiled = shape.compiled
    let tables = compiled.tables.enumerated().compactMap { index, table in
      changes[table.name.lowercased()].map { (index: index, changes: $0) }
    }
    let isBeside = compiled.alongside.contains { value in
      value.tables.contains { name, columns in changes[name]?.meets(columns) == true }
    }
    do throws(FreshetError) {
      guard let database else { return }
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
    // Time and chance give another result of the same state: it is another state to clients.
    if query.pending == nil { commit += 1 }
    follow(query, query.pending?.commit ?? commit) { () throws(FreshetError) in try query.refetch() }
    nextDue = min(nextDue, query.refreshDue)
  }

  /// The state of the database that a query shows.
  func commit(of query: FollowedQuery) -> Int64 { query.pending?.commit ?? commit }

  /// A query could not be followed. Some things no later try mends; others are told once, and tried again.
  func fail(_ query: FollowedQuery, _ error: FreshetError, _ before: Int64) {
    if error.isFinal { return end(query, error) }
    logger.error("a query cannot be run", metadata: ["error": "\(error.message)", "from": "\(query.query.from)"])
    query.pending = .init(commit: query.pending?.commit ?? before, due: monotonicNanoseconds() + Self.retryInterval)
    timed[ObjectIdentifier(query)] = query
    nextDue = min(nextDue, monotonicNanoseconds() + Self.retryInterval)
    if query.hasFailed { return }
    query.hasFailed = true
    for subscription in query.subscriptions.values {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }

  private static let retryInterval: UInt64 = 1_000_000_000

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
