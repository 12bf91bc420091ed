import Following
import Ground
import Lists
import LiveQuery
import Requests
import Store

/// The version that a client has of a result, and when it was last sent a message.
struct ClientState {
  /// The version that the client has. The contents of its window are exactly this version's.
  var held: ResultVersion
  /// The version's name as it was last sent, which is `from` of the next patch.
  var sentVersion: String
  /// The rows whose contents the client holds; nil for all rows.
  var window: Window?
  /// The newest state that the client was sent, in this epoch.
  var sentState = SentState()
  /// When the last message was sent; `distantPast` if no message was sent.
  var lastSent = Instant.distantPast
  /// When to retry after contents could not be read; `distantPast` if no retry is due.
  var retryAt = Instant.distantPast
}

/// The newest state of the file that a client was sent.
struct SentState {
  private var epoch: FileEpochs.Epoch?
  private var commit = Int64.min

  init() {}

  init(_ list: LiveList) {
    epoch = list.versions.commits.epoch
    commit = list.shown.commit
  }

  /// Whether a client may be sent what the list shows, so that commits never decrease within an epoch.
  func precedes(_ list: LiveList) -> Bool {
    list.isFollowing || epoch != list.versions.commits.epoch || commit <= list.shown.commit
  }

  mutating func formUnion(_ other: SentState) {
    if epoch == nil || (epoch == other.epoch && commit < other.commit) { self = other }
  }
}

/// Subscriptions of one query with the same id, whose clients are in the same state and therefore get the same
/// messages.
///
/// A group stays together from tick to tick, so that a tick sends to all of it without visiting each subscription. A
/// subscription that diverges is set apart in a group of its own; groups with equal states are merged when they are due
/// the same patch.
///
/// Owner: the follower's thread.
final class SubscriberGroup {
  let shape: Shape
  /// Least time between two patches.
  let minInterval: Nanoseconds
  @exclusivity(unchecked) var state: ClientState
  /// The group's index among the query's groups; nil if it gets no patches at present.
  @exclusivity(unchecked) var place: Int?

  @exclusivity(unchecked) private(set) var subscriptions: [Subscription] = []
  /// In the order of `subscriptions`.
  @exclusivity(unchecked) private(set) var recipients: Recipients

  init(id: String, shape: Shape, minInterval: Nanoseconds, state: ClientState) {
    self.shape = shape
    self.minInterval = minInterval
    self.state = state
    recipients = Recipients(id: id)
  }

  func add(_ subscription: Subscription) {
    subscription.group = self
    subscription.place = subscriptions.count
    subscriptions.append(subscription)
    recipients.sessions.append(subscription.key.session)
  }

  func remove(_ subscription: Subscription) {
    let place = subscription.place
    let last = subscriptions.count - 1
    subscriptions[last].place = place
    subscriptions.swapAt(place, last)
    subscriptions.removeLast()
    recipients.sessions.swapAt(place, last)
    recipients.sessions.removeLast()
  }

  /// - Returns: a group in the same state that takes these subscriptions over.
  func split(_ subscriptions: [Subscription]) -> SubscriberGroup {
    let group = SubscriberGroup(id: recipients.id, shape: shape, minInterval: minInterval, state: state)
    for subscription in subscriptions {
      remove(subscription)
      group.add(subscription)
    }
    return group
  }

  /// Takes over all subscriptions of a group that is due the same patch.
  func take(_ other: SubscriberGroup) {
    for subscription in other.subscriptions { add(subscription) }
    state.lastSent = max(state.lastSent, other.state.lastSent)
    state.sentState.formUnion(other.state.sentState)
    state.retryAt = max(state.retryAt, other.state.retryAt)
  }
}
