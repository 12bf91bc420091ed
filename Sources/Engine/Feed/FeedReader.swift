import Ground
package import LiveQuery
package import Requests
import Store

/// A reader of the feed: a WebSocket session's subscription, or a stream.
///
/// Owner: the feed's thread.
final class FeedReader {
  let key: SubscriptionKey
  let view: ChangeView
  /// The position after which the reader begins; nil if it begins with the next commit.
  let since: String?
  /// The number of the last commit that it was sent, or that changed nothing for it; nil while some of its tables are
  /// being read.
  var passed: UInt64?
  /// When it was last sent a message.
  var told = Instant.distantPast

  init(_ key: SubscriptionKey, _ view: ChangeView, since: String?) {
    self.key = key
    self.view = view
    self.since = since
  }
}

/// A request to read the feed.
package struct FeedSubscription: Sendable {
  package var key: SubscriptionKey
  package var request: ChangesRequest
  package var access: Query.Access
  package var since: String?

  package init(key: SubscriptionKey, request: ChangesRequest, access: Query.Access, since: String?) {
    self.key = key
    self.request = request
    self.access = access
    self.since = since
  }
}

/// Commands from other threads to the feed.
enum FeedCommand: Sendable {
  case subscribe(FeedSubscription)
  case unsubscribe(SubscriptionKey)
  case end(SubscriptionKey, FreshetError)
  /// A command for subscriptions of lists, which the feed refuses.
  case refuse(SubscriptionKey)
  case sessionClosed(UInt64)
  /// Calls back once a reader has been sent everything up to now, with its position, or with nil if there is no such
  /// reader.
  case catchUp(SubscriptionKey, reply: @Sendable (String?) -> Void)
  case stop
}
