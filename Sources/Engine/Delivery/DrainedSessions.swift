import Requests

/// Remembers which sessions were drained at the start of a tick's messages. A session is checked once a tick, so that a
/// message to one of its subscriptions does not make the others wait.
struct DrainedSessions {
  /// For each session, by the low half of its number, which is small: twice the number of the tick that checked it,
  /// plus one if it was drained.
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
