import LiveQuery
import Store

/// What a client has of a result, and when it was sent something last.
struct ClientState {
  /// The version that the client is at. Its window's contents are exactly those of this version.
  var held: ResultVersion
  /// The version's name as the client was last told: what the next patch is `from`.
  var sentVersion: String
  /// What the client holds contents of; nil: everything.
  var window: Window?
  /// `distantPast`: nothing was.
  var lastSent = Instant.distantPast
  /// When to try again after contents could not be read; `distantPast`: they could.
  var retryAt = Instant.distantPast
}

/// Subscriptions of one query, with one id, whose clients are at the same state: from then on they get the same messages.
///
/// A group stays together from tick to tick, so that a tick sends to all of it without looking at each. A subscription that
/// diverges from its group is set apart, in a group of its own; groups with equal states are merged when they are due the same
/// patch.
///
/// Owner: the follower's thread.
final class SubscriberGroup {
  let shape: Shape
  /// Least time between two patches.
  let minInterval: Nanoseconds
  @exclusivity(unchecked) var state: ClientState
  /// Among its query's groups; nil: it gets no patches at present.
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

  /// - Returns: a group at the same state that has these instead.
  func split(_ subscriptions: [Subscription]) -> SubscriberGroup {
    let group = SubscriberGroup(id: recipients.id, shape: shape, minInterval: minInterval, state: state)
    for subscription in subscriptions {
      remove(subscription)
      group.add(subscription)
    }
    return group
  }

  /// Takes in everybody of a group that is due the same patch.
  func take(_ other: SubscriberGroup) {
    for subscription in other.subscriptions { add(subscription) }
    state.lastSent = max(state.lastSent, other.state.lastSent)
    state.retryAt = max(state.retryAt, other.state.retryAt)
  }
}
