import Controllers
import Gateway
import LiveQuery
import Logging
import Synchronization
import Wire

/// The gateway's delegate: reads what clients send, on the service thread, and passes it on.
final class SessionFront: GatewayDelegate {
  /// Set once, right after the gateway has started; whoever comes before is turned away.
  private let server = Mutex<FreshetServer?>(nil)

  func start(_ server: FreshetServer) { self.server.withLock { $0 = server } }

  func stop() { server.withLock { $0 = nil } }

  private var current: FreshetServer? { server.withLock { $0 } }

  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int? {
    guard let server = current, server.isReady.load(ordering: .relaxed) else { return 503 }
    return server.originPolicy.permits(handshake) ? nil : 403
  }

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest) {
    guard let server = current else { return }
    server.sessions.open(session.rawValue)
    server.output.send(message: server.greeting.hello, to: session.rawValue)
  }

  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    guard let server = current else { return true }
    do throws(ClientMessageError) {
      let (id, message) = try ClientMessage.parse(message)
      server.perform(message, SubscriptionKey(session: session.rawValue, id: id))
    } catch {
      if error.isNotAnObject {
        gateway.close(session, code: 4400, reason: String(error.error.message.prefix(100)))
      } else if let id = error.id {
        server.output.send(.error(error.error, isFatal: false), to: SubscriptionKey(session: session.rawValue, id: id))
      } else {
        server.output.send(message: MessageBody.anonymous(error.error), to: session.rawValue)
      }
    }
    return server.sessions.mayBeRead(session.rawValue, limit: server.configuration.waitingRequests)
  }

  func gateway(_ gateway: Gateway, drained channels: UnsafeBufferPointer<UInt64>) {
    guard let server = current else { return }
    for session in server.sessions.drained(channels) { server.pool.post(.sessionDrained(session)) }
  }

  func gateway(_ gateway: Gateway, closed channel: ChannelID) {
    guard let server = current else { return }
    if channel.isStream, !server.streams.close(channel.rawValue) { return }
    server.sessions.close(channel.rawValue)
    server.pool.post(.sessionClosed(channel.rawValue))
  }

  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID) {
    let server = current
    let origins = CrossOrigin(request, allowed: server?.configuration.allowedOrigins ?? [])
    let exchange = HTTPExchange(request: request, id: id, gateway: gateway, origins: origins)
    guard let server else { return exchange.answer(.problem(.overloaded, "the server is starting")) }
    server.answer(exchange)
  }

  func gateway(_ gateway: Gateway, abandoned request: RequestID) {
    guard let server = current else { return }
    if server.waiting.remove(request) { server.pool.post(.abandon(request: request.rawValue)) }
    self.gateway(gateway, closed: ChannelID.stream(request))
  }

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel) {
    let levels: [GatewayLogLevel: Logger.Level] = [.error: .error, .warning: .warning, .notice: .notice, .info: .debug]
    current?.logger.log(level: levels[level] ?? .debug, "\(line)")
  }
}

extension FreshetServer {
  var originPolicy: OriginPolicy {
    OriginPolicy(
      allowed: configuration.allowedOrigins, hosts: configuration.allowedHosts, isLoopback: configuration.isLoopback)
  }

  /// Does what a client asks, or says why not.
  func perform(_ message: ClientMessage, _ key: SubscriptionKey) {
    switch message {
    case .subscribe(let subscribe): perform(subscribe, key)
    case .window(let window): request(.window(window), key)
    case .fetch(let window): request(.fetch(window), key)
    case .locate(let value): request(.locate(value), key)
    case .requery(let source, let window):
      do throws(FreshetError) { request(.requery(try query(.init(source)), window), key) } catch {
        output.send(.error(error, isFatal: false), to: key)
      }
    case .resync: request(.resync, key)
    case .unsubscribe:
      guard let (key, follower) = sessions.find(key.id, of: key.session) else { return refuse(key) }
      sessions.remove(key)
      follower.post(.unsubscribe(key))
    case .transact(let statements): transact(statements, key)
    // From the service thread itself: how long a follower's turn takes is not what is measured.
    case .ping: output.send(.pong, to: key)
    }
  }

  /// For a request that somebody else answers: while many of a session wait, no more are read from it.
  private func ticket(_ session: UInt64) -> RequestTicket {
    sessions.requestRead(session)
    return RequestTicket { [weak self] in
      guard let self, sessions.requestEnded(session, limit: configuration.waitingRequests) else { return }
      gateway.resume(ChannelID(rawValue: session))
    }
  }

  private func refuse(_ key: SubscriptionKey) {
    let error = FreshetError(.unknownSubscription, "there is no subscription with the id \"\(key.id)\"")
    output.send(.error(error, isFatal: false), to: key)
  }

  /// What leads to rows is refused before anybody works for it.
  ///
  /// - Throws: `overloaded` while as much is on its way to clients as may be.
  func checkRoom() throws(FreshetError) {
    // Rows come in parts: one of them has to fit.
    if gateway.hasRoom(for: 64 << 10) { return }
    gateway.noteOverload()
    throw FreshetError.noRoom
  }

  private func request(_ request: SubscriptionRequest, _ key: SubscriptionKey) {
    do throws(FreshetError) { try checkRoom() } catch { return output.send(.error(error, isFatal: false), to: key) }
    guard let (key, follower) = sessions.find(key.id, of: key.session) else { return refuse(key) }
    follower.post(.request(key, request, ticket: ticket(key.session)))
  }

  private func perform(_ subscribe: ClientMessage.Subscribe, _ key: SubscriptionKey) {
    let query: Query
    do throws(FreshetError) {
      try checkRoom()
      query = try self.query(.init(subscribe.query))
    } catch {
      return output.send(.error(error, isFatal: true), to: key)
    }
    let follower = pool.follower(for: query)
    switch sessions.admit(key.id, of: key.session, follower: follower, limit: configuration.subscriptionLimit) {
    case .sessionIsGone: return
    case .admitted(let key):
      follower.post(
        .subscribe(
          .init(
            key: key, query: query, window: subscribe.window, since: subscribe.since,
            minInterval: subscribe.minInterval, shape: subscribe.shape, ticket: ticket(key.session))))
    case .duplicate:
      let error = FreshetError(.duplicateSubscription, "the id \"\(key.id)\" is taken: unsubscribe it first")
      output.send(.error(error, isFatal: false), to: key)
    case .tooMany:
      let limit = configuration.subscriptionLimit
      let error = FreshetError(.limitExceeded, "a connection may have \(limit) subscriptions")
      output.send(.error(error, isFatal: true), to: key)
    }
  }

  private func transact(_ statements: [SQLStatement], _ key: SubscriptionKey) {
    guard let transactions else {
      let error = FreshetError(.notAllowed, "writing is not allowed on this server")
      return output.send(.error(error, isFatal: false), to: key)
    }
    let ticket = ticket(key.session)
    transactions.transact(statements) { [output] result in
      defer { withExtendedLifetime(ticket) {} }
      switch result {
      case .success(let (changes, commit)): output.send(.committed(changes: changes, commit: commit), to: key)
      case .failure(let error): output.send(.error(error, isFatal: false), to: key)
      }
    }
  }
}
