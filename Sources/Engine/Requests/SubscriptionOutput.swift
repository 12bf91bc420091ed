package import LiveQuery
package import Wire

/// Where followers send subscriptions' messages. Called on follower threads; must return soon.
package protocol SubscriptionOutput: AnyObject, Sendable {
  /// Whether the kernel has everything that was sent to the session. If not, the session's subscriptions wait, and
  /// `ControllerPool` is called as soon as the session is drained.
  ///
  /// - Parameter follower: the caller's number in the pool.
  func isDrained(_ session: UInt64, for follower: Int) -> Bool

  /// Sends one message to several subscriptions that differ only in session and id, at the latest with the next
  /// `flush`.
  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients])

  /// The subscription is over, and the error that ended it is sent next. Its id is free from now on.
  ///
  /// - Parameter code: the error's code.
  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode)

  /// The tick is over: no further message could share a write with those sent before.
  func flush()

  /// Another database has come into the file's place, or a copy was restored into it.
  func epochChanged()
}

extension SubscriptionOutput {
  package func send(_ message: ServerMessage, shape: Shape, to key: SubscriptionKey) {
    send(message, shape: shape, to: [Recipients(id: key.id, sessions: [key.session])])
  }

  package func flush() {}
  package func epochChanged() {}
}

/// Receives a subscription's requests.
package protocol SubscriptionHost: AnyObject, Sendable {
  /// Any thread.
  func post(_ command: FollowerCommand)
}
