package import LiveQuery
package import Wire

/// Where followers send what subscriptions get. Called on follower threads; must return soon.
package protocol SubscriptionOutput: AnyObject, Sendable {
  /// Whether everything sent to the session is with the kernel. When not, the session's subscriptions wait, and `ControllerPool`
  /// is called as soon as it is.
  ///
  /// - Parameter follower: who asks, by its number in the pool.
  func isDrained(_ session: UInt64, for follower: Int) -> Bool

  /// Sends, at the latest with the next `flush`, one message to several subscriptions that differ in nothing but session and id.
  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients])

  /// The subscription is over; the error that says so is sent next. By then its id is free: the client may use it again at
  /// once.
  ///
  /// - Parameter code: that of the error.
  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode)

  /// The tick is over: nothing more is sent that could leave together with what was.
  func flush()

  /// The database is another one now than it was: a file in the place of the old one, or a copy restored into it.
  func epochChanged()

  /// A follower has closed the database, whose -wal or -shm was deleted. Everything of this process has to let go of the files
  /// before they can be used again.
  func filesReleased()
}

extension SubscriptionOutput {
  func send(_ message: ServerMessage, to subscription: Subscription) {
    send(message, shape: subscription.shape, to: subscription.key)
  }

  package func send(_ message: ServerMessage, shape: Shape, to key: SubscriptionKey) {
    send(message, shape: shape, to: [Recipients(id: key.id, sessions: [key.session])])
  }

  package func flush() {}
  package func epochChanged() {}
  package func filesReleased() {}
}
