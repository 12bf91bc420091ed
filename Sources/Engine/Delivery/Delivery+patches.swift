import Following
import Ground
import Lists
import LiveQuery
import QueryCompiler
import RankedCollections
import Requests
import Store
import Wire

// Sends patches at the end of a tick.
extension Delivery {
  /// Adds the subscription to those that get patches. Precondition: it does not need a snapshot first.
  func joinGroups(_ subscription: Subscription) {
    let isApart = subscription.group.place == nil
    guard isApart, subscription.state.isOpen else { return }
    subscription.list.audience.groups.insert(subscription.group)
    if subscription.isBehind { lists.noteDirty(subscription.list) }
  }

  func sendPatches() {
    let now = context.clock.now
    for list in lists.dirty where list.isDirty {
      // Contents are read in the state that the transaction sees, so the version must belong to this state.
      if !list.canReadContents { continue }
      var due = PatchGroups()
      for group in list.audience.groups.all where isDue(group, of: list, now) && drain(group, of: list) {
        due.add(group)
      }
      if !due.members.isEmpty { sendPatches(list, due.members, now) }
      list.reader.forgetContents()
    }
    // This sends snapshots to subscriptions whose patch would be larger.
    sendSnapshots()
  }

  /// Whether a group is behind and its next patch is due.
  private func isDue(_ group: SubscriberGroup, of list: LiveList, _ now: Instant) -> Bool {
    let state = group.state
    if state.held === list.result.newest { return false }
    let earliest = max(state.lastSent + group.minInterval, state.retryAt)
    if earliest <= now || (state.lastSent == .distantPast && state.retryAt == .distantPast) { return true }
    context.deadlines.wake(list, at: earliest)
    return false
  }

  /// - Parameter alike: the list's groups; each array gets one patch.
  private func sendPatches(_ list: LiveList, _ alike: [[SubscriberGroup]], _ now: Instant) {
    // The key is the version held, and not its number, because a version that a reader made may have the same number as
    // another.
    var differences: [ObjectIdentifier: VersionDifference?] = [:]
    for members in alike {
      let groups = list.audience.groups.merge(members)
      let held = groups[0].state.held
      let difference = differences[ObjectIdentifier(held)] ?? difference(list, since: held)
      if alike.count > 1 { differences[ObjectIdentifier(held)] = difference }
      sendPatch(list, groups, difference, now)
    }
  }

  /// - Returns: nil if too many rows differ.
  private func difference(_ list: LiveList, since held: ResultVersion) -> VersionDifference? {
    let newest = list.result.newest.tree
    return VersionDifference(from: held.tree, to: newest, limit: differenceLimit(newest))
  }

  /// Brings one subscription up to date even if its patch is not due yet, because an answer follows.
  func bringUpToDate(_ subscription: Subscription) {
    guard subscription.isBehind, subscription.list.canReadContents else { return }
    subscription.list.audience.groups.setApart(subscription)
    sendPatches(subscription.list, [[subscription.group]], context.clock.now)
    sendSnapshots()
    joinGroups(subscription)
  }

  /// Answers a client that resumes from a version, with an empty patch if nothing has changed.
  func sendAnswer(_ subscription: Subscription) {
    let difference = difference(subscription.list, since: subscription.group.state.held)
    sendPatch(subscription.list, [subscription.group], difference, context.clock.now, isAnswer: true)
    joinGroups(subscription)
  }

  /// Sends a patch that leads from the client's version of the former list to the newest version of its new list.
  ///
  /// - Returns: false if a snapshot is better.
  func sendRequeried(_ subscription: Subscription, _ window: Window?) -> Bool {
    let newest = subscription.list.result.newest
    guard let difference = difference(subscription.list, since: subscription.group.state.held) else {
      return false
    }
    var patch = difference.patch(window: subscription.group.state.window, becoming: window)
    guard isWorthSending(patch, newest.tree) else { return false }
    send(&patch, subscription.list, [subscription.group], from: nil, context.clock.now)
    // If contents could not be read, the subscription still holds a version of the former list, and only this patch can
    // replace it.
    return subscription.state.isOver || !subscription.isBehind
  }

  /// - Parameters:
  ///   - groups: groups that are due the same patch.
  ///   - isAnswer: whether the clients wait for a message.
  private func sendPatch(
    _ list: LiveList, _ groups: [SubscriberGroup], _ difference: VersionDifference?, _ now: Instant,
    isAnswer: Bool = false
  ) {
    let held = groups[0].state.held
    let newest = list.result.newest
    guard var patch = difference?.patch(window: groups[0].state.window), isWorthSending(patch, newest.tree) else {
      for subscription in groups.flatMap(\.subscriptions) { startOver(subscription) }
      return
    }
    if patch.isEmpty, held.alongside == newest.alongside, !isAnswer {
      for group in groups { group.state.held = newest }
      return
    }
    send(&patch, list, groups, from: held, now)
  }

  /// - Parameters:
  ///   - patch: the patch, whose `contents` are taken out.
  ///   - held: the version of this list that the clients have; nil if their version belongs to another list.
  private func send(
    _ patch: inout Patch, _ list: LiveList, _ groups: [SubscriberGroup], from held: ResultVersion?,
    _ now: Instant
  ) {
    let state = groups[0].state
    let newest = list.result.newest
    do throws(FreshetError) {
      let name = list.nameNewest()
      let contents = patch.takeContents()
      let message = PatchMessage(
        from: state.sentVersion, to: name, commit: list.shown.commit,
        total: newest.tree.count,
        alongside: state.held.alongside == newest.alongside ? nil : newest.alongside,
        order: held == nil ? list.compiled.order : nil,
        columns: list.compiled.columns, patch: patch,
        rows: try list.reader.contents(of: contents, in: newest.tree),
        changed: held.map { list.changedColumns(of: contents, since: $0) }
          ?? Array(repeating: .all, count: contents.count))
      output.send(.patch(message), shape: groups[0].shape, to: groups.map(\.recipients))
      context.statistics.patches += 1
      list.newestWasSent()
      for group in groups {
        group.state = ClientState(
          held: newest, sentVersion: name, window: patch.window, sentState: SentState(list), lastSent: now)
      }
    } catch { for group in groups { postpone(group, of: list, error) } }
  }

  /// Called when contents could not be read. Clients get the error once, and the patch when contents can be read again.
  ///
  /// - Returns: false if the error is final and the subscriptions have ended.
  @discardableResult
  func postpone(_ group: SubscriberGroup, of list: LiveList, _ error: FreshetError) -> Bool {
    if lists.database?.connection.hasLostState == true {
      // The next tick sees a state in which contents can be read.
      lists.noteDirty(list)
      return true
    }
    lists.database?.connection.transaction.restore()
    // After it was corrected, the list sends them a snapshot.
    if checks.mendIfMissing(list, error) { return true }
    if error.isFinal {
      for subscription in group.subscriptions { end(subscription, error) }
      return false
    }
    if group.state.retryAt == .distantPast {
      output.send(.error(error, isFatal: false), shape: group.shape, to: [group.recipients])
    }
    group.state.retryAt = context.clock.now + context.intervals.retry
    lists.noteDirty(list)
    context.deadlines.wake(list, at: group.state.retryAt)
    return true
  }

  /// If more rows than this changed, a patch is not worth sending.
  private func differenceLimit(_ tree: SectionedTree) -> Int { max(tree.count, context.configuration.patchBytes / 8) }

  /// Whether a patch is estimated to be smaller than a snapshot, or is small anyway.
  private func isWorthSending(_ patch: Patch, _ tree: SectionedTree) -> Bool {
    let rowBytes = 64
    let places = patch.deleted.count + patch.inserted.count + 2 * (patch.moved.count + patch.updated.count)
    let bytes =
      places * 8 + patch.sectionsDeleted.count * 4 + patch.sectionsInserted.count * 48
      + patch.sectionTotals.count * 24 + patch.contents.count * rowBytes
    if bytes <= context.configuration.patchBytes { return true }
    let visible = patch.window?.range(total: tree.count).count ?? tree.count
    return bytes <= tree.sectionCount * 48 + visible * rowBytes
  }
}
