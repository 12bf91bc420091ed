import Gateway
import LiveQuery
import Requests
import Wire

// Identities of sessions, streams and requests. On the service thread.
extension Clients {
  /// The HTTP status that refuses a handshake for its token; nil accepts it. A token whose key has to be fetched is
  /// judged when the session is open: the service thread never waits.
  func refusal(of handshake: HTTPRequest) -> Int? {
    do throws(FreshetError) {
      var identity = Identity.anonymous
      if let authenticator {
        // A client without a token may send one later.
        guard let token = try AccessToken.of(handshake), let known = authenticator.verify(token, later: { _ in }) else {
          return nil
        }
        identity = try known.get()
      }
      _ = try databases.lead(identity, to: DatabasePath(handshake.path).name)
      return nil
    } catch {
      return error.code.httpStatus
    }
  }

  /// Takes in the token that a session's handshake carried.
  func identify(_ session: ChannelID, _ handshake: HTTPRequest) {
    // Several tokens were refused before the upgrade.
    guard let authenticator, let token = try? AccessToken.of(handshake) else {
      // The database may be one that only a token leads to, and the token may still come in a message.
      guard databases.only == nil else { return }
      return lead(.anonymous, session) { [self] result in
        if case .failure(let error) = result, authenticator == nil || error.code != .noSuchDatabase {
          end(session, error)
        }
      }
    }
    verify(token, authenticator, session) { [self] result in
      switch result {
      case .success(.refused): end(session, .tooManyConnections)
      case .success: break
      case .failure(let error): end(session, error)
      }
    }
  }

  private func end(_ session: ChannelID, _ error: FreshetError) {
    tell(error, session)
    gateway.close(session, code: error.closeCode, reason: error.message)
  }

  /// Handles `authenticate`.
  func authenticate(_ token: AccessToken, _ key: SubscriptionKey) {
    let session = key.channel
    let end = { @Sendable [self] (result: Result<Sessions.Becoming, FreshetError>) in
      switch result {
      case .success(.refused): answer(.error(.tooManyConnections, isFatal: false), to: key)
      case .success(let becoming):
        let identity = sessions.identity(of: session)
        answer(.authenticated(role: identity.role, expires: identity.expires), to: key)
        if case .another = becoming { endSubscriptions(of: session) }
      case .failure(let error): answer(.error(error, isFatal: false), to: key)
      }
    }
    guard let authenticator else { return lead(.anonymous, session, end) }
    verify(token, authenticator, session, end)
  }

  /// Verifies a token, and leads its bearer to a database; until that is done, the session's messages wait.
  private func verify(
    _ token: AccessToken, _ authenticator: Authenticator, _ session: ChannelID,
    _ end: @escaping @Sendable (Result<Sessions.Becoming, FreshetError>) -> Void
  ) {
    let result = authenticator.verify(token) { [self] result in
      post { [self] in
        goOn(session) {
          switch result {
          case .success(let identity): lead(identity, session, end)
          case .failure(let error): end(.failure(error))
          }
        }
      }
    }
    switch result {
    case nil: sessions[session]?.who.beginWaiting()
    case .success(let identity): lead(identity, session, end)
    case .failure(let error): end(.failure(error))
    }
  }

  /// Gives a session the client's identity, and the database that the client is led to, which may have to be opened
  /// first. A session keeps its database: a token that leads elsewhere cannot take it over.
  private func lead(
    _ identity: Identity, _ session: ChannelID,
    _ end: @escaping @Sendable (Result<Sessions.Becoming, FreshetError>) -> Void
  ) {
    let lead: Lead
    do throws(FreshetError) {
      lead = try databases.lead(identity, to: sessions[session]?.name)
      if let database = sessions.database(of: session) {
        guard database.name == lead.name else { throw .noSuchDatabase }
        return end(.success(become(lead, session)))
      }
    } catch { return end(.failure(error)) }
    sessions[session]?.who.beginWaiting()
    use(lead.name) { [self] result in
      goOn(session) {
        guard sessions[session] != nil else { return }
        switch result {
        case .success(let use):
          enter(use, session)
          end(.success(become(lead, session)))
        case .failure(let error): end(.failure(error))
        }
      }
    }
  }

  /// Begins to use a database. The reply comes on the service thread: at once where the database is open.
  func use(_ name: DatabaseName?, _ reply: @escaping Databases.Reply) {
    let result = databases.use(name) { [self] result in post { reply(result) } }
    if let result { reply(result) }
  }

  /// Called when the result that a session waited for has come: runs `step`, then handles the message that came
  /// meanwhile, unless the session waits again.
  private func goOn(_ session: ChannelID, _ step: () -> Void) {
    let held = sessions[session]?.who.endWaiting()
    step()
    guard let message = held else { return }
    message.withUnsafeBytes { message in
      if sessions[session]?.who.hold(message) == true { return }
      if receive(message, from: session) { gateway.resume(session) }
    }
  }

  private func become(_ lead: Lead, _ session: ChannelID) -> Sessions.Becoming {
    let becoming = sessions.become(lead.identity, session)
    if case .refused = becoming { return becoming }
    records.become(lead.doors.actor(records.actor(of: session).address, lead.identity, lead.name), session)
    return becoming
  }

  /// Ends subscriptions whose rows were chosen for another identity.
  private func endSubscriptions(of session: ChannelID) {
    let error = FreshetError.unauthenticated("the subscription was another identity's: subscribe again")
    for (key, follower) in sessions.subscriptions(of: session) { follower.post(.end(key, error)) }
  }

  /// Answers a request once its client's identity is known. Any thread, after the call.
  func identify(_ request: HTTPRequest, then answer: @escaping @Sendable (Result<Identity, FreshetError>) -> Void) {
    guard let authenticator else { return answer(.success(.anonymous)) }
    let token: AccessToken?
    do throws(FreshetError) { token = try AccessToken.of(request) } catch { return answer(.failure(error)) }
    guard let token else { return answer(.success(.anonymous)) }
    let result = authenticator.verify(token) { [self] result in post { answer(result) } }
    if let result { answer(result) }
  }

  // MARK: - Expiry

  /// Notifies clients whose tokens have expired, and ends those that were not renewed.
  func lookAtTokens() {
    authenticator?.look()
    for (session, due) in sessions.takeDue(at: bounds.wallClock.now) {
      switch due {
      case .warning:
        tell(.unauthenticated("the token has expired: renew it within \(SessionIdentity.grace) seconds"), session)
      case .end: gateway.close(session, code: 4401, reason: "the token has expired")
      }
    }
  }

  /// Sends an error that belongs to no subscription.
  private func tell(_ error: FreshetError, _ session: ChannelID) {
    let message = ServerMessage.error(error, isFatal: false)
    let frame = Frame(reserving: 256) {
      if session.isStream {
        message.writeEvent(to: &$0, id: nil, .arrays)
      } else {
        message.write(to: &$0, id: nil, .arrays)
      }
    }
    reports.rejections.count(error.code)
    gateway.send(frame, to: session)
  }
}

extension FreshetError {
  /// The code that closes a session.
  var closeCode: UInt16 {
    switch code {
    case .unauthenticated: 4401
    case .notAllowed: 4403
    case .noSuchDatabase: 4404
    case .limitExceeded: 4429
    default: 1013
    }
  }
}
