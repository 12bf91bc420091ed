import Controllers
import Feed
import Gateway
import LiveQuery
import Logging
import Requests
import Synchronization
import Wire

/// The gateway's delegate: reads what clients send, on the service thread, and passes it on.
final class SessionFront: GatewayDelegate {
  private let server: FreshetServer

  init(_ server: FreshetServer) { self.server = server }

  func gateway(_ gateway: Gateway, secondsUntilAdmitting client: ClientAddress) -> Int {
    server.sessions.secondsUntilAdmitting(client, at: server.now)
  }

  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int? {
    guard server.isReady.load(ordering: .relaxed) else { return 503 }
    if let refusal = server.originPolicy.refusal(of: handshake) {
      server.originRefusals.note(refusal)
      return 403
    }
    return server.refusal(of: handshake)
  }

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest) {
    server.sessions.open(session, for: handshake.client)
    server.output.send(server.greeting.hello, to: session)
    server.identify(session, handshake)
    server.noteOpening(session, handshake)
  }

  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    if server.sessions[session]?.who.hold(message) == true { return false }
    return server.receive(message, from: session)
  }

  func gateway(_ gateway: Gateway, drainedFor waiters: UInt64) { server.pool.sessionsDrained(for: waiters) }

  /// A follower has ended a subscription.
  func gateway(_ gateway: Gateway, notified number: UInt64, of channel: ChannelID) {
    if number == ServiceWork.number { return server.serviceWork.run() }
    let end = SubscriptionEnd(rawValue: number)
    server.noteEnd(end.number, of: channel, end.code)
    server.sessions.remove(end.number, of: channel)
  }

  func gateway(
    _ gateway: Gateway, answered id: RequestID, with outcome: GatewayOutcome, to request: () -> RequestLine
  ) { server.noteAnswer(id, outcome, request) }

  func gatewayTicked(_ gateway: Gateway) { server.lookAtTokens() }

  func gateway(_ gateway: Gateway, closed channel: ChannelID) {
    server.noteClose(channel)
    server.sessions.close(channel)
    server.pool.post(.sessionClosed(channel.rawValue))
  }

  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID) {
    let record = server.record(request, id)
    let origins = CrossOrigin(request, allowed: server.configuration.allowedOrigins)
    server.identify(request) { [server] identity in
      let exchange = HTTPExchange(
        request: request.withoutToken, identity: (try? identity.get()) ?? .anonymous, id: id, gateway: gateway,
        origins: origins, epochs: Route.isAPI(request.path) ? server.epochs : nil, record: record)
      if case .success(let identity) = identity { record.identify(server.actor(request.peer, identity)) }
      // The server's health is no secret.
      if case .failure(let error) = identity, !Route.metricsPrefixes.contains(request.path) {
        return server.refuse(exchange, error)
      }
      let seconds = server.sessions.secondsUntilAdmitting(exchange.identity, at: server.now)
      if seconds > 0 { return exchange.answer(.hasty(seconds)) }
      server.answer(exchange)
    }
  }

  func gateway(_ gateway: Gateway, abandoned request: RequestID) {
    server.snapshotRequests.remove(request)?.abandon()
  }

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel) { server.log(line, level) }
}

extension FreshetServer {
  func log(_ line: String, _ level: GatewayLogLevel) {
    let levels: [GatewayLogLevel: Logger.Level] = [.error: .error, .warning: .warning, .notice: .notice, .info: .debug]
    logger.log(level: levels[level] ?? .debug, "\(line)")
  }
}

extension FreshetServer {
  var originPolicy: OriginPolicy {
    OriginPolicy(
      allowed: configuration.allowedOrigins, hosts: configuration.allowedHosts, isLoopback: configuration.isLoopback)
  }

  /// Takes in a message.
  ///
  /// - Returns: whether the next one may be read.
  func receive(_ message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    let verdict = sessions.judgeMessage(of: session, at: now)
    if verdict == .closeForTooMany {
      gateway.close(session, code: 4429, reason: "this client sends too many messages")
      return true
    }
    do throws(ClientMessageError) {
      let (id, message) = try ClientMessage.parse(message)
      guard verdict == .welcome else {
        refuseHasty(message, SubscriptionKey(session: session.rawValue, id: id))
        return true
      }
      perform(message, SubscriptionKey(session: session.rawValue, id: id))
    } catch {
      refuse(error, session)
    }
    return sessions[session]?.requests.mayBeginAnother(limit: configuration.limits.waitingRequests) ?? true
  }

  private func refuse(_ error: ClientMessageError, _ session: ChannelID) {
    if error.isNotAnObject {
      gateway.close(session, code: 4400, reason: String(error.error.message.prefix(100)))
    } else {
      let frame = Frame(reserving: 256) {
        ServerMessage.error(error.error, isFatal: false).write(to: &$0, id: error.id, .arrays)
      }
      output.send(frame, to: session)
    }
    rejections.count(error.error.code)
  }

  /// Does what a client asks, or says why not.
  func perform(_ message: ClientMessage, _ key: SubscriptionKey) {
    switch message {
    case .subscribe(let subscribe): perform(subscribe, key)
    case .changes(let changes, let since): perform(changes, since: since, key)
    case .window(let window): request(.window(window), key)
    case .fetch(let window): request(.fetch(window), key)
    case .locate(let value): request(.locate(value), key)
    case .requery(let source, let window):
      let identity = sessions.identity(of: key.channel)
      do throws(FreshetError) {
        request(.requery(try query(.init(source), for: identity), window), key)
        if let (key, _) = sessions.find(key.id, of: key.channel) { noteRequery(key, source) }
      } catch {
        noteRefusal("requery", key.channel, source, error.code)
        output.answer(.error(error, isFatal: false), to: key)
      }
    case .resync: request(.resync, key)
    case .unsubscribe:
      guard let (key, host) = sessions.find(key.id, of: key.channel) else { return refuse(key) }
      noteEnd(key.number, of: key.channel, nil)
      sessions.remove(key.number, of: key.channel)
      host.post(.unsubscribe(key))
    case .transact(let source, let once): transact(source, once: once, key)
    // From the service thread itself: how long a follower's tick takes is not what is measured.
    case .ping: output.answer(.pong, to: key)
    case .authenticate(let token): authenticate(token, key)
    }
  }

  private func refuse(_ key: SubscriptionKey) {
    let error = FreshetError(.unknownSubscription, "there is no subscription with the id \"\(key.id)\"")
    output.answer(.error(error, isFatal: false), to: key)
  }

  /// Requests that lead to rows are refused before any work is done for them.
  ///
  /// - Throws: `overloaded` while as much is on its way to clients as may be.
  func checkRoom() throws(FreshetError) {
    // Rows come in parts: one of them has to fit.
    if gateway.hasRoom(for: 64 << 10) { return }
    gateway.noteOverload()
    throw FreshetError.noRoom
  }

  private func request(_ request: SubscriptionRequest, _ key: SubscriptionKey) {
    do throws(FreshetError) {
      try checkRoom()
      guard let (key, host) = sessions.find(key.id, of: key.channel) else { return refuse(key) }
      host.post(.request(key, request, ticket: try ticket(key.channel)))
    } catch { output.answer(.error(error, isFatal: false), to: key) }
  }

  private func perform(_ subscribe: ClientMessage.Subscribe, _ key: SubscriptionKey) {
    let query: Query
    let ticket: RequestTicket?
    do throws(FreshetError) {
      try checkRoom()
      query = try self.query(.init(subscribe.query), for: sessions.identity(of: key.channel))
      ticket = try self.ticket(key.channel)
    } catch {
      noteRefusal("subscribe", key.channel, subscribe.query, error.code)
      return output.answer(.error(error, isFatal: true), to: key)
    }
    let follower = pool.follower(for: query)
    guard let key = admit(key, host: follower, refused: { noteRefusal("subscribe", key.channel, subscribe.query, $0) })
    else { return }
    noteSubscribe(key, subscribe.query)
    follower.post(
      .subscribe(
        .init(
          key: key, query: query, window: subscribe.window, since: subscribe.since,
          minInterval: subscribe.minInterval, shape: subscribe.shape, ticket: ticket)))
  }

  /// Takes a session's subscription on, or tells the client why not.
  private func admit(
    _ key: SubscriptionKey, host: any SubscriptionHost, refused: (ErrorCode) -> Void
  ) -> SubscriptionKey? {
    let limit = configuration.limits.subscriptionLimit
    switch sessions.admit(key.id, of: key.channel, host: host, limit: limit, at: now) {
    case .sessionIsGone: break
    case .admitted(let key): return key
    case .duplicate:
      refused(.duplicateSubscription)
      let error = FreshetError(.duplicateSubscription, "the id \"\(key.id)\" is taken: unsubscribe it first")
      output.answer(.error(error, isFatal: false), to: key)
    case .tooManyOfClient:
      output.answer(.error(FreshetError.tooManySubscriptions, isFatal: true), to: key)
    case .tooMany:
      refused(.limitExceeded)
      let error = FreshetError(.limitExceeded, "a connection may have \(limit) subscriptions")
      output.answer(.error(error, isFatal: true), to: key)
    }
    return nil
  }

  private func perform(_ request: ChangesRequest, since: String?, _ key: SubscriptionKey) {
    let access: Query.Access
    do throws(FreshetError) {
      try checkRoom()
      access = try permissions(of: sessions.identity(of: key.channel)).ownQueries()
    } catch {
      noteRefusal("changes", key.channel, .adHoc(request.outline), error.code)
      return output.answer(.error(error, isFatal: true), to: key)
    }
    let source = QuerySource.adHoc(request.outline)
    guard let key = admit(key, host: pool.feed, refused: { noteRefusal("changes", key.channel, source, $0) }) else {
      return
    }
    noteSubscribe(key, source, event: "changes")
    pool.feed.subscribe(.init(key: key, request: request, access: access, since: since))
  }

  private func transact(_ source: TransactionSource, once: String?, _ key: SubscriptionKey) {
    let identity = sessions.identity(of: key.channel)
    let transaction: Transaction
    let ticket: RequestTicket?
    let write = AuditLog.Write(actor: records.actor(of: key.channel), subject: subject(of: source))
    do throws(FreshetError) {
      transaction = try permissions(of: identity).transaction(configuration.statements) { source }
      ticket = try self.ticket(key.channel)
    } catch {
      guard let transactions else { return output.answer(.error(error, isFatal: false), to: key) }
      return transactions.refuse(write, error, once: once.map { .init($0, of: identity) }) { [output] outcome in
        output.answer(ServerMessage(outcome), to: key)
      }
    }
    guard let transactions else { return }
    let named = once.map { TransactionMemory.Key($0, of: identity) }
    transactions.transact(transaction, as: write, once: named, seenBy: pool) { [output] outcome in
      defer { withExtendedLifetime(ticket) {} }
      output.answer(ServerMessage(outcome), to: key)
    }
  }
}

extension ServerMessage {
  fileprivate init(_ outcome: TransactionMemory.Outcome) {
    switch outcome {
    case .success(let committed): self = .committed(committed)
    case .failure(let error): self = .error(error, isFatal: false)
    }
  }
}

extension SubscriptionKey {
  fileprivate var channel: ChannelID { ChannelID(rawValue: session) }
}
