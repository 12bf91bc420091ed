import Gateway
import LiveQuery
import Requests
import Wire

// Identities of sessions, streams and requests. On the service thread.
extension Clients {
  /// The HTTP status that refuses a handshake for its token; nil accepts it. A token whose key has to be fetched is judged when
  /// the session is open: the service thread never waits.
  func refusal(of handshake: HTTPRequest) -> Int? {
    guard let authenticator else { return nil }
    do throws(FreshetError) {
      guard let token = try AccessToken.of(handshake) else { return nil }
      _ = try authenticator.verify(token) { _ in }?.get()
      return nil
    } catch {
      return error.code.httpStatus
    }
  }

  /// Takes in the token that a session's handshake carried.
  func identify(_ session: ChannelID, _ handshake: HTTPRequest) {
    guard let authenticator else { return }
    // Several tokens were refused before the upgrade.
    guard let token = try? AccessToken.of(handshake) else { return }
    verify(token, authenticator, session) { [self] result in
      switch result {
      case .success(let identity):
        if case .refused = become(identity, session) {
          tell(.tooManyConnections, session)
          gateway.close(session, code: 4429, reason: FreshetError.tooManyConnections.message)
          return false
        }
        return true
      case .failure(let error):
        tell(error, session)
        gateway.close(session, code: error.code == .unauthenticated ? 4401 : 1013, reason: error.message)
        return false
      }
    }
  }

  /// Does what `authenticate` asks.
  func authenticate(_ token: AccessToken, _ key: SubscriptionKey) {
    let session = ChannelID(rawValue: key.session)
    guard let authenticator else { return welcome(.anonymous, key) }
    verify(token, authenticator, session) { [self] result in
      switch result {
      case .success(let identity): welcome(identity, key)
      case .failure(let error): output.answer(.error(error, isFatal: false), to: key)
      }
      return true
    }
  }

  /// Verifies a token; until that is done, the session's messages wait.
  ///
  /// - Parameter end: takes the result, and says whether the session goes on.
  private func verify(
    _ token: AccessToken, _ authenticator: Authenticator, _ session: ChannelID,
    _ end: @escaping @Sendable (Result<Identity, FreshetError>) -> Bool
  ) {
    let result = authenticator.verify(token) { [self] result in
      post { [self] in
        let held = sessions[session]?.who.endWaiting()
        guard end(result), let message = held else { return }
        if message.withUnsafeBytes({ receive($0, from: session) }) { gateway.resume(session) }
      }
    }
    if let result { _ = end(result) } else { sessions[session]?.who.beginWaiting() }
  }

  private func become(_ identity: Identity, _ session: ChannelID) -> Sessions.Becoming {
    let becoming = sessions.become(identity, session)
    if case .refused = becoming { return becoming }
    records.become(doors.actor(records.actor(of: session).address, identity), session)
    return becoming
  }

  private func welcome(_ identity: Identity, _ key: SubscriptionKey) {
    let session = ChannelID(rawValue: key.session)
    let becoming = become(identity, session)
    if case .refused = becoming { return output.answer(.error(.tooManyConnections, isFatal: false), to: key) }
    output.answer(.authenticated(role: identity.role, expires: identity.expires), to: key)
    if case .another = becoming { endSubscriptions(of: session) }
  }

  /// Their rows were chosen for another identity.
  private func endSubscriptions(of session: ChannelID) {
    let error = FreshetError.unauthenticated("the subscription was another identity's: subscribe again")
    for (key, follower) in sessions.subscriptions(of: session) { follower.post(.end(key, error)) }
  }

  /// A request is answered once it is known who asks. Any thread, after the call.
  func identify(_ request: HTTPRequest, then answer: @escaping @Sendable (Result<Identity, FreshetError>) -> Void) {
    guard let authenticator else { return answer(.success(.anonymous)) }
    let token: AccessToken?
    do throws(FreshetError) { token = try AccessToken.of(request) } catch { return answer(.failure(error)) }
    guard let token else { return answer(.success(.anonymous)) }
    let result = authenticator.verify(token) { [self] result in post { answer(result) } }
    if let result { answer(result) }
  }

  // MARK: - Expiry

  /// Tells clients whose tokens have expired, and ends what was not renewed.
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

  /// An error that belongs to no subscription.
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
    output.send(frame, to: session)
  }
}
