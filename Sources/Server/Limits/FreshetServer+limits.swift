import Controllers
import LiveQuery
import Wire

// What a client that asks for too much is answered.
extension FreshetServer {
  /// Microseconds of the clock by which clients are limited.
  var now: Int64 {
    if let clock = configuration.socketClock { return clock() }
    let time = ContinuousClock.now - clockStart
    return time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
  }

  func refuseHasty(_ message: ClientMessage, _ key: SubscriptionKey) {
    let isSubscribe = if case .subscribe = message { true } else { false }
    output.answer(.error(FreshetError.tooManyMessages, isFatal: isSubscribe), to: key)
  }
}

extension FreshetError {
  static let tooManyMessages = FreshetError(.limitExceeded, "this client sends too many messages: send fewer a second")
  static let tooManySubscriptions = FreshetError(.limitExceeded, "this client has all subscriptions that one may have")
}
