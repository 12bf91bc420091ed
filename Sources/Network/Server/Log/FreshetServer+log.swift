import Gateway
import Ground
import LiveQuery
import Logging
import Requests
import Store
import Wire

// What happened, for logs and counters. On the service thread, where nothing else is said.
extension FreshetServer {
  /// Reads and opens again what SIGHUP is for: certificates and logs. Any thread.
  package func hangUp() {
    reopenLogs()
    reloadCertificate()
    if accessLog == nil, auditLog == nil, configuration.certificate == nil {
      logger.info("SIGHUP: there are no logs to open and no certificate to read again")
    }
  }

  /// Opens the files of the logs anew: they may have been renamed. Any thread.
  private func reopenLogs() {
    accessLog?.reopen()
    auditLog?.reopen()
  }

  /// An identity as logs show it. Any thread.
  func actor(_ address: String, _ identity: Identity) -> LogActor {
    let hasNoRoles = authenticator == nil && configuration.roles.isEmpty
    let role = permissions(of: identity).roleName ?? identity.role
    return LogActor(address: address, subject: identity.subject, role: hasNoRoles ? nil : role)
  }

  /// What a query is called in logs.
  func subject(of source: RequestParameters.Source) -> LogSubject? {
    switch source {
    case .adHoc(let query): .own(Fingerprint(of: query))
    case .published(let name, _): subject(ofQuery: name)
    }
  }

  private func subject(of source: QuerySource) -> LogSubject? {
    switch source {
    case .adHoc(let query): .own(Fingerprint(of: query))
    case .published(let name, _): subject(ofQuery: name)
    }
  }

  /// A name that nothing has is the client's, and could be anything.
  private func subject(ofQuery name: String) -> LogSubject? {
    configuration.queries.list.contains { $0.name == name } ? .published(name) : nil
  }

  /// What a transaction is called in logs.
  func subject(of source: TransactionSource) -> LogSubject? {
    switch source {
    case .own(let statements): .own(Fingerprint(of: statements))
    case .published(let name, _):
      configuration.statements.list.contains { $0.name == name } ? .published(name) : nil
    }
  }

  // MARK: - Requests

  func record(_ request: HTTPRequest, _ id: RequestID) -> RequestRecord {
    let record = RequestRecord(RequestLine(request), at: configuration.clock.now)
    records.begin(id, record)
    return record
  }

  func noteAnswer(_ id: RequestID, _ outcome: GatewayOutcome, _ request: () -> RequestLine) {
    let now = configuration.clock.now
    let known = records.end(id)
    let code = outcome.code.map { ErrorCode(rawValue: $0) } ?? known?.code
    if let code { rejections.count(code) }
    guard let accessLog else { return }
    let record = known ?? RequestRecord(request(), at: now)
    // What the gateway answers by itself it answers at once.
    let duration = known.map { now - $0.start }
    accessLog.answered(record, status: outcome.status, code: code, bytes: outcome.bytes, duration)
  }

  // MARK: - Sessions

  func noteOpening(_ session: ChannelID, _ handshake: HTTPRequest) {
    records.open(session, actor(handshake.peer, sessions.identity(of: session)), at: configuration.clock.now)
    accessLog?.opened(session, records.actor(of: session))
  }

  func noteClose(_ channel: ChannelID) {
    guard let session = records.close(channel) else { return }
    let duration = configuration.clock.now - session.start
    accessLog?.closed(channel, session.actor, subscriptions: session.subscriptions.count, duration)
  }

  // MARK: - Subscriptions

  /// - Parameter event: `subscribe` or `changes`.
  func noteSubscribe(_ key: SubscriptionKey, _ source: QuerySource, event: String = "subscribe") {
    let session = ChannelID(rawValue: key.session)
    guard let subject = subject(of: source) else { return }
    records.subscribe(key.number, of: session, subject, at: configuration.clock.now)
    accessLog?.asked(event, session, key.number, records.actor(of: session), subject, nil)
  }

  func noteRequery(_ key: SubscriptionKey, _ source: QuerySource) {
    let session = ChannelID(rawValue: key.session)
    guard let subject = subject(of: source) else { return }
    records.requery(key.number, of: session, subject)
    accessLog?.asked("requery", session, key.number, records.actor(of: session), subject, nil)
  }

  /// - Parameter event: `subscribe`, `changes` or `requery`.
  func noteRefusal(_ event: String, _ session: ChannelID, _ source: QuerySource, _ code: ErrorCode) {
    accessLog?.asked(event, session, nil, records.actor(of: session), subject(of: source), code)
  }

  /// - Parameter code: of the error that ended it.
  func noteEnd(_ number: UInt64, of channel: ChannelID, _ code: ErrorCode?) {
    if channel.isStream, let code { return records.fail(channel, code) }
    guard let known = records.unsubscribe(number, of: channel) else { return }
    let duration = configuration.clock.now - known.start
    accessLog?.ended(channel, number, records.actor(of: channel), known.subject, code, duration)
  }
}
