import Ground
package import Lists
package import LiveQuery
import RankedCollections
package import Requests
import Store
import Wire

/// Sends each subscription the messages that lead from its client's version to the newest one, and answers its
/// requests.
///
/// Owner: the follower's thread.
package final class Delivery {
  let context: FollowerContext
  let lists: Lists
  let checks: ListChecks
  let answers: SnapshotAnswers
  /// Subscriptions by session, and by the number in their key.
  @exclusivity(unchecked) private(set) var sessions: [UInt64: SmallDictionary<UInt64, Subscription>] = [:]
  /// Lists with subscriptions that wait for a snapshot.
  @exclusivity(unchecked) var startingOver: [ObjectIdentifier: LiveList] = [:]
  /// Subscriptions whose snapshot is being sent in parts.
  @exclusivity(unchecked) var loading: [SubscriptionKey: Subscription] = [:]
  @exclusivity(unchecked) private var drained = DrainedSessions()
  /// The number of calls of `flush`, for `DrainedSessions`.
  @exclusivity(unchecked) private var flushes: UInt64 = 0

  package init(_ lists: Lists, _ checks: ListChecks, _ answers: SnapshotAnswers) {
    self.lists = lists
    self.checks = checks
    self.answers = answers
    context = lists.context
  }

  var output: any SubscriptionOutput { context.output }
  package var subscriptionCount: Int { sessions.values.reduce(0) { $0 + $1.count } }

  func subscription(_ key: SubscriptionKey) -> Subscription? { sessions[key.session]?[key.number] }

  /// Whether no subscription waits for a snapshot or a part of one.
  package var isIdle: Bool { startingOver.isEmpty && loading.isEmpty }

  // MARK: - The end of a tick

  /// Brings all subscriptions whose sessions are drained up to date. Each distinct message is encoded once.
  package func flush() {
    flushes += 1
    // Small messages, expected soon, go first.
    sendPatches()
    sendSnapshots()
    sendParts()
    lists.settle { list in
      let isReadable = list.canReadContents
      if isReadable {
        answers.answerChanges(list)
        answerWaiting(list, sentNewest: true)
      }
      if !list.reads.isEmpty { dropContents(of: list) }
      return isReadable && list.isSettled
    }
    // Sessions are checked again, because the kernel does not have this tick's messages yet: only sessions that were
    // found busy are announced when they drain.
    for subscription in loading.values where ask(subscription.key.session) { context.mustTick = true }
    // Messages are flushed before the transaction ends, because ending it can wait.
    output.flush()
  }

  /// Releases contents that no client waits for any more.
  private func dropContents(of list: LiveList) {
    list.reads.removeAll { $0.contents != nil }
    lists.noteIdle(list)
  }

  private func ask(_ session: UInt64) -> Bool { output.isDrained(session, for: context.number) }

  func isDrained(_ subscription: Subscription) -> Bool {
    drained.contains(subscription.key.session, in: flushes, ask: ask)
  }

  /// Splits off the subscriptions whose sessions are not drained.
  ///
  /// - Returns: whether any subscription is left in the group.
  func drain(_ group: SubscriberGroup, of list: LiveList) -> Bool {
    let waiting = drained.waiting(of: group, in: flushes, ask: ask)
    if waiting.isEmpty { return true }
    if waiting.count == group.subscriptions.count { return false }
    list.audience.groups.split(group, waiting)
    return true
  }

  // MARK: - Events

  /// Acts on an event of a list.
  package func handle(_ event: ListEvent) {
    switch event {
    case .answerable(let list): answerWaiting(list)
    case .contentsRead(let list, let read, let hasMoved): contentsRead(list, read, hasMoved: hasMoved)
    case .notOpened(let id, let error): refuseWaiting(id, error) { _ in true }
    case .notRun(let list, let error): refuseWaiting(list.id, error) { $0.state.asked != nil }
    case .readsCancelled(let list, let reads): for read in reads { askAgain(list, read) }
    case .announced(let list, let error): announce(error, list)
    case .doesNotCompile(let list, let error, let isFirst): doesNotCompile(list, error, isFirst: isFirst)
    case .startsOver(let list): for subscription in list.audience.subscriptions.values { startOver(subscription) }
    case .ended(let list, let error):
      for subscription in list.audience.subscriptions.values { end(subscription, error) }
      refuseWaiting(list.id, error) { _ in true }
    }
  }

  /// Answers requests that wait for a list and that the state it shows can answer.
  ///
  /// - Parameter sentNewest: whether to answer only clients that have been sent the newest version.
  private func answerWaiting(_ list: LiveList, sentNewest: Bool = false) {
    guard lists.requests.concerns(list.id) else { return sentNewest ? () : lists.noteIdle(list) }
    let answered = lists.requests.take(for: list.id) { entry in
      guard let asked = entry.state.asked, list.machine.answers(askedAt: asked) else { return false }
      if case .next(let key) = entry.subject { return !sentNewest || subscription(key)?.isBehind != true }
      return !sentNewest
    }
    for entry in answered { answer(entry, list) }
    if sentNewest { return }
    // A list that was released in between has refused its requests.
    guard lists.byQuery[list.query] === list else { return }
    if lists.requests.waiting(for: list.id).contains(where: { $0.state.asked != nil }) { lists.hurry(list) }
    lists.noteIdle(list)
  }

  private func answer(_ entry: RequestTable.Entry, _ list: LiveList) {
    guard let asked = entry.state.asked else { return }
    switch entry.subject {
    case .keep: break
    case .next(let key): if let subscription = subscription(key) { answerNext(subscription, askedAt: asked) }
    case .subscribe(let command, let later):
      guard list.answers(askedAt: asked, WantedContents(window: command.window)) else {
        return lists.requests.putBack(entry)
      }
      open(command, list, later)
    case .snapshot(let request, _):
      guard list.answers(askedAt: asked, WantedContents(window: request.window)) else {
        return lists.requests.putBack(entry)
      }
      answers.answer(request, list)
    }
  }

  private func contentsRead(_ list: LiveList, _ read: PendingRead, hasMoved: Bool) {
    for entry in lists.requests.take(for: list.id, where: { $0.state.isContents(of: read.id) }) {
      switch entry.subject {
      case .snapshot(let request, _): answers.answer(request, list, read)
      case .next(let key):
        if let subscription = subscription(key) { answer(subscription, read, hasMoved: hasMoved) }
      case .subscribe, .keep: break
      }
    }
    if case .failure(let error)? = read.contents { checks.mendIfMissing(list, error) }
  }

  /// Called when a read was given up. Its requests wait for a run instead.
  private func askAgain(_ list: LiveList, _ read: PendingRead) {
    for entry in lists.requests.take(for: list.id, where: { $0.state.isContents(of: read.id) }) {
      switch entry.subject {
      case .next(let key):
        guard let subscription = subscription(key) else { continue }
        if case .askAgain = subscription.state.readEnded(read, hasMoved: true) { answerNext(subscription) }
      case .snapshot, .subscribe, .keep:
        var entry = entry
        entry.state = .list(asked: lists.ticks)
        lists.requests.putBack(entry)
      }
    }
  }

  private func refuseWaiting(_ id: Int, _ error: FreshetError, where isRefused: (RequestTable.Entry) -> Bool) {
    for entry in lists.requests.take(for: id, where: isRefused) {
      switch entry.subject {
      case .keep: break
      case .next(let key): refuseNext(of: key, error)
      case .snapshot(let request, _): request.reply(.failure(error))
      case .subscribe(let command, _): refuse(command, error)
      }
    }
  }

  /// Called when a subscription could not be made.
  package func refuse(_ command: FollowerCommand.Subscribe, _ error: FreshetError) {
    output.subscriptionEnded(command.key, because: error.code)
    output.send(.error(error, isFatal: true), shape: command.shape, to: command.key)
  }

  private func announce(_ error: FreshetError, _ list: LiveList) {
    for subscription in list.audience.subscriptions.values {
      output.send(.error(error, isFatal: false), to: subscription)
    }
  }

  /// Called when the query does not compile in the new schema. The list keeps what it shows until the query compiles
  /// again, for example after the last step of a migration.
  private func doesNotCompile(_ list: LiveList, _ error: FreshetError, isFirst: Bool) {
    let changed = FreshetError(.schemaChanged, "the schema has changed: \(error.message)")
    refuseWaiting(list.id, changed) { $0.state.deadline != nil }
    refuseWaiting(list.id, error) { $0.state.asked != nil }
    if isFirst { announce(changed, list) }
    lists.noteIdle(list)
  }

  /// Called when ticks have failed to read the database for a while. Lists keep what they show until it can be read.
  package func announce(outage: FreshetError) { for list in lists.byQuery.values { announce(outage, list) } }

  /// Called when the database can be read again. Subscribers of an unchanged list get an empty patch, because no other
  /// message would show them that the outage is over.
  package func announceRecovery() {
    for list in lists.byQuery.values where list.canReadContents {
      for subscription in list.audience.subscriptions.values where subscription.state.isOpen && !subscription.isBehind {
        list.audience.groups.setApart(subscription)
        sendAnswer(subscription)
      }
    }
  }

  // MARK: - Subscriptions

  package func subscribe(_ command: FollowerCommand.Subscribe) {
    let wanted = WantedContents(window: command.window)
    switch lists.find(command.query, wanted, for: .session(command.key.session)) {
    case .ready(let list): open(command, list, [])
    case .waits(let id):
      lists.requests.add(
        .subscribe(command, later: []), of: .subscription(command.key), for: id, .list(asked: lists.ticks))
    }
  }

  /// - Parameter later: requests that the client has made of the subscription since.
  private func open(
    _ command: FollowerCommand.Subscribe, _ list: LiveList, _ later: [AskedRequest]
  ) {
    let key = command.key
    let subscription = Subscription(
      key: key, shape: command.shape, minInterval: command.minInterval, window: command.window, list: list)
    list.audience.subscriptions[key] = subscription
    list.advance { $0.gotClient() }
    sessions[key.session, default: SmallDictionary()][key.number] = subscription
    if let since = command.since, list.canReadContents, let held = list.version(named: since) {
      subscription.group.state.held = held
      subscription.group.state.sentVersion = since
      sendAnswer(subscription)
    } else {
      startOver(subscription)
    }
    for asked in later { perform(asked, key) }
  }

  package func unsubscribe(_ key: SubscriptionKey) {
    if let subscription = subscription(key) {
      remove(subscription)
      output.send(.unsubscribed, to: subscription)
    } else if withdraw(key) {
      output.send(.unsubscribed, shape: .arrays, to: key)
    }
  }

  package func end(_ key: SubscriptionKey, _ error: FreshetError) {
    if let subscription = subscription(key) {
      end(subscription, error)
    } else if withdraw(key) {
      output.subscriptionEnded(key, because: error.code)
      output.send(.error(error, isFatal: true), shape: .arrays, to: key)
    }
  }

  func end(_ subscription: Subscription, _ error: FreshetError) {
    remove(subscription)
    output.subscriptionEnded(subscription.key, because: error.code)
    output.send(.error(error, isFatal: true), to: subscription)
  }

  package func sessionClosed(_ session: UInt64) {
    for (_, subscription) in sessions[session]?.all ?? [] { remove(subscription) }
    for key in lists.requests.subscriptions(of: session) { withdraw(key) }
  }

  /// Withdraws a subscription that has not been made yet.
  ///
  /// - Returns: whether there was such a subscription.
  @discardableResult
  private func withdraw(_ key: SubscriptionKey) -> Bool {
    guard let entry = lists.requests.remove(.subscription(key)), case .subscribe(let command, _) = entry.subject else {
      return false
    }
    lists.wasLeft(entry.list, command.query)
    return true
  }

  func remove(_ subscription: Subscription) {
    let key = subscription.key
    let requeried = subscription.state.next?.requeried
    if subscription.state.isStartingOver { stopStartingOver(subscription) }
    guard subscription.state.end() else { return }
    sessions[key.session]?[key.number] = nil
    if sessions[key.session]?.isEmpty == true { sessions[key.session] = nil }
    loading[key] = nil
    let list = subscription.list
    list.audience.subscriptions[key] = nil
    list.audience.groups.remove(subscription)
    let waiting = lists.requests.remove(.subscription(key))
    lists.cancelUnwantedReads(of: list)
    lists.noteIdle(list)
    // A reader may be running the query that was requested next, which is not needed any more.
    if let waiting, let requeried { lists.wasLeft(waiting.list, requeried) }
  }

  /// Breaks the cycle between lists and subscriptions when the follower ends.
  package func close() {
    for (_, subscription) in sessions.values.flatMap(\.all) { remove(subscription) }
    startingOver = [:]
  }
}

extension SubscriptionRequest {
  /// The query that the request names.
  fileprivate var requeried: Query? { if case .requery(let query, _) = self { query } else { nil } }
}
