import LiveQuery
import QueryCompiler
import RankedCollections
import Store
import Wire

/// Subscriptions that get the same snapshot.
struct SnapshotGroup: Hashable {
  let query: ObjectIdentifier
  let window: Window?
  let shape: Shape

  init(_ subscription: Subscription) {
    query = ObjectIdentifier(subscription.query)
    window = subscription.group.state.window
    shape = subscription.shape
  }
}

// The end of a tick: everybody who can take it is sent what leads from their version to the newest. Each distinct message
// is made once.
extension Follower {
  func flush() {
    flushes += 1
    // What is small and expected soon comes first.
    sendPatches()
    sendSnapshots()
    sendParts()
    for query in dirty.values where query.canReadContents {
      answerWaiters(query)
      answerBlocked(query)
      if query.isSettled { dirty[ObjectIdentifier(query)] = nil }
    }
    for query in queriesWithContents.values { dropContents(of: query) }
    queriesWithContents = [:]
    // Asked again, because what this tick has sent is on its way now: only who waits is told when it is gone.
    for subscription in loading.values where ask(subscription.key.session) { mustTick = true }
    // Before the transaction is ended: that can wait.
    output.flush()
  }

  func isDrained(_ subscription: Subscription) -> Bool {
    drained.contains(subscription.key.session, in: flushes, ask: ask)
  }

  private func ask(_ session: UInt64) -> Bool { output.isDrained(session, for: thread.number) }

  /// From now on the subscription gets patches; there is nothing that it has to get first.
  func joinGroups(_ subscription: Subscription) {
    let isApart = subscription.group.place == nil
    guard isApart, subscription.state.isOpen else { return }
    subscription.query.groups.insert(subscription.group)
    if subscription.isBehind { dirty[ObjectIdentifier(subscription.query)] = subscription.query }
  }

  private func sendPatches() {
    let now = clock.now
    for query in dirty.values {
      // Contents are read in the state that the transaction sees, which has to be the version's.
      if !query.canReadContents { continue }
      var due = PatchGroups()
      for group in query.groups.all where isDue(group, of: query, now) && drain(group, of: query) { due.add(group) }
      sendPatches(query, due.members.map { query.groups.merge($0) }, now)
      query.reader.forgetContents()
    }
    // Those for whom a patch would have been larger than starting over.
    sendSnapshots()
  }

  /// Whether a group has something to get, and its time has come.
  private func isDue(_ group: SubscriberGroup, of query: FetchedResultsController, _ now: Instant) -> Bool {
    let state = group.state
    if state.held === query.result.newest { return false }
    let earliest = max(state.lastSent + group.minInterval, state.retryAt)
    if earliest <= now || (state.lastSent == .distantPast && state.retryAt == .distantPast) { return true }
    deadlines.wake(query, at: earliest)
    return false
  }

  /// Parts with those of a group who have not taken everything yet.
  ///
  /// - Returns: whether anybody is left in it.
  private func drain(_ group: SubscriberGroup, of query: FetchedResultsController) -> Bool {
    let waiting = drained.waiting(of: group, in: flushes, ask: ask)
    if waiting.isEmpty { return true }
    if waiting.count == group.subscriptions.count { return false }
    query.groups.split(group, waiting)
    return true
  }

  /// - Parameter groups: of one query; each array gets one patch.
  private func sendPatches(_ query: FetchedResultsController, _ groups: [[SubscriberGroup]], _ now: Instant) {
    // By the version held: one that a reader made has the number of another.
    var differences: [ObjectIdentifier: VersionDifference?] = [:]
    for group in groups {
      let held = group[0].state.held
      let difference = differences[ObjectIdentifier(held)] ?? difference(query, since: held)
      if groups.count > 1 { differences[ObjectIdentifier(held)] = difference }
      sendPatch(query, group, difference, now)
    }
  }

  /// - Returns: nil when too much differs.
  private func difference(_ query: FetchedResultsController, since held: ResultVersion) -> VersionDifference? {
    let newest = query.result.newest.tree
    return VersionDifference(from: held.tree, to: newest, limit: differenceLimit(newest))
  }

  /// Sends one subscription what it is behind by, whether or not its time has come: an answer follows.
  func bringUpToDate(_ subscription: Subscription) {
    guard subscription.isBehind, subscription.query.canReadContents else { return }
    subscription.query.groups.setApart(subscription)
    sendPatches(subscription.query, [[subscription.group]], clock.now)
    sendSnapshots()
    joinGroups(subscription)
  }

  /// Answers a client that comes back with a version: a patch, also when nothing has changed.
  func sendAnswer(_ subscription: Subscription) {
    let difference = difference(subscription.query, since: subscription.group.state.held)
    sendPatch(subscription.query, [subscription.group], difference, clock.now, isAnswer: true)
    joinGroups(subscription)
  }

  /// The database cannot be read, and has not been for a while: lists stay as they are until it can.
  func announce(_ outage: FreshetError) {
    for query in queries.values {
      for subscription in query.subscriptions.values { output.send(.error(outage, isFatal: false), to: subscription) }
    }
  }

  /// It can be read again. Those whose list is as before get a patch that says so: nothing else would come.
  func announceRecovery() {
    for query in queries.values where query.canReadContents {
      for subscription in query.subscriptions.values where subscription.state.isOpen && !subscription.isBehind {
        query.groups.setApart(subscription)
        sendAnswer(subscription)
      }
    }
  }

  /// Sends the patch from the version of another query that the client has to the newest of its new one.
  ///
  /// - Returns: false when a snapshot is better.
  func sendRequeried(_ subscription: Subscription, _ window: Window?) -> Bool {
    let newest = subscription.query.result.newest
    guard let difference = difference(subscription.query, since: subscription.group.state.held) else {
      return false
    }
    let patch = difference.patch(window: subscription.group.state.window, becoming: window)
    guard isWorthSending(patch, newest.tree) else { return false }
    send(patch, subscription.query, [subscription.group], from: nil, clock.now)
    // When contents could not be read it still holds a version of the other query, from which nothing else may lead.
    return subscription.state.isOver || !subscription.isBehind
  }

  /// - Parameter groups: which get the same patch.
  /// - Parameter isAnswer: whether the clients wait for something to come.
  private func sendPatch(
    _ query: FetchedResultsController, _ groups: [SubscriberGroup], _ difference: VersionDifference?, _ now: Instant,
    isAnswer: Bool = false
  ) {
    let held = groups[0].state.held
    let newest = query.result.newest
    guard let patch = difference?.patch(window: groups[0].state.window), isWorthSending(patch, newest.tree) else {
      for subscription in groups.flatMap(\.subscriptions) { startOver(subscription) }
      return
    }
    if patch.isEmpty, held.alongside == newest.alongside, !isAnswer {
      for group in groups { group.state.held = newest }
      return
    }
    send(patch, query, groups, from: held, now)
  }

  /// - Parameter held: the version of the query that the clients have; nil: it is another query's.
  private func send(
    _ patch: Patch, _ query: FetchedResultsController, _ groups: [SubscriberGroup], from held: ResultVersion?,
    _ now: Instant
  ) {
    let state = groups[0].state
    let newest = query.result.newest
    do throws(FreshetError) {
      let message = PatchMessage(
        from: state.sentVersion, to: query.nameNewest(), commit: query.shown.commit,
        total: newest.tree.count,
        alongside: state.held.alongside == newest.alongside ? nil : newest.alongside,
        columns: query.compiled.columns, patch: patch,
        rows: try query.reader.contents(of: patch.contents, in: newest.tree),
        changed: held.map { query.changedColumns(of: patch.contents, since: $0) }
          ?? Array(repeating: .all, count: patch.contents.count))
      output.send(.patch(message), shape: groups[0].shape, to: groups.map(\.recipients))
      statistics.patches += 1
      query.newestWasSent(now)
      for group in groups {
        group.state = ClientState(held: newest, sentVersion: message.to, window: patch.window, lastSent: now)
      }
    } catch { for group in groups { postpone(group, of: query, error) } }
  }

  /// Contents could not be read: clients are told once, and sent what they are behind by when they can.
  ///
  /// - Returns: false when no later try can mend it: the subscriptions have ended.
  @discardableResult
  func postpone(_ group: SubscriberGroup, of query: FetchedResultsController, _ error: FreshetError) -> Bool {
    database?.connection.restoreSnapshot()
    // They get a snapshot of what is right.
    if mendIfMissing(query, error) { return true }
    if error.isFinal {
      for subscription in group.subscriptions { end(subscription, error) }
      return false
    }
    if group.state.retryAt == .distantPast {
      output.send(.error(error, isFatal: false), shape: group.shape, to: [group.recipients])
    }
    group.state.retryAt = clock.now + intervals.retry
    dirty[ObjectIdentifier(query)] = query
    deadlines.wake(query, at: group.state.retryAt)
    return true
  }

  /// Beyond so many changed rows no patch is worth sending.
  private func differenceLimit(_ tree: SectionedTree) -> Int { max(tree.count, configuration.patchBytes / 8) }

  /// Whether a patch is smaller than a snapshot, by estimate, or small anyhow.
  private func isWorthSending(_ patch: Patch, _ tree: SectionedTree) -> Bool {
    let rowBytes = 64
    let places = patch.deleted.count + patch.inserted.count + 2 * (patch.moved.count + patch.updated.count)
    let bytes =
      places * 8 + patch.sectionsDeleted.count * 4 + patch.sectionsInserted.count * 48
      + patch.contents.count * rowBytes
    if bytes <= configuration.patchBytes { return true }
    let visible = patch.window?.range(total: tree.count).count ?? tree.count
    return bytes <= tree.sectionCount * 48 + visible * rowBytes
  }
}
