import Ground
import Lists
import LiveQuery
import Requests
import Store
import Wire

/// One client's interest in a result.
///
/// Changes are not queued for it, because its group's state determines the next message.
///
/// Owner: the follower's thread.
package final class Subscription {
  let key: SubscriptionKey
  /// The list, which `requery` changes.
  @exclusivity(unchecked) var list: LiveList
  /// The group, which only groups set, as they set `place`.
  @exclusivity(unchecked) var group: SubscriberGroup
  var place = 0

  @exclusivity(unchecked) var state = StateMachine()

  /// Creates a subscription in a group of its own, which gets no patches until `Delivery.joinGroups`.
  init(
    key: SubscriptionKey, shape: Shape, minInterval: Duration, window: Window?, list: LiveList
  ) {
    self.key = key
    self.list = list
    let newest = list.result.newest
    group = SubscriberGroup(
      id: key.id, shape: shape, minInterval: Nanoseconds(minInterval),
      state: ClientState(held: newest, sentVersion: "", window: window))
    group.add(self)
  }

  var shape: Shape { group.shape }
  var isBehind: Bool { group.state.held !== list.result.newest }
}

/// Rows that are sent in parts.
struct LoadingRows {
  /// The part that was sent last.
  var message: RowsMessage
  /// The memory budget that the rows take, if they are many.
  var hold: ContentsBudget.Hold?
}

extension Recipients {
  /// Groups subscriptions by the bytes of their id, because Swift considers some different texts equal.
  static func all(of subscriptions: [Subscription]) -> [Recipients] {
    var all: [Recipients] = []
    var places: [[UInt8]: Int] = [:]
    for subscription in subscriptions {
      let id = Array(subscription.key.id.utf8)
      let place = places[id] ?? all.count
      if place == all.count {
        places[id] = place
        all.append(Recipients(id: subscription.key.id))
      }
      all[place].sessions.append(subscription.key.session)
    }
    return all
  }
}

extension SubscriptionOutput {
  func send(_ message: ServerMessage, to subscription: Subscription) {
    send(message, shape: subscription.shape, to: subscription.key)
  }
}
