import Controllers
import Feed
import Gateway
import LiveQuery
import Requests
import Wire

// Handles clients' messages. On the service thread.
extension Clients {
  /// Handles a message.
  ///
  /// - Returns: whether the next one may be read.
  func receive(_ message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    let verdict = sessions.judgeMessage(of: session)
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
    return sessions[session]?.requests.mayBeginAnother(limit: bounds.waitingRequests) ?? true
  }

  private func refuse(_ error: ClientMessageError, _ session: ChannelID) {
    if error.isNotAnObject {
      gateway.close(session, code: 4400, reason: String(error.error.message.prefix(100)))
    } else {
      let frame = Frame(reserving: 256) {
        ServerMessage.error(error.error, isFatal: false).write(to: &$0, id: error.id, .arrays)
      }
      gateway.send(frame, to: session)
    }
    reports.rejections.count(error.error.code)
  }

  /// Does what a client asks, or says why not.
  private func perform(_ message: ClientMessage, _ key: SubscriptionKey) {
    switch message {
    // The service thread answers, so that a follower's tick does not delay the pong.
    case .ping: answer(.pong, to: key)
    case .authenticate(let token): authenticate(token, key)
    default:
      guard let database = sessions.database(of: key.channel) else {
        let isSubscribe = if case .subscribe = message { true } else { false }
        return answer(.error(.noSuchDatabase, isFatal: isSubscribe), to: key)
      }
      perform(message, key, database)
    }
  }

  private func perform(_ message: ClientMessage, _ key: SubscriptionKey, _ database: ServedDatabase) {
    switch message {
    case .subscribe(let subscribe): perform(subscribe, key, database)
    case .changes(let changes, let since): perform(changes, since: since, key, database)
    case .window(let window): request(.window(window), key, database)
    case .fetch(let window): request(.fetch(window), key, database)
    case .locate(let value): request(.locate(value), key, database)
    case .requery(let source, let window):
      let identity = sessions.identity(of: key.channel)
      do throws(FreshetError) {
        request(.requery(try database.doors.query(.init(source), for: identity), window), key, database)
        if let (key, _) = sessions.find(key.id, of: key.channel) { noteRequery(key, source) }
      } catch {
        noteRefusal("requery", key.channel, source, error.code)
        answer(.error(error, isFatal: false), to: key)
      }
    case .resync: request(.resync, key, database)
    case .unsubscribe:
      guard let (key, host) = sessions.find(key.id, of: key.channel) else { return refuse(key) }
      noteEnd(key.number, of: key.channel, nil)
      sessions.remove(key.number, of: key.channel)
      host.post(.unsubscribe(key))
    case .transact(let source, let once): transact(source, once: once, key, database)
    case .ping, .authenticate: break
    }
  }

  /// Answers a session that may have no database.
  func answer(_ message: ServerMessage, to key: SubscriptionKey) {
    if let database = sessions.database(of: key.channel) { return database.output.answer(message, to: key) }
    if case .error(let error, _) = message { reports.rejections.count(error.code) }
    gateway.send(Frame(reserving: 256) { message.write(to: &$0, id: key.id, .arrays) }, to: key.channel)
  }

  private func refuse(_ key: SubscriptionKey) {
    let error = FreshetError(.unknownSubscription, "there is no subscription with the id \"\(key.id)\"")
    answer(.error(error, isFatal: false), to: key)
  }

  private func request(_ request: SubscriptionRequest, _ key: SubscriptionKey, _ database: ServedDatabase) {
    do throws(FreshetError) {
      try database.output.checkRoom()
      guard let (key, host) = sessions.find(key.id, of: key.channel) else { return refuse(key) }
      host.post(.request(key, request, ticket: try ticket(key.channel)))
    } catch { answer(.error(error, isFatal: false), to: key) }
  }

  private func perform(
    _ subscribe: ClientMessage.Subscribe, _ key: SubscriptionKey, _ database: ServedDatabase
  ) {
    let query: Query
    let ticket: RequestTicket?
    do throws(FreshetError) {
      try database.output.checkRoom()
      query = try database.doors.query(.init(subscribe.query), for: sessions.identity(of: key.channel))
      ticket = try self.ticket(key.channel)
    } catch {
      noteRefusal("subscribe", key.channel, subscribe.query, error.code)
      return answer(.error(error, isFatal: error.code != .badMessage), to: key)
    }
    let follower = database.pool.follower(for: query)
    guard let key = admit(key, host: follower, refused: { noteRefusal("subscribe", key.channel, subscribe.query, $0) })
    else { return }
    noteSubscribe(key, subscribe.query)
    follower.post(
      .subscribe(
        .init(
          key: key, query: query, window: subscribe.window, since: subscribe.since,
          minInterval: subscribe.minInterval, shape: subscribe.shape, ticket: ticket)))
  }

  /// Accepts a session's subscription, or sends the client the error.
  private func admit(
    _ key: SubscriptionKey, host: any SubscriptionHost, refused: (ErrorCode) -> Void
  ) -> SubscriptionKey? {
    let limit = bounds.subscriptions
    switch sessions.admit(key.id, of: key.channel, host: host, limit: limit) {
    case .sessionIsGone: break
    case .admitted(let key): return key
    case .duplicate:
      refused(.duplicateSubscription)
      let error = FreshetError(.duplicateSubscription, "the id \"\(key.id)\" is taken: unsubscribe it first")
      answer(.error(error, isFatal: false), to: key)
    case .tooManyOfClient:
      answer(.error(FreshetError.tooManySubscriptions, isFatal: true), to: key)
    case .tooMany:
      refused(.limitExceeded)
      let error = FreshetError(.limitExceeded, "a connection may have \(limit) subscriptions")
      answer(.error(error, isFatal: true), to: key)
    }
    return nil
  }

  private func perform(
    _ request: ChangesRequest, since: String?, _ key: SubscriptionKey, _ database: ServedDatabase
  ) {
    let access: Query.Access
    do throws(FreshetError) {
      try database.output.checkRoom()
      access = try database.doors.permissions(of: sessions.identity(of: key.channel)).ownQueries()
    } catch {
      noteRefusal("changes", key.channel, .adHoc(request.outline), error.code)
      return answer(.error(error, isFatal: true), to: key)
    }
    let source = QuerySource.adHoc(request.outline)
    guard let key = admit(key, host: database.pool.feed, refused: { noteRefusal("changes", key.channel, source, $0) })
    else {
      return
    }
    noteSubscribe(key, source, event: "changes")
    database.pool.feed.subscribe(.init(key: key, request: request, access: access, since: since))
  }

  private func transact(
    _ source: TransactionSource, once: String?, _ key: SubscriptionKey, _ database: ServedDatabase
  ) {
    let identity = sessions.identity(of: key.channel)
    let transaction: Transaction
    let ticket: RequestTicket?
    let write = AuditLog.Write(actor: records.actor(of: key.channel), subject: database.doors.subject(of: source))
    do throws(FreshetError) {
      transaction = try database.doors.transaction(for: identity) { source }
      ticket = try self.ticket(key.channel)
    } catch {
      guard let transactions = database.transactions else { return answer(.error(error, isFatal: false), to: key) }
      return transactions.refuse(write, error, once: once.map { .init($0, of: identity) }) { outcome in
        database.output.answer(ServerMessage(outcome), to: key)
      }
    }
    guard let transactions = database.transactions else { return }
    let named = once.map { TransactionMemory.Key($0, of: identity) }
    transactions.transact(transaction, as: write, once: named, seenBy: database.pool) { outcome in
      defer { withExtendedLifetime(ticket) {} }
      database.output.answer(ServerMessage(outcome), to: key)
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
  var channel: ChannelID { ChannelID(rawValue: session) }
}
