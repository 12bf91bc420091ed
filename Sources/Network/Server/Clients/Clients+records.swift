import Gateway
import Ground
import LiveQuery
import Requests
import Store
import Wire

// Records events for logs and counters. On the service thread.
extension Clients {
  // MARK: - Requests

  func record(_ request: HTTPRequest, _ id: RequestID) -> RequestRecord {
    let record = RequestRecord(RequestLine(request), at: bounds.clock.now)
    records.begin(id, record)
    return record
  }

  func noteAnswer(_ id: RequestID, _ outcome: GatewayOutcome, _ request: () -> RequestLine) {
    let now = bounds.clock.now
    let known = records.end(id)
    let code = outcome.code.map { ErrorCode(rawValue: $0) } ?? known?.code
    if let code { reports.rejections.count(code) }
    guard let accessLog = reports.accessLog else { return }
    let record = known ?? RequestRecord(request(), at: now)
    // The gateway's own answers take no time.
    let duration = known.map { now - $0.start }
    accessLog.answered(record, status: outcome.status, code: code, bytes: outcome.bytes, duration)
  }

  // MARK: - Sessions

  func noteOpening(_ session: ChannelID, _ handshake: HTTPRequest) {
    var actor = LogActor(address: handshake.peer)
    if let database = sessions.database(of: session) {
      actor = database.doors.actor(handshake.peer, sessions.identity(of: session), database.name)
    }
    records.open(session, actor, at: bounds.clock.now)
    reports.accessLog?.opened(session, records.actor(of: session))
  }

  func noteClose(_ channel: ChannelID) {
    guard let session = records.close(channel) else { return }
    let duration = bounds.clock.now - session.start
    reports.accessLog?.closed(channel, session.actor, subscriptions: session.subscriptions.count, duration)
  }

  // MARK: - Subscriptions

  /// - Parameter event: `subscribe` or `changes`.
  func noteSubscribe(_ key: SubscriptionKey, _ source: QuerySource, event: String = "subscribe") {
    let session = ChannelID(rawValue: key.session)
    guard let subject = subject(of: source, session) else { return }
    records.subscribe(key.number, of: session, subject, at: bounds.clock.now)
    reports.accessLog?.asked(event, session, key.number, records.actor(of: session), subject, nil)
  }

  func noteRequery(_ key: SubscriptionKey, _ source: QuerySource) {
    let session = ChannelID(rawValue: key.session)
    guard let subject = subject(of: source, session) else { return }
    records.requery(key.number, of: session, subject)
    reports.accessLog?.asked("requery", session, key.number, records.actor(of: session), subject, nil)
  }

  /// - Parameter event: `subscribe`, `changes` or `requery`.
  func noteRefusal(_ event: String, _ session: ChannelID, _ source: QuerySource, _ code: ErrorCode) {
    reports.accessLog?.asked(event, session, nil, records.actor(of: session), subject(of: source, session), code)
  }

  private func subject(of source: QuerySource, _ session: ChannelID) -> LogSubject? {
    sessions.database(of: session)?.doors.subject(of: source)
  }

  /// - Parameter code: of the error that ended it.
  func noteEnd(_ number: UInt64, of channel: ChannelID, _ code: ErrorCode?) {
    if channel.isStream, let code { return records.fail(channel, code) }
    guard let known = records.unsubscribe(number, of: channel) else { return }
    let duration = bounds.clock.now - known.start
    reports.accessLog?.ended(channel, number, records.actor(of: channel), known.subject, code, duration)
  }
}
