/// Whether sessions had taken everything when a turn's patches were made: each is asked once, for what the turn sends to one of
/// its subscriptions must not keep the others waiting.
///
/// A session has a seat, a small number, so that nothing needs to be hashed.
struct SessionReadiness {
  /// By seat: twice the number of the flush in which the session was asked, and one more if it had taken everything.
  private var answers: [UInt64] = []
  private var freeSeats: [Int] = []

  mutating func takeSeat() -> Int {
    if let seat = freeSeats.popLast() {
      answers[seat] = 0
      return seat
    }
    answers.append(0)
    return answers.count - 1
  }

  mutating func leave(_ seat: Int) { freeSeats.append(seat) }

  /// - Parameter flush: the number of the turn's `Follower.flush`, from 1.
  mutating func isDrained(_ seat: Int, in flush: UInt64, ask: () -> Bool) -> Bool {
    if answers[seat] >> 1 != flush { answers[seat] = flush << 1 | (ask() ? 1 : 0) }
    return answers[seat] & 1 == 1
  }

  /// - Parameter ask: whether a session has taken everything.
  /// - Returns: the subscriptions of a group that have to wait.
  mutating func waiting(
    of group: SubscriberGroup, in flush: UInt64, ask: (_ session: UInt64) -> Bool
  ) -> [Subscription] {
    var waiting: [Subscription] = []
    for (place, seat) in group.seats.enumerated()
    where !isDrained(seat, in: flush, ask: { ask(group.recipients.sessions[place]) }) {
      waiting.append(group.subscriptions[place])
    }
    return waiting
  }
}
