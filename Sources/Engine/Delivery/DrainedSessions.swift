import Requests

/// Which sessions were drained when a tick's messages were made. A session is asked once a tick, so that a message to
/// one of its subscriptions does not make the others wait.
struct DrainedSessions {
  /// Indexed by the low half of the session's number, which is small: twice the number of the tick that asked, plus one
  /// if the session was drained.
  private var answers: [UInt64] = []

  /// - Parameter flush: the number of the tick's `Delivery.flush`, counted from 1.
  mutating func contains(_ session: UInt64, in flush: UInt64, ask: (UInt64) -> Bool) -> Bool {
    let slot = Int(UInt32(truncatingIfNeeded: session))
    while answers.count <= slot { answers.append(0) }
    if answers[slot] >> 1 != flush { answers[slot] = flush << 1 | (ask(session) ? 1 : 0) }
    return answers[slot] & 1 == 1
  }

  /// The group's subscriptions whose sessions are not drained.
  mutating func waiting(
    of group: SubscriberGroup, in flush: UInt64, ask: (_ session: UInt64) -> Bool
  ) -> [Subscription] {
    var waiting: [Subscription] = []
    for (place, session) in group.recipients.sessions.enumerated() where !contains(session, in: flush, ask: ask) {
      waiting.append(group.subscriptions[place])
    }
    return waiting
  }
}
