/// One subscription of one channel: of a WebSocket session, or the one of a stream.
///
/// A client may give an id again as soon as it has asked for the end of the subscription that had it: `number` tells the
/// two apart, and alone identifies a subscription within its session.
package struct SubscriptionKey: Hashable, Sendable {
  package var session: UInt64
  /// What the client calls it.
  package var id: String
  /// From 1 up; 0 for what is no subscription.
  package var number: UInt64

  package init(session: UInt64, id: String, number: UInt64 = 0) {
    self.session = session
    self.id = id
    self.number = number
  }

  package static func == (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
    left.session == right.session && left.number == right.number
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(session)
    hasher.combine(number)
  }
}

/// Subscriptions that their clients gave the same id.
package struct Recipients: Sendable {
  package let id: String
  package internal(set) var sessions: [UInt64] = []

  /// By the bytes of the id: to Swift, texts that differ may be equal.
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
