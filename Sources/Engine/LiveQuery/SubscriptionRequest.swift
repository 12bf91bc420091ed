/// A client's request for a subscription that it has.
package enum SubscriptionRequest: Sendable {
  /// The window moves; the answer is its rows.
  case window(Window)
  /// The answer is these rows; the window stays where it is.
  case fetch(Window)
  /// Where the row with a key is.
  case locate([SQLValue])
  /// Another query in the place of the subscription's; the window stays when none is given.
  case requery(Query, Window?)
  case resync

}
