import LiveQuery
import RankedCollections
import Store

// What clients ask. Every command is answered at the state of the database that the turn sees.
extension WorkerLoop {
  func perform(_ command: WorkerCommand) {
    switch command {
    case .subscribe(let command): subscribe(command)
    case .request(let key, let request): perform(request, key)
    case .unsubscribe(let key): unsubscribe(key)
    case .snapshot(let request): answer(request)
    case .sessionDrained, .databaseChanged, .abandon: break
    case .commit(let reply): reply(sequence)
    case .explain(_, let reply): reply(.failure(FreshetError(.internal, "not served yet")))
    case .schema(let reply): reply(.success([]))
    case .statistics(let reply): reply(WorkerStatistics())
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
      output.send(.error(error, isFatal: true), shape: command.shape, to: [command.key])
    case .snapshot(let request): request.reply(.failure(error))
    case .request(let key, _): output.send(.error(error, isFatal: false), shape: .arrays, to: [key])
    case .explain(_, let reply): reply(.failure(error))
    case .schema(let reply): reply(.failure(error))
    default: perform(command)
    }
  }

  private func subscribe(_ command: WorkerCommand.Subscribe) {
    do throws(FreshetError) {
      let query = try followed(command.query)
      let subscription = Subscription(
        key: command.key, shape: command.shape, minInterval: command.minInterval, window: command.window, query: query)
      query.subscriptions[command.key] = subscription
      query.idleSince = nil
      sessions[command.key.session, default: [:]][command.key.number] = subscription
      startOver(subscription)
    } catch {
      output.subscriptionEnded(command.key)
      output.send(.error(error, isFatal: true), shape: command.shape, to: [command.key])
    }
  }

  /// The controller of a query: the one that follows it already, or a new one.
  private func followed(_ query: Query) throws(FreshetError) -> FollowedQuery {
    if let known = queries[query] { return known }
    let (compiled, reader) = try compile(query)
    let sequence = sequence
    let followed = try connection.deadline.limited(milliseconds: configuration.queryTimeout) {
      () throws(FreshetError) in
      try FollowedQuery(query, compiled, reader, commit: sequence)
    }
    followed.idleSince = monotonicNanoseconds()
    queries[query] = followed
    return followed
  }

  private func unsubscribe(_ key: SubscriptionKey) {
    guard let subscription = sessions[key.session]?[key.number] else { return }
    remove(subscription)
    output.send(.unsubscribed, shape: subscription.shape, to: [key])
  }

  func remove(_ subscription: Subscription) {
    let key = subscription.key
    sessions[key.session]?[key.number] = nil
    if sessions[key.session]?.isEmpty == true { sessions[key.session] = nil }
    loading[key] = nil
    snapshots[SnapshotGroup(subscription)]?.removeAll { $0 === subscription }
    let query = subscription.query
    query.subscriptions[key] = nil
    if query.subscriptions.isEmpty { query.idleSince = monotonicNanoseconds() }
  }

  private func perform(_ request: SubscriptionRequest, _ key: SubscriptionKey) {
    // Ended meanwhile, with an error that the client has or will get.
    guard let subscription = sessions[key.session]?[key.number] else { return }
    if case .resync = request { return startOver(subscription) }
    guard subscription.deferred.count < configuration.deferredRequests else {
      let error = FreshetError(.limitExceeded, "too many requests while a snapshot is on its way")
      return output.send(.error(error, isFatal: false), shape: subscription.shape, to: [key])
    }
    subscription.deferred.append(request)
    performDeferred(subscription)
  }

  /// Answers what waits, in the order asked; each answer comes after what leads to the newest version.
  func performDeferred(_ subscription: Subscription) {
    while subscription.loading == nil, !isStartingOver(subscription), !subscription.deferred.isEmpty {
      if subscription.isBehind {
        // May send a snapshot, at whose end this is called again.
        bringUpToDate(subscription)
      } else {
        sendRows(subscription.deferred.removeFirst(), subscription)
      }
    }
  }

  /// Answers `window` and `fetch` with rows of the newest version, which the client has.
  private func sendRows(_ request: SubscriptionRequest, _ subscription: Subscription) {
    let wanted: Window
    switch request {
    case .window(let window), .fetch(let window): wanted = window
    case .resync, .locate, .requery: return
    }
    do throws(FreshetError) {
      let query = subscription.query
      let range = wanted.range(total: query.controller.newest.tree.count)
      let rows = try contents(query, range)
      var answer = RowsDelivery(
        version: subscription.sentVersion, columns: query.compiled.columns, window: nil, offset: range.lowerBound,
        rows: rows, range: 0..<0)
      if case .window = request {
        subscription.window = wanted
        answer.window = wanted
      }
      subscription.loading = answer
      loading[subscription.key] = subscription
      sendNextPart(subscription)
    } catch { end(subscription, error) }
  }

  private func answer(_ request: WorkerCommand.SnapshotRequest) {
    do throws(FreshetError) {
      let query = try followed(request.query)
      if query.subscriptions.isEmpty { query.idleSince = monotonicNanoseconds() }
      let snapshot = try snapshot(query, window: request.window)
      if request.unless == snapshot.version { return request.reply(.success(.unchanged(version: snapshot.version))) }
      request.reply(.success(.snapshot(snapshot)))
    } catch { request.reply(.failure(error)) }
  }
}
