import ChangeCapture
import LiveQuery
import RankedCollections
import Store

// What clients ask. Every command is answered at the state of the database that the turn sees.
extension WorkerLoop {
  func perform(_ command: WorkerCommand) {
    // What fails is that command's alone.
    defer { database?.connection.restoreSnapshot() }
    switch command {
    case .subscribe(let command): subscribe(command)
    case .request(let key, let request, let ticket): perform(request, key, ticket)
    case .unsubscribe(let key): unsubscribe(key)
    case .snapshot(let request): answer(request)
    case .sessionDrained, .databaseChanged: break
    case .abandon(let request): abandon(request)
    case .commit(let reply): reply(commit)
    case .explain(let query, let reply): explain(query, reply)
    case .schema(let reply): reply(.success(database?.schema.listing ?? []))
    case .statistics(let reply): reply(currentStatistics)
    case .readiness(let reply): reply(readingFailure)
    case .sessionClosed(let session):
      for subscription in sessions[session, default: [:]].values { remove(subscription) }
    case .stop: requestStop()
    }
  }

  /// The database could not be read: whoever waits for an answer gets one.
  func reject(_ command: WorkerCommand, _ error: FreshetError) {
    switch command {
    case .subscribe(let command):
      output.subscriptionEnded(command.key)
      output.send(.error(error, isFatal: true), shape: command.shape, to: command.key)
    case .snapshot(let request): request.reply(.failure(error))
    case .request(let key, _, _): output.send(.error(error, isFatal: false), shape: .arrays, to: key)
    case .explain(_, let reply): reply(.failure(error))
    case .schema(let reply): reply(.failure(error))
    case .readiness(let reply): reply(error)
    default: perform(command)
    }
  }

  private func subscribe(_ command: WorkerCommand.Subscribe) {
    do throws(FreshetError) {
      let query = try followed(command.query)
      let seat = sessions[command.key.session]?.values.first?.seat ?? readiness.takeSeat()
      let subscription = Subscription(
        key: command.key, seat: seat, shape: command.shape, minInterval: command.minInterval, window: command.window,
        query: query)
      query.subscriptions[command.key] = subscription
      query.idleSince = nil
      sessions[command.key.session, default: [:]][command.key.number] = subscription
      if let since = command.since, let held = query.version(named: since) {
        subscription.group.state.held = held
        subscription.group.state.sentVersion = since
        sendAnswer(subscription)
      } else {
        startOver(subscription)
      }
    } catch {
      output.subscriptionEnded(command.key)
      output.send(.error(error, isFatal: true), shape: command.shape, to: command.key)
    }
  }

  /// The controller of a query: the one that follows it already, or a new one. It shows the state that the turn sees.
  private func followed(_ query: Query) throws(FreshetError) -> FollowedQuery {
    if let known = queries[query] {
      bringToNow(known)
      // It may have ended just now: then it is tried anew, and the error told.
      if known.pending == nil, queries[query] === known { return known }
      if queries[query] === known { throw FreshetError(.internal, "the query cannot be run at the moment") }
    }
    guard let database else { throw FreshetError(.overloaded, "the database is not there") }
    let shape = try shape(of: query)
    defer { if shape.queries.isEmpty { forget(shape, query.withoutValues) } }
    let (settings, budget) = (readerSettings, historyBudget)
    let followed = try database.connection.deadline.limited(milliseconds: configuration.queryTimeout) {
      () throws(FreshetError) in
      try FollowedQuery(query, shape, settings, history: budget)
    }
    queries[query] = followed
    hasFreedMuch = hasFreedMuch || followed.isLarge
    noteIdle(followed)
    if followed.refreshDue != .max {
      timed[ObjectIdentifier(followed)] = followed
      nextDue = min(nextDue, followed.refreshDue)
    }
    return followed
  }

  /// Nobody may be interested in a query any more: from now on its time runs.
  func noteIdle(_ query: FollowedQuery) {
    guard query.isIdle else { return }
    query.idleSince = monotonicNanoseconds()
    idle[ObjectIdentifier(query)] = query
  }

  private func unsubscribe(_ key: SubscriptionKey) {
    guard let subscription = sessions[key.session]?[key.number] else { return }
    remove(subscription)
    output.send(.unsubscribed, to: subscription)
  }

  func remove(_ subscription: Subscription) {
    if subscription.isOver { return }
    let key = subscription.key
    subscription.isOver = true
    sessions[key.session]?[key.number] = nil
    if sessions[key.session]?.isEmpty == true {
      sessions[key.session] = nil
      readiness.leave(subscription.seat)
    }
    loading[key] = nil
    if subscription.startsOver { snapshots[SnapshotGroup(subscription)]?.removeAll { $0 === subscription } }
    let query = subscription.query
    query.subscriptions[key] = nil
    query.groups.remove(subscription)
    noteIdle(query)
  }

  private func perform(_ request: SubscriptionRequest, _ key: SubscriptionKey, _ ticket: RequestTicket?) {
    // Ended meanwhile, with an error that the client has or will get.
    guard let subscription = sessions[key.session]?[key.number] else { return }
    if case .resync = request { return startOver(subscription) }
    guard subscription.deferred.count < configuration.deferredRequests else {
      let error = FreshetError(.limitExceeded, "too many requests while a snapshot is on its way")
      return output.send(.error(error, isFatal: false), to: subscription)
    }
    subscription.deferred.append((request, ticket))
    performDeferred(subscription)
  }

  /// Answers what waits, in the order asked; each answer comes after what leads to the newest version.
  func performDeferred(_ subscription: Subscription) {
    while subscription.loading == nil, !subscription.startsOver, !subscription.deferred.isEmpty {
      bringToNow(subscription.query)
      if subscription.isOver { return }
      if subscription.isBehind {
        // May send a snapshot, at whose end this is called again.
        bringUpToDate(subscription)
        if subscription.isBehind { return }
      } else {
        answer(subscription.deferred.removeFirst().request, subscription)
      }
    }
  }

  /// Answers a client that has the newest version.
  private func answer(_ request: SubscriptionRequest, _ subscription: Subscription) {
    switch request {
    case .window(let window): sendRows(window, isWindow: true, subscription)
    case .fetch(let window): sendRows(window, isWindow: false, subscription)
    case .locate(let key): locate(key, subscription)
    case .requery(let query, let window): requery(query, window, subscription)
    case .resync: startOver(subscription)
    }
  }

  private func locate(_ key: [SQLValue], _ subscription: Subscription) {
    let query = subscription.query
    let count = query.compiled.keyColumns.count
    guard let identity = query.reader.identity(of: key) else {
      let error = FreshetError(.badMessage, "key must have \(count) value\(count == 1 ? "" : "s")")
      return output.send(.error(error, isFatal: false), to: subscription)
    }
    let place = query.controller.place(of: identity)
    output.send(.located(key: key, place: place), to: subscription)
  }

  /// Puts another query in the place of the subscription's: a patch leads there when rows are the same rows in both.
  private func requery(_ wanted: Query, _ window: Window?, _ subscription: Subscription) {
    let before = subscription.query
    do throws(FreshetError) {
      let query = try followed(wanted)
      before.subscriptions[subscription.key] = nil
      before.groups.setApart(subscription)
      noteIdle(before)
      query.subscriptions[subscription.key] = subscription
      query.idleSince = nil
      subscription.query = query
      let isSameKind =
        before.query.from == wanted.from && before.compiled.columns == query.compiled.columns
        && before.compiled.keyColumns == query.compiled.keyColumns && before.query.select == wanted.select
      if isSameKind, sendRequeried(subscription, window) { return joinGroups(subscription) }
      if let window { subscription.group.state.window = window }
      startOver(subscription)
    } catch {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }

  /// Answers `window` and `fetch` with rows of the newest version, which the client has.
  private func sendRows(_ wanted: Window, isWindow: Bool, _ subscription: Subscription) {
    do throws(FreshetError) {
      let query = subscription.query
      let range = wanted.range(total: query.controller.newest.tree.count)
      let rows = try contents(query, range)
      var answer = RowsDelivery(
        version: subscription.group.state.sentVersion, columns: query.compiled.columns, window: nil,
        offset: range.lowerBound,
        rows: rows, range: 0..<0)
      query.groups.setApart(subscription)
      if isWindow {
        subscription.group.state.window = wanted
        answer.window = wanted
      }
      subscription.loading = answer
      loading[subscription.key] = subscription
      sendNextPart(subscription)
    } catch {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }
}

// What is asked without a subscription.
extension WorkerLoop {
  private func answer(_ request: WorkerCommand.SnapshotRequest) {
    do throws(FreshetError) {
      let query = try followed(request.query)
      let version = query.name(of: query.controller.newest)
      if request.unless == version {
        if request.wait > 0 { return wait(request, query) }
        noteIdle(query)
        return request.reply(.success(.unchanged(version: version)))
      }
      noteIdle(query)
      reply(request, query)
    } catch { request.reply(.failure(error)) }
  }

  private func reply(_ request: WorkerCommand.SnapshotRequest, _ query: FollowedQuery) {
    do throws(FreshetError) {
      let snapshot = try snapshot(query, window: request.window)
      statistics.snapshots += 1
      query.newestWasSent(monotonicNanoseconds())
      request.reply(.success(.snapshot(snapshot)))
    } catch { request.reply(.failure(error)) }
  }

  private func wait(_ request: WorkerCommand.SnapshotRequest, _ query: FollowedQuery) {
    let deadline = monotonicNanoseconds() + UInt64(request.wait) * 1_000_000
    query.waiters.append(WaitingRequest(request: request, deadline: deadline))
    query.idleSince = nil
    waiting[ObjectIdentifier(query)] = query
    nextDue = min(nextDue, deadline)
  }

  /// Answers those who wait for another version, or have waited long enough.
  func answerWaiters() {
    let now = monotonicNanoseconds()
    for query in waiting.values {
      let version = query.name(of: query.controller.newest)
      let waiters = query.waiters
      query.waiters = []
      for waiter in waiters {
        if waiter.request.unless != version {
          reply(waiter.request, query)
        } else if waiter.deadline <= now {
          waiter.request.reply(.success(.unchanged(version: version)))
        } else {
          query.waiters.append(waiter)
          nextDue = min(nextDue, waiter.deadline)
        }
      }
      if query.waiters.isEmpty {
        waiting[ObjectIdentifier(query)] = nil
        noteIdle(query)
      }
    }
  }

  private func abandon(_ request: UInt64) {
    for query in waiting.values { query.waiters.removeAll { $0.request.id == request } }
  }

  private func explain(_ query: Query, _ reply: (Result<Explanation, FreshetError>) -> Void) {
    do throws(FreshetError) {
      guard let database else { throw FreshetError(.overloaded, "the database is not there") }
      let compiled = try QueryCompiler.compile(query, schema: database.schema, checker: database.checker)
      reply(.success(try compiled.explanation(checker: database.checker, forms: forms(database))))
    } catch { reply(.failure(error)) }
  }

  /// How changes of tables are found at the moment, by lower-case name.
  private func forms(_ database: OpenDatabase) -> [String: CaptureForm] {
    let capture = database.connection.capture
    // Who has just subscribed asks: small tables are read by then.
    if capture.readOn() { mustTurn = true }
    var forms: [String: CaptureForm] = [:]
    for table in database.schema.tables {
      guard let storage = table.storage else { continue }
      forms[table.name.lowercased()] = capture.form(ofTable: storage.table.name)
    }
    return forms
  }

  private var currentStatistics: WorkerStatistics {
    var result = statistics
    if let capture = database?.connection.capture { result.capture = capture.statistics }
    result.controllers = queries.count
    result.subscriptions = sessions.values.reduce(0) { $0 + $1.count }
    result.versions = queries.values.reduce(0) { $0 + $1.versionCount }
    return result
  }
}
