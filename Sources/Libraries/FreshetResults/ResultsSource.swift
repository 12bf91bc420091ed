package import LiveQuery

/// The source of lists: this process's engine, or a server.
package protocol ResultsSource: Sendable {
  /// Begins to follow a query, until the feed is closed.
  func follow(_ query: Query, window: Window?) -> any ResultsFeed
}

/// One subscription. Any thread, but one caller of `next` at a time.
package protocol ResultsFeed: AnyObject, Sendable {
  /// The next message. The source makes the one after it when this one is taken, so that a slow caller gets fewer and
  /// larger patches.
  ///
  /// - Returns: nil if the feed was closed.
  func next() async -> ListMessage?
  /// The answer arrives as a message; answers to `locate` arrive in the order of the requests.
  func request(_ request: SubscriptionRequest)
  /// Makes `next` return `laid`, after the messages that have arrived.
  func noteLaid()
  /// Ends the messages. Idempotent.
  func close()
}
