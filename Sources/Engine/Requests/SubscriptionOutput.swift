package import LiveQuery
package import Wire

/// Sends followers' messages to subscriptions. Called on follower threads; must return soon.
package protocol SubscriptionOutput: AnyObject, Sendable {
  /// Whether the kernel has everything that was sent to the session. If not, the session's subscriptions wait, and
  /// `ControllerPool` is called as soon as the session is drained.
  ///
  /// - Parameter follower: the caller's number in the pool.
  func isDrained(_ session: UInt64, for follower: Int) -> Bool

  /// Sends one message to several subscriptions that differ only in session and id. It may be delayed until the next
  /// `flush`.
  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients])

  /// Called when a subscription has ended, before the error that ended it is sent. Its id is free from now on.
  ///
  /// - Parameter code: the error's code.
  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode)

  /// Called when the tick is over, so that no further message could share a write with the messages sent before.
  func flush()

  /// Called when another database has replaced the file, or a copy was restored into it.
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
