/// Identifies one subscription of one channel, which is a WebSocket session, or a stream with a single subscription.
///
/// A client may reuse an id as soon as it has ended the subscription that had it. `number` distinguishes the two, and
/// is unique within the session.
package struct SubscriptionKey: Hashable, Sendable {
  package var session: UInt64
  /// The id that the client chose.
  package var id: String
  /// The subscription's number, counted from 1; 0 stands for no subscription.
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

/// Subscriptions whose clients chose the same id.
package struct Recipients: Sendable {
  package let id: String
  package var sessions: [UInt64] = []

  package init(id: String, sessions: [UInt64] = []) {
    self.id = id
    self.sessions = sessions
  }
}
