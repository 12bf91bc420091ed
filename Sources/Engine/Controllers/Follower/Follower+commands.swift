import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
import Store
import Wire

// What clients ask. Every command is answered at the state of the database that the tick sees.
extension Follower {
  func perform(_ command: FollowerCommand) {
    // What fails is that command's alone.
    defer { database?.connection.restoreSnapshot() }
    switch narrowed(command) {
    case .subscribe(let command): subscribe(command)
    case .request(let key, let request, let ticket): perform(request, key, ticket)
    case .unsubscribe(let key): unsubscribe(key)
    case .end(let key, let error): end(key, error)
    case .snapshot(let request): answer(request)
    case .keep(let query): keep(query)
    case .drained, .databaseChanged: break
    case .abandon(let request, let query): abandon(request, of: query)
    case .commit(let reply): reply(commit)
    case .awaitCommit(let waiter): awaited.add(waiter)
    case .explain(let query, let request, let reply): explain(query, request, reply)
    case .schema(let access, let request, let reply): list(access, request, reply)
    case .statistics(let reply): reply(currentStatistics)
    case .lists(let reply): reply(openLists)
    case .readiness(let reply): reply(readingFailure)
    case .sessionClosed(let session):
      for subscription in sessions[session, default: [:]].values { remove(subscription) }
      for early in (early.removeValue(forKey: session) ?? [:]).values { cancelIfUnwanted(early.query) }
    case .report(let report): perform(report)
    case .resume(let key): if let subscription = sessions[key.session]?[key.number] { answerNext(subscription) }
    case .stop: requestStop()
    }
  }

  /// Answers a command with an error, because the database could not be read.
  ///
  /// - Parameter hasWaited: it is performed a second time; what its client ended meanwhile needs no answer.
  func reject(_ command: FollowerCommand, _ error: FreshetError, hasWaited: Bool = false) {
    switch command {
    case .subscribe(let command):
      if takeEarly(command.key) == nil, hasWaited { return }
      output.subscriptionEnded(command.key, because: error.code)
      output.send(.error(error, isFatal: true), shape: command.shape, to: command.key)
    case .snapshot(let request): request.reply(.failure(error))
    case .report(let report): reject(report, error)
    case .resume(let key): refuseNext(of: key, error)
    case .request(let key, _, _): output.send(.error(error, isFatal: false), shape: .arrays, to: key)
    case .explain(_, _, let reply): reply(.failure(error))
    case .schema(_, _, let reply): reply(.failure(error))
    case .readiness(let reply): reply(error)
    default: perform(command)
    }
  }

  private func subscribe(_ command: FollowerCommand.Subscribe) {
    let key = command.key
    let wasEarly = early[key.session]?[key.number] != nil
    if resumed != nil, !wasEarly { return }
    guard let query = ready(command.query, for: .subscribe(command), WantedContents(window: command.window)) else {
      if !wasEarly { early[key.session, default: [:]][key.number] = EarlySubscription(query: command.query) }
      return
    }
    let subscription = Subscription(
      key: key, shape: command.shape, minInterval: command.minInterval, window: command.window, query: query
    )
    query.subscriptions[key] = subscription
    query.idleSince = nil
    sessions[key.session, default: [:]][key.number] = subscription
    let requests = takeEarly(key)?.requests ?? []
    if let since = command.since, query.canReadContents, let held = query.version(named: since) {
      subscription.group.state.held = held
      subscription.group.state.sentVersion = since
      sendAnswer(subscription)
    } else {
      startOver(subscription)
    }
    for (request, ticket) in requests { perform(request, key, ticket) }
  }

  private func takeEarly(_ key: SubscriptionKey) -> EarlySubscription? {
    let taken = early[key.session]?.removeValue(forKey: key.number)
    if early[key.session]?.isEmpty == true { early[key.session] = nil }
    return taken
  }

  private func unsubscribe(_ key: SubscriptionKey) {
    if let early = takeEarly(key) {
      cancelIfUnwanted(early.query)
      return output.send(.unsubscribed, shape: .arrays, to: key)
    }
    guard let subscription = sessions[key.session]?[key.number] else { return }
    remove(subscription)
    output.send(.unsubscribed, to: subscription)
  }

  private func end(_ key: SubscriptionKey, _ error: FreshetError) {
    if let early = takeEarly(key) {
      cancelIfUnwanted(early.query)
      output.subscriptionEnded(key, because: error.code)
      return output.send(.error(error, isFatal: true), shape: .arrays, to: key)
    }
    if let subscription = sessions[key.session]?[key.number] { end(subscription, error) }
  }

  func remove(_ subscription: Subscription) {
    let key = subscription.key
    let isStartingOver = subscription.state.isStartingOver
    let requeried = subscription.state.next?.requeried
    guard subscription.state.end() else { return }
    sessions[key.session]?[key.number] = nil
    if sessions[key.session]?.isEmpty == true { sessions[key.session] = nil }
    loading[key] = nil
    if isStartingOver { snapshots[SnapshotGroup(subscription)]?.removeAll { $0 === subscription } }
    let query = subscription.query
    query.subscriptions[key] = nil
    query.groups.remove(subscription)
    query.blockedSubscriptions.removeAll { $0.subscription === subscription }
    cancelUnwantedReads(of: query)
    noteIdle(query)
    // A reader may be running what it was to show next.
    if let requeried { cancelIfUnwanted(requeried) }
  }

  private func perform(_ request: SubscriptionRequest, _ key: SubscriptionKey, _ ticket: RequestTicket?) {
    if let waiting = early[key.session]?[key.number]?.requests.count {
      guard waiting < configuration.deferredRequests else {
        return output.send(.error(Self.tooManyRequests, isFatal: false), shape: .arrays, to: key)
      }
      early[key.session]![key.number]!.requests.append((request, ticket))
      return
    }
    // Ended meanwhile, with an error that the client has or will get.
    guard let subscription = sessions[key.session]?[key.number] else { return }
    if case .resync = request { return startOver(subscription) }
    guard subscription.state.ask(.init(request: request, ticket: ticket), limit: configuration.deferredRequests) else {
      return output.send(.error(Self.tooManyRequests, isFatal: false), to: subscription)
    }
    answerNext(subscription)
  }

  private static let tooManyRequests = FreshetError(
    .limitExceeded, "too many requests while a snapshot is on its way")

  /// Answers what waits, in the order asked; each answer comes after what leads to the newest version.
  func answerNext(_ subscription: Subscription) {
    while let request = subscription.state.next {
      let query = subscription.query
      // What does not compile is not waited for by those who want another query instead.
      let isGivenUp = query.awaitsSchema && request.isRequery
      guard isGivenUp || query.isCurrent || (query === resumed && query.canReadContents) else {
        query.blockedSubscriptions.append((subscription, commit))
        return hurry(query)
      }
      if !isGivenUp, subscription.isBehind {
        // May send a snapshot, at whose end this is called again.
        bringUpToDate(subscription)
        if subscription.isBehind {
          // Contents could not be read. What leads to the newest version comes when they can, and then the answer.
          if subscription.state.isOpen { query.blockedSubscriptions.append((subscription, commit)) }
          return
        }
      } else {
        if case .requery(let wanted, let window) = request {
          guard let other = ready(wanted, for: .resume(subscription.key), WantedContents(window: window)) else {
            return
          }
          _ = subscription.state.takeNext()
          requery(other, wanted, window, subscription)
        } else {
          answer(subscription.state.takeNext(), subscription)
        }
      }
    }
  }

  /// What the first request waits for has failed.
  func refuseNext(of key: SubscriptionKey, _ error: FreshetError) {
    guard let subscription = sessions[key.session]?[key.number], subscription.state.dropNext() else { return }
    output.send(.error(error, isFatal: false), to: subscription)
    answerNext(subscription)
  }

  /// Answers a client that has the newest version.
  private func answer(_ asked: Subscription.StateMachine.Asked, _ subscription: Subscription) {
    switch asked.request {
    case .window(let window), .fetch(let window): sendRows(window, for: asked, subscription)
    case .locate(let key): locate(key, subscription)
    case .requery, .resync: startOver(subscription)
    }
  }

  private func locate(_ key: [SQLValue], _ subscription: Subscription) {
    let query = subscription.query
    let count = query.compiled.keyColumns.count
    guard let identity = query.reader.identity(of: key) else {
      let error = FreshetError(.badMessage, "key must have \(count) value\(count == 1 ? "" : "s")")
      return output.send(.error(error, isFatal: false), to: subscription)
    }
    let place = query.result.place(of: identity)
    output.send(.located(key: key, place: place), to: subscription)
  }

  /// Puts another query in the place of the subscription's: a patch leads there when rows are the same rows in both.
  private func requery(
    _ query: FetchedResultsController, _ wanted: Query, _ window: Window?, _ subscription: Subscription
  ) {
    let before = subscription.query
    before.subscriptions[subscription.key] = nil
    before.groups.setApart(subscription)
    noteIdle(before)
    query.subscriptions[subscription.key] = subscription
    query.idleSince = nil
    subscription.query = query
    let isSameKind =
      before.query.from == wanted.from && before.compiled.columns == query.compiled.columns
      && before.compiled.keyColumns == query.compiled.keyColumns && before.query.select == wanted.select
    if isSameKind, !before.awaitsSchema, query.canReadContents, sendRequeried(subscription, window) {
      return joinGroups(subscription)
    }
    if let window { subscription.group.state.window = window }
    startOver(subscription)
  }

  /// Answers `window` and `fetch` with rows of the newest version, which the client has.
  private func sendRows(_ wanted: Window, for asked: Subscription.StateMachine.Asked, _ subscription: Subscription) {
    let query = subscription.query
    let range = wanted.range(total: query.result.newest.tree.count)
    query.groups.setApart(subscription)
    if range.count > Self.rowsReadHere, subscription.state.mayRead(attempts: Self.joinAttempts) {
      let wanted = WantedContents(window: wanted)
      guard let read = read(wanted, of: query, for: .session(subscription.key.session)) else { return }
      read.subscriptions.append(subscription)
      return subscription.state.read(read, for: asked)
    }
    do throws(FreshetError) {
      sendRows(try contents(query, range), nil, answering: asked.request, subscription)
    } catch { refuse(subscription, error) }
  }

  /// A reader has read what `window` or `fetch` asked for.
  ///
  /// - Parameter hasMoved: of a newer version than the client has: it is asked for anew.
  func answer(_ subscription: Subscription, _ read: PendingRead, hasMoved: Bool) {
    guard let contents = read.contents else { return }
    switch subscription.state.readEnded(read, hasMoved: hasMoved) {
    case .ignore: break
    case .askAgain: answerNext(subscription)
    case .answer(let request):
      do throws(FreshetError) {
        sendRows(try contents.get(), read.hold, answering: request, subscription)
      } catch { refuse(subscription, error) }
    }
  }

  private func refuse(_ subscription: Subscription, _ error: FreshetError) {
    mendIfMissing(subscription.query, error)
    output.send(.error(error, isFatal: false), to: subscription)
    joinGroups(subscription)
    answerNext(subscription)
  }

  private func sendRows(
    _ rows: PackedRows, _ hold: ContentsBudget.Hold?, answering request: SubscriptionRequest,
    _ subscription: Subscription
  ) {
    guard let wanted = request.rows else { return }
    var answer = RowsMessage(
      version: subscription.group.state.sentVersion, columns: subscription.query.compiled.columns, window: nil,
      offset: wanted.range(total: subscription.group.state.held.tree.count).lowerBound, rows: rows, range: 0..<0)
    if case .window = request {
      subscription.group.state.window = wanted
      answer.window = wanted
    }
    subscription.state.begin(LoadingRows(message: answer, hold: hold))
    loading[subscription.key] = subscription
    sendNextPart([subscription])
  }
}

extension SubscriptionRequest {
  /// The query that it asks for.
  fileprivate var requeried: Query? { if case .requery(let query, _) = self { query } else { nil } }

  /// The rows that it asks for.
  fileprivate var rows: Window? {
    switch self {
    case .window(let window), .fetch(let window): window
    case .locate, .requery, .resync: nil
    }
  }
}
