import Gateway
import LiveQuery
import Requests
import Wire

// Answers to clients that ask for too much.
extension Clients {
  /// A ticket for a query that another part of the server answers: while it lives, the query counts among its client's.
  ///
  /// - Throws: `limit_exceeded`.
  func ticket(_ identity: Identity) throws(FreshetError) -> RequestTicket? {
    guard case .granted(let payer) = limits.take(.queries, of: identity) else { throw .tooManyQueries }
    guard let payer else { return nil }
    return RequestTicket { [limits] in limits.giveBack(.queries, of: payer) }
  }

  /// As above, for a session: while many of its requests wait, no more are read from it.
  func ticket(_ session: ChannelID) throws(FreshetError) -> RequestTicket? {
    guard let requests = sessions[session]?.requests else { return nil }
    let query = try ticket(sessions.identity(of: session))
    requests.begin()
    let limit = bounds.waitingRequests
    return RequestTicket { [gateway] in
      defer { withExtendedLifetime(query) {} }
      if requests.end(limit: limit) { gateway.resume(session) }
    }
  }

  /// The answer to a client that sends too many requests; nil: it has not.
  func refusal(of exchange: HTTPExchange) -> HTTPAnswer? {
    let seconds = limits.secondsUntilAdmitting(exchange.identity)
    return seconds > 0 ? .hasty(seconds) : nil
  }

  /// Answers with a stream, and accepts its one subscription or ends it with the error. On the service thread.
  ///
  /// - Returns: nil if there is no stream to go on with.
  func admit(
    _ exchange: HTTPExchange, as form: StreamForm, head: [(name: String, value: String)] = [],
    host: any SubscriptionHost
  ) -> SubscriptionKey? {
    guard let use = exchange.use, let channel = exchange.openStream(form, head: head) else { return nil }
    sessions.open(channel, for: exchange.request.client, database: nil)
    sessions.enter(use, channel)
    use.database.output.enter(channel, form)
    if let record = exchange.record { records.open(channel, for: record) }
    let refused = SubscriptionKey(session: channel.rawValue, id: form.id)
    if case .refused = sessions.become(exchange.identity, channel) {
      answer(.error(.tooManyConnections, isFatal: true), to: refused)
      return nil
    }
    switch sessions.admit(form.id, of: channel, host: host, limit: 1) {
    case .admitted(let key): return key
    case .tooManyOfClient: answer(.error(FreshetError.tooManySubscriptions, isFatal: true), to: refused)
    case .duplicate, .tooMany, .sessionIsGone: break
    }
    return nil
  }

  func refuseHasty(_ message: ClientMessage, _ key: SubscriptionKey) {
    let isSubscribe = if case .subscribe = message { true } else { false }
    answer(.error(FreshetError.tooManyMessages, isFatal: isSubscribe), to: key)
  }
}

extension FreshetError {
  static let tooManyMessages = FreshetError(.limitExceeded, "this client sends too many messages: send fewer a second")
  static let tooManyConnections = FreshetError(.limitExceeded, "too many connections from this client")
  static let tooManyQueries = FreshetError(
    .limitExceeded, "this client waits for as many queries as one may: wait for their answers")
  static let tooManySubscriptions = FreshetError(.limitExceeded, "this client has all subscriptions that one may have")
}
