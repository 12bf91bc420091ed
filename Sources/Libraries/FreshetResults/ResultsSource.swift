package import LiveQuery

/// Where lists come from: the engine in this process, or a server.
package protocol ResultsSource: Sendable {
  /// Begins to follow a query. Ends with the feed.
  func follow(_ query: Query, window: Window?) -> any ResultsFeed
}

/// One subscription. Any thread, but one caller of `next` at a time.
package protocol ResultsFeed: AnyObject, Sendable {
  /// The next message. The source makes the one after it when this one is taken, so that a slow caller gets fewer and larger patches.
  ///
  /// - Returns: nil when the feed was closed.
  func next() async -> ListMessage?
  /// What comes of it comes as a message; places of keys in the order of the requests.
  func request(_ request: SubscriptionRequest)
  /// `next` returns `laid`, behind what has come.
  func noteLaid()
  /// Nothing comes any more. Can be repeated.
  func close()
}
