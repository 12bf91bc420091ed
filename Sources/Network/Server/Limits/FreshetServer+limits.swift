import Gateway
import LiveQuery
import Requests
import Wire

// What a client that asks for too much is answered.
extension FreshetServer {
  /// Microseconds of the clock by which clients are limited.
  var now: Int64 {
    if let clock = configuration.socketClock { return clock() }
    let time = ContinuousClock.now - clockStart
    return time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
  }

  /// For a query that another part of the server answers: while this lives, the query counts among its client's.
  ///
  /// - Throws: `limit_exceeded`.
  func ticket(_ identity: Identity) throws(FreshetError) -> RequestTicket? {
    guard case .granted(let payer) = sessions.beginQuery(of: identity, at: now) else { throw .tooManyQueries }
    guard let payer else { return nil }
    return RequestTicket { [gateway, serviceWork, sessions] in
      serviceWork.post(to: gateway) { sessions.endQuery(of: payer) }
    }
  }

  /// The same for a session's: while many of a session wait, no more are read from it.
  func ticket(_ session: ChannelID) throws(FreshetError) -> RequestTicket? {
    guard let requests = sessions[session]?.requests else { return nil }
    let query = try ticket(sessions.identity(of: session))
    requests.begin()
    let limit = configuration.limits.waitingRequests
    return RequestTicket { [gateway] in
      defer { withExtendedLifetime(query) {} }
      if requests.end(limit: limit) { gateway.resume(session) }
    }
  }

  func refuseHasty(_ message: ClientMessage, _ key: SubscriptionKey) {
    let isSubscribe = if case .subscribe = message { true } else { false }
    output.answer(.error(FreshetError.tooManyMessages, isFatal: isSubscribe), to: key)
  }
}

extension FreshetError {
  static let tooManyMessages = FreshetError(.limitExceeded, "this client sends too many messages: send fewer a second")
  static let tooManyConnections = FreshetError(.limitExceeded, "this client has all connections that one may have")
  static let tooManyQueries = FreshetError(
    .limitExceeded, "this client waits for as many queries as one may: wait for their answers")
  static let tooManySubscriptions = FreshetError(.limitExceeded, "this client has all subscriptions that one may have")
}
