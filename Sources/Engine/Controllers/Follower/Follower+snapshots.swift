import LiveQuery
import RankedCollections
import Store
import Wire

// Snapshots.
extension Follower {
  /// The subscription gets a snapshot, at the end of this tick.
  func startOver(_ subscription: Subscription) {
    loading[subscription.key] = nil
    guard subscription.state.startOver() else { return }
    subscription.query.groups.setApart(subscription)
    snapshots[SnapshotGroup(subscription), default: []].append(subscription)
  }

  func sendSnapshots() {
    if snapshots.isEmpty { return }
    let groups = snapshots
    snapshots = [:]
    let now = clock.now
    for (group, subscriptions) in groups where !subscriptions.isEmpty {
      if subscriptions.contains(where: { $0.group.state.retryAt > now }) {
        snapshots[group, default: []] += subscriptions
        deadlines.wake(subscriptions[0].query, at: subscriptions.map(\.group.state.retryAt).max() ?? .distantFuture)
      } else if let source = snapshotSource(of: subscriptions[0]) {
        sendSnapshot(subscriptions, source)
      } else {
        snapshots[group, default: []] += subscriptions
      }
    }
  }

  /// Where the rows of a snapshot come from.
  private enum SnapshotSource {
    case read(PendingRead)
    case here
  }

  /// Nil: a reader reads them, and they are sent later.
  private func snapshotSource(of subscription: Subscription) -> SnapshotSource? {
    let query = subscription.query
    let wanted = WantedContents(window: subscription.group.state.window)
    let reads = query.reads.filter { $0.wanted == wanted }
    if let read = reads.first(where: { $0.contents != nil }) { return .read(read) }
    if !reads.isEmpty { return nil }
    guard query.canReadContents else {
      hurry(query)
      return nil
    }
    if wanted.range(total: query.result.newest.tree.count).count <= Self.rowsReadHere { return .here }
    return read(wanted, of: query, for: .session(subscription.key.session)) == nil ? .here : nil
  }

  private func sendSnapshot(_ subscriptions: [Subscription], _ source: SnapshotSource) {
    let first = subscriptions[0]
    let query = first.query
    do throws(FreshetError) {
      var version = query.result.newest
      var delivery: Snapshot
      var hold: ContentsBudget.Hold?
      switch source {
      case .read(let read):
        hold = read.hold
        delivery = read.snapshot(of: query, try (read.contents ?? .success(PackedRows(columnCount: 0))).get())
        version = read.version
      case .here: delivery = try snapshot(query, window: first.group.state.window)
      }
      delivery.range = 0..<delivery.rows.end(from: 0, byteLimit: configuration.chunkBytes)
      output.send(.snapshot(delivery), shape: first.shape, to: Recipients.all(of: subscriptions))
      let rest = LoadingRows(
        message: RowsMessage(
          version: delivery.version, columns: delivery.columns, window: nil, offset: delivery.offset,
          rows: delivery.rows, range: delivery.range),
        hold: hold)
      statistics.snapshots += 1
      if version === query.result.newest { query.newestWasSent(clock.now) }
      for subscription in subscriptions {
        subscription.group.state = ClientState(
          held: version, sentVersion: delivery.version, window: first.group.state.window,
          lastSent: clock.now)
        sent(rest, to: subscription)
      }
    } catch {
      if case .read = source { dropContents(of: query) }
      // They get it later.
      let group = SnapshotGroup(first)
      for subscription in subscriptions where postpone(subscription.group, of: query, error) {
        snapshots[group, default: []].append(subscription)
      }
    }
  }

  /// The contents of the newest version's rows at `offsets`.
  func contents(_ query: FetchedResultsController, _ offsets: Range<Int>) throws(FreshetError) -> PackedRows {
    var rows: [SectionedTree.Row] = []
    rows.reserveCapacity(offsets.count)
    query.result.newest.tree.forEachRow(in: offsets) { rows.append($0) }
    return try query.reader.contents(of: rows, in: query.result.newest.tree)
  }

  /// How long parts of large results are sent in one tick: the others wait for the next one.
  private static let partTime = Nanoseconds.milliseconds(2)

  /// Sends the next part of what is on its way to those who have taken the one before; each distinct part is made once.
  func sendParts() {
    if loading.isEmpty { return }
    var groups: [PartGroup: [Subscription]] = [:]
    for subscription in loading.values where isDrained(subscription) {
      if let group = PartGroup(subscription) { groups[group, default: []].append(subscription) }
    }
    let end = clock.now + Self.partTime
    for subscriptions in groups.values {
      sendNextPart(subscriptions)
      if clock.now > end { break }
    }
  }

  /// - Parameter subscriptions: which are due the same part.
  func sendNextPart(_ subscriptions: [Subscription]) {
    guard var part = subscriptions.first?.state.rows else { return }
    let start = part.message.range.upperBound
    part.message.range = start..<part.message.rows.end(from: start, byteLimit: configuration.chunkBytes)
    var message = part.message
    message.offset += start
    output.send(.rows(message), shape: subscriptions[0].shape, to: Recipients.all(of: subscriptions))
    // Only the first part names the window.
    part.message.window = nil
    for subscription in subscriptions { sent(part, to: subscription) }
  }

  /// A part of rows was sent, which may be the last one.
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
