/// A client's request that concerns one of its subscriptions.
package enum SubscriptionRequest: Sendable {
  /// Moves the window; the answer is the rows of the new window.
  case window(Window)
  /// Fetches these rows; the window stays where it is.
  case fetch(Window)
  /// Finds the place of the row with a key.
  case locate([SQLValue])
  /// Replaces the subscription's query by another query. The window stays if no window is given.
  case requery(Query, Window?)
  case resync

}
