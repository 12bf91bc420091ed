package import LiveQuery

/// One subscription of one session.
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

/// What a follower has to say to subscriptions: protocol 3.2 as values.
package enum Delivery {
  case snapshot(Snapshot)
  case rows(RowsDelivery)
  case patch(PatchDelivery)
  case unsubscribed
  /// Where the row with a key is; nil when the result has none.
  case located(key: [SQLValue], place: (path: IndexPath, offset: Int)?)
  case error(FreshetError, isFatal: Bool)
}

package struct RowsDelivery {
  package var version: String
  package var columns: [String]
  /// The new window, in the answer to `window`.
  package var window: Window?
  /// Offset in the result of the first of `rows`.
  package var offset: Int
  package var rows: PackedRows
  /// Which of `rows` this message has.
  package var range: Range<Int>
  /// The memory that `rows` take, when they are many.
  var hold: ContentsBudget.Hold?
  package var isComplete: Bool { range.upperBound == rows.count }
}

package struct PatchDelivery {
  package var from: String
  package var to: String
  package var commit: Int64
  package var total: Int
  /// Nil when they are as they were.
  package var alongside: [NamedValue]?
  package var columns: [String]
  package var patch: Patch
  /// One row for each of `patch.contents`.
  package var rows: PackedRows
  /// For each of them, the columns that may have changed.
  package var changed: [ColumnSet]
}

/// Where followers send what subscriptions get. Called on follower threads; must return soon.
package protocol SubscriptionOutput: AnyObject, Sendable {
  /// Whether everything sent to the session is with the kernel. When not, the session's subscriptions wait, and are told
  /// of by `FollowerThread.sessionDrained` as soon as it is.
  func isDrained(_ session: UInt64) -> Bool

  /// Sends, at the latest with the next `flush`, one message to several subscriptions that differ in nothing but session and id.
  func send(_ delivery: Delivery, shape: Shape, to recipients: [Recipients])

  /// The subscription is over; the error that says so is sent next. By then its id is free: the client may use it again at
  /// once.
  func subscriptionEnded(_ key: SubscriptionKey)

  /// The turn is over: nothing more is sent that could leave together with what was.
  func flush()

  /// The database is another one now than it was: a file in the place of the old one, or a copy restored into it.
  func epochChanged()

  /// A follower has closed the database, whose -wal or -shm was deleted. Everything of this process has to let go of the files
  /// before they can be used again.
  func filesReleased()
}

extension SubscriptionOutput {
  func send(_ delivery: Delivery, to subscription: Subscription) {
    send(delivery, shape: subscription.shape, to: subscription.key)
  }

  func send(_ delivery: Delivery, shape: Shape, to key: SubscriptionKey) {
    send(delivery, shape: shape, to: [Recipients(id: key.id, sessions: [key.session])])
  }

  package func flush() {}
  package func epochChanged() {}
  package func filesReleased() {}
}
