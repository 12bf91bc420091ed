import Gateway
import Ground
import LiveQuery
import Store

/// Data for logs and metrics about the clients of one service thread: unanswered requests, open sessions and streams,
/// and their subscriptions.
///
/// Owner: that thread.
// @unchecked: used by the thread's delegate alone.
final class ClientRecords: @unchecked Sendable {
  struct Session {
    fileprivate(set) var actor: LogActor
    let start: Instant
    /// By number.
    fileprivate(set) var subscriptions: [UInt64: (start: Instant, subject: LogSubject)] = [:]
  }

  /// Sessions and subscriptions by role, of all threads.
  private let roles: RoleCounts
  private var requests: [RequestID: RequestRecord] = [:]
  /// The request that each stream answers.
  private var streams: [ChannelID: RequestRecord] = [:]
  private var sessions: [ChannelID: Session] = [:]

  init(_ roles: RoleCounts) { self.roles = roles }

  // MARK: - Requests

  func begin(_ id: RequestID, _ record: RequestRecord) { requests[id] = record }
  func end(_ id: RequestID) -> RequestRecord? { requests.removeValue(forKey: id) }

  func open(_ stream: ChannelID, for record: RequestRecord) {
    streams[stream] = record
    roles.add(subscriptions: 1, of: record.known.actor.role)
  }

  /// Records the error with which the stream ends.
  func fail(_ stream: ChannelID, _ code: ErrorCode) { streams[stream]?.fail(code) }

  // MARK: - Sessions

  func open(_ session: ChannelID, _ actor: LogActor, at start: Instant) {
    sessions[session] = Session(actor: actor, start: start)
    roles.add(sessions: 1, of: actor.role)
  }

  /// Records another identity of a session.
  func become(_ actor: LogActor, _ session: ChannelID) {
    guard let known = sessions[session] else { return }
    roles.add(sessions: -1, subscriptions: -known.subscriptions.count, of: known.actor.role)
    roles.add(sessions: 1, subscriptions: known.subscriptions.count, of: actor.role)
    sessions[session]!.actor = actor
  }

  /// - Returns: nil for a stream.
  func close(_ channel: ChannelID) -> Session? {
    if let record = streams.removeValue(forKey: channel) {
      roles.add(subscriptions: -1, of: record.known.actor.role)
    }
    guard let session = sessions.removeValue(forKey: channel) else { return nil }
    roles.add(sessions: -1, subscriptions: -session.subscriptions.count, of: session.actor.role)
    return session
  }

  func actor(of session: ChannelID) -> LogActor { sessions[session]?.actor ?? LogActor(address: "") }

  // MARK: - Subscriptions

  func subscribe(_ number: UInt64, of session: ChannelID, _ subject: LogSubject, at start: Instant) {
    guard let known = sessions[session] else { return }
    sessions[session]!.subscriptions[number] = (start, subject)
    roles.add(subscriptions: 1, of: known.actor.role)
  }

  /// Records that a subscription shows another query from now on.
  func requery(_ number: UInt64, of session: ChannelID, _ subject: LogSubject) {
    sessions[session]?.subscriptions[number]?.subject = subject
  }

  /// - Returns: nil if the subscription has ended already.
  func unsubscribe(_ number: UInt64, of session: ChannelID) -> (start: Instant, subject: LogSubject)? {
    guard let known = sessions[session]?.subscriptions.removeValue(forKey: number) else { return nil }
    roles.add(subscriptions: -1, of: sessions[session]?.actor.role)
    return known
  }
}
