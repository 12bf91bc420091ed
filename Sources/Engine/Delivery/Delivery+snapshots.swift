import Following
import Ground
import Lists
import LiveQuery
import RankedCollections
import Requests
import Store
import Wire

// Sends snapshots, and large results in parts.
extension Delivery {
  /// Sends the subscription a snapshot at the end of this tick.
  func startOver(_ subscription: Subscription) {
    loading[subscription.key] = nil
    guard subscription.state.startOver() else { return }
    // The waiting request is answered after the snapshot.
    _ = lists.requests.remove(.subscription(subscription.key))
    let list = subscription.list
    list.audience.groups.setApart(subscription)
    putOff([subscription], list)
  }

  private func putOff(_ subscriptions: [Subscription], _ list: LiveList) {
    for subscription in subscriptions {
      list.audience.startingOver[SnapshotGroup(subscription), default: []].append(subscription)
    }
    startingOver[ObjectIdentifier(list)] = list
  }

  /// Called when a subscription that waits for a snapshot has ended.
  func stopStartingOver(_ subscription: Subscription) {
    let group = SnapshotGroup(subscription)
    let list = subscription.list
    list.audience.startingOver[group]?.removeAll { $0 === subscription }
    if list.audience.startingOver[group]?.isEmpty == true { list.audience.startingOver[group] = nil }
  }

  func sendSnapshots() {
    if startingOver.isEmpty { return }
    let lists = startingOver
    startingOver = [:]
    for list in lists.values {
      let groups = list.audience.startingOver
      list.audience.startingOver = [:]
      for subscriptions in groups.values {
        // Sending to other subscriptions may have ended some of these.
        let due = subscriptions.filter { $0.state.isStartingOver }
        if !due.isEmpty { sendSnapshot(due, list) }
      }
    }
  }

  /// - Parameter subscriptions: subscriptions that are due the same snapshot.
  private func sendSnapshot(_ subscriptions: [Subscription], _ list: LiveList) {
    let retryAt = subscriptions.map(\.group.state.retryAt).max() ?? .distantPast
    if retryAt > context.clock.now {
      context.deadlines.wake(list, at: retryAt)
      putOff(subscriptions, list)
    } else if let source = snapshotSource(of: subscriptions[0]) {
      sendSnapshot(subscriptions, source, list)
    } else {
      putOff(subscriptions, list)
    }
  }

  /// The source of a snapshot's rows.
  private enum SnapshotSource {
    case read(PendingRead)
    case here
  }

  /// - Returns: nil if a reader must read the rows first, so that they are sent later.
  private func snapshotSource(of subscription: Subscription) -> SnapshotSource? {
    let list = subscription.list
    let wanted = WantedContents(window: subscription.group.state.window)
    let reads = list.reads.filter { $0.wanted == wanted }
    if let read = reads.first(where: { $0.contents != nil }) { return .read(read) }
    if !reads.isEmpty { return nil }
    guard list.canReadContents else {
      lists.hurry(list)
      return nil
    }
    if wanted.range(total: list.result.newest.tree.count).count <= SnapshotAnswers.rowsReadHere { return .here }
    return lists.read(wanted, of: list, for: .session(subscription.key.session)) == nil ? .here : nil
  }

  private func sendSnapshot(_ subscriptions: [Subscription], _ source: SnapshotSource, _ list: LiveList) {
    let first = subscriptions[0]
    do throws(FreshetError) {
      var version = list.result.newest
      var delivery: Snapshot
      var hold: ContentsBudget.Hold?
      switch source {
      case .read(let read):
        hold = read.hold
        delivery = read.snapshot(of: list, try (read.contents ?? .success(PackedRows(columnCount: 0))).get())
        version = read.version
      case .here: delivery = try answers.snapshot(list, window: first.group.state.window)
      }
      delivery.range = 0..<delivery.rows.end(from: 0, byteLimit: context.configuration.chunkBytes)
      output.send(.snapshot(delivery), shape: first.shape, to: Recipients.all(of: subscriptions))
      let rest = LoadingRows(
        message: RowsMessage(
          version: delivery.version, columns: delivery.columns, window: nil, offset: delivery.offset,
          rows: delivery.rows, range: delivery.range),
        hold: hold)
      context.statistics.snapshots += 1
      if version === list.result.newest { list.newestWasSent() }
      for subscription in subscriptions {
        subscription.group.state = ClientState(
          held: version, sentVersion: delivery.version, window: first.group.state.window,
          sentState: SentState(list), lastSent: context.clock.now)
        sent(rest, to: subscription)
      }
    } catch {
      if case .read = source { list.reads.removeAll { $0.contents != nil } }
      // These subscriptions get the snapshot later.
      for subscription in subscriptions where postpone(subscription.group, of: list, error) {
        putOff([subscription], list)
      }
    }
  }

  /// The time in which one tick sends parts of large results.
  private static let partTime = Nanoseconds.milliseconds(2)

  /// Sends the next part to subscriptions whose sessions have taken the previous one. Each distinct part is encoded
  /// once.
  func sendParts() {
    if loading.isEmpty { return }
    var groups: [PartGroup: [Subscription]] = [:]
    for subscription in loading.values where isDrained(subscription) {
      if let group = PartGroup(subscription) { groups[group, default: []].append(subscription) }
    }
    let end = context.clock.now + Self.partTime
    for subscriptions in groups.values {
      sendNextPart(subscriptions)
      if context.clock.now > end { break }
    }
  }

  /// - Parameter subscriptions: subscriptions that are due the same part.
  func sendNextPart(_ subscriptions: [Subscription]) {
    guard var part = subscriptions.first?.state.rows else { return }
    let start = part.message.range.upperBound
    part.message.range = start..<part.message.rows.end(from: start, byteLimit: context.configuration.chunkBytes)
    var message = part.message
    message.offset += start
    output.send(.rows(message), shape: subscriptions[0].shape, to: Recipients.all(of: subscriptions))
    // Only the first part names the window.
    part.message.window = nil
    for subscription in subscriptions { sent(part, to: subscription) }
  }

  /// Called when a part was sent, which may be the last one.
  private func sent(_ part: LoadingRows, to subscription: Subscription) {
    subscription.state.load(part)
    if part.message.isComplete {
      loading[subscription.key] = nil
      joinGroups(subscription)
      answerNext(subscription)
    } else {
      loading[subscription.key] = subscription
    }
  }
}

/// Subscriptions that are due the same part of a large result.
private struct PartGroup: Hashable {
  let version: String
  let window: Window?
  let shape: Shape
  let offset: Int
  let start: Int
  let count: Int

  init?(_ subscription: Subscription) {
    guard let part = subscription.state.rows?.message else { return nil }
    version = part.version
    window = part.window
    shape = subscription.shape
    offset = part.offset
    start = part.range.upperBound
    count = part.rows.count
  }
}
