import Gateway
import LiveQuery
import Requests
import Synchronization
import Wire

/// Writes what followers of a database send as frames, each distinct one once, and hands them to the gateway.
///
/// Any thread: one lock.
final class SessionOutput: SubscriptionOutput {
  private let gateway: Gateway
  private let transactions: (any ClientTransactions)?
  private let greeting: Greeting
  private let rejections: Rejections
  /// The number by which the first follower waits for sessions.
  let waiter: Int
  /// The sessions that have this database.
  private let sessions = Mutex<Set<UInt64>>([])
  /// Its streams.
  private let streams = Mutex<Set<UInt64>>([])

  /// The name of the only subscription of a stream: of server-sent events, or of lines of JSON.
  static let streamSubscription = "sse"
  static let lineSubscription = "ndjson"

  init(
    _ gateway: Gateway, _ transactions: (any ClientTransactions)?, _ greeting: Greeting, _ rejections: Rejections,
    waiter: Int
  ) {
    self.waiter = waiter
    self.rejections = rejections
    self.gateway = gateway
    self.transactions = transactions
    self.greeting = greeting
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

  /// A session has this database from now on.
  func greet(_ session: ChannelID) {
    sessions.withLock { _ = $0.insert(session.rawValue) }
    send(greeting.hello, to: session)
  }

  func enter(_ stream: ChannelID) { streams.withLock { _ = $0.insert(stream.rawValue) } }

  func forget(_ channel: ChannelID) {
    if channel.isStream {
      streams.withLock { _ = $0.remove(channel.rawValue) }
    } else {
      sessions.withLock { _ = $0.remove(channel.rawValue) }
    }
  }

  /// Ends the sessions and streams.
  func end(_ error: FreshetError) {
    for session in sessions.withLock({ $0 }) {
      gateway.close(ChannelID(rawValue: session), code: error.closeCode, reason: error.message)
    }
    let event = Frame(reserving: 256) {
      ServerMessage.error(error, isFatal: true).writeEvent(to: &$0, id: Self.streamSubscription, .arrays)
    }
    end(Array(streams.withLock { $0 }), error, event)
  }

  func isDrained(_ session: UInt64, for follower: Int) -> Bool {
    gateway.isDrained(session, waiter: (waiter + follower) % 64)
  }

  /// This database's followers among the waiting ones.
  ///
  /// - Parameter waiters: by the bits of `Gateway.isDrained`.
  func followers(among waiters: UInt64) -> UInt64 {
    waiter == 0 ? waiters : waiters >> UInt64(waiter) | waiters << UInt64(64 - waiter)
  }

  /// In order with what is sent: by the time a client reads that its subscription has ended, the id is free.
  func subscriptionEnded(_ key: SubscriptionKey, because code: ErrorCode) {
    gateway.notify(SubscriptionEnd(number: key.number, code: code).rawValue, of: ChannelID(rawValue: key.session))
  }

  /// Everybody is greeted again; snapshots or patches follow.
  func epochChanged() {
    transactions?.epochChanged()
    gateway.queue(greeting.hello, to: sessions.withLock { Array($0) })
    gateway.flush()
  }

  /// Messages to subscriptions leave at the end of a follower's tick, so that everything due to a session is one write.
  func flush() { gateway.flush() }

  func send(_ message: ServerMessage, shape: Shape, to recipients: [Recipients]) {
    // Encoded straight into the frame where one frame is all that is needed.
    let members = recipients.count > 1 ? message.members(shape) : nil
    for recipients in recipients {
      // A client may give its subscription the id that those of streams have.
      let mayBeStreams = recipients.id == Self.streamSubscription || recipients.id == Self.lineSubscription
      let streams = mayBeStreams ? recipients.sessions.filter { ChannelID(rawValue: $0).isStream } : []
      let sessions =
        streams.isEmpty ? recipients.sessions : recipients.sessions.filter { !ChannelID(rawValue: $0).isStream }
      if !sessions.isEmpty {
        if case .error(let error, _) = message { rejections.count(error.code, times: sessions.count) }
        let frame = Frame(reserving: message.likelyLength) {
          message.write(to: &$0, id: recipients.id, shape, members: members)
        }
        send(frame, message, to: sessions)
      }
      if !streams.isEmpty {
        let event = Frame(reserving: message.likelyLength) {
          if recipients.id == Self.lineSubscription {
            message.writeLine(to: &$0)
          } else {
            message.writeEvent(to: &$0, id: recipients.id, shape, members: members)
          }
        }
        send(event, message, toStreams: streams)
      }
    }
  }

  /// Answers a client, not at the end of a tick but now.
  func answer(_ message: ServerMessage, to key: SubscriptionKey) {
    send(message, shape: .arrays, to: key)
    flush()
  }

  /// Sends a message that belongs to no subscription.
  func send(_ frame: Frame, to session: ChannelID) { gateway.send(frame, to: session) }

  private func send(_ frame: Frame, _ message: ServerMessage, to sessions: [UInt64]) {
    if hasRoom(for: frame, message) { return gateway.queue(frame, to: sessions) }
    for session in sessions {
      gateway.noteOverload()
      gateway.close(ChannelID(rawValue: session), code: 1013, reason: FreshetError.noRoom.message)
    }
  }

  private func send(_ event: Frame, _ message: ServerMessage, toStreams streams: [UInt64]) {
    if case .error(let error, isFatal: true) = message { return end(streams, error, event) }
    if hasRoom(for: event, message) { return gateway.queue(event, to: streams) }
    gateway.noteOverload()
    let refusal = Frame(reserving: 256) {
      ServerMessage.error(.noRoom, isFatal: true).writeEvent(to: &$0, id: Self.streamSubscription, .arrays)
    }
    end(streams, .noRoom, refusal)
  }

  /// Ends streams with an error: with the answer to the request, where none has begun.
  private func end(_ streams: [UInt64], _ error: FreshetError, _ event: Frame) {
    let answer = HTTPAnswer.problem(error)
    for stream in streams {
      gateway.notify(SubscriptionEnd(number: 0, code: error.code).rawValue, of: ChannelID(rawValue: stream))
      gateway.end(
        ChannelID(rawValue: stream), with: event, or: answer.status, headers: answer.headers, body: answer.body)
    }
  }

  /// Whether a message may be sent. Rows may not where they exceed the budget: their clients asked for them, and
  /// without them a list would not be the server's, so the session ends, and a client that comes back later is served.
  /// Patches always may, because other clients must not notice that one asks too much.
  private func hasRoom(for frame: Frame, _ message: ServerMessage) -> Bool {
    switch message {
    case .snapshot, .rows: gateway.hasRoom(for: frame.size)
    default: true
    }
  }
}

extension Frame {
  /// A message that is written straight into the frame.
  convenience init(reserving count: Int, _ write: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(reserving: count, headroom: Frame.headroom)
    write(&writer)
    let (block, length) = writer.take()
    self.init(adopting: block, length: length)
  }
}

extension FreshetError {
  /// Too much is on its way to clients.
  static let noRoom = FreshetError(.overloaded, "too much is on its way to clients: try again")
}
