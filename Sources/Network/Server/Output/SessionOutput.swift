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
  private let streams = Mutex<[UInt64: Stream]>([:])

  private struct Stream {
    let form: StreamForm
    /// Whether it was sent the beginning of a table.
    var hasRows = false
  }

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

  func enter(_ stream: ChannelID, _ form: StreamForm) { streams.withLock { $0[stream.rawValue] = Stream(form: form) } }

  func forget(_ channel: ChannelID) {
    if channel.isStream {
      streams.withLock { $0[channel.rawValue] = nil }
    } else {
      sessions.withLock { _ = $0.remove(channel.rawValue) }
    }
  }

  /// Ends the sessions and streams.
  func end(_ error: FreshetError) {
    for session in sessions.withLock({ $0 }) {
      gateway.close(ChannelID(rawValue: session), code: error.closeCode, reason: error.message)
    }
    let streams = streams.withLock { $0 }
    for (form, streams) in Dictionary(grouping: streams, by: \.value.form) { end(streams.map(\.key), form, error) }
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
      let form = StreamForm(id: recipients.id)
      let streams = form == nil ? [] : recipients.sessions.filter { ChannelID(rawValue: $0).isStream }
      let sessions =
        streams.isEmpty ? recipients.sessions : recipients.sessions.filter { !ChannelID(rawValue: $0).isStream }
      if !sessions.isEmpty {
        if case .error(let error, _) = message { rejections.count(error.code, times: sessions.count) }
        let frame = Frame(reserving: message.likelyLength) {
          message.write(to: &$0, id: recipients.id, shape, members: members)
        }
        send(frame, message, to: sessions)
      }
      if let form, !streams.isEmpty { send(message, shape, members, to: streams, form) }
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

  private func send(
    _ message: ServerMessage, _ shape: Shape, _ members: [UInt8]?, to streams: [UInt64], _ form: StreamForm
  ) {
    if case .error(let error, let isFatal) = message, isFatal || form.kind == .file { return end(streams, form, error) }
    guard let frame = form.frame(message, shape, members: members) else { return }
    guard hasRoom(for: frame, message) else {
      gateway.noteOverload()
      return end(streams, form, .noRoom)
    }
    guard form.kind == .file else { return gateway.queue(frame, to: streams) }
    var tables = streams
    if case .snapshot = message { tables.removeAll { hasBegun(table: $0, form) } }
    gateway.queue(frame, to: tables)
    guard message.hasLastRows else { return }
    for table in tables { gateway.finish(ChannelID(rawValue: table)) }
  }

  /// A table is one snapshot: when the list starts over, what has begun is cut off.
  private func hasBegun(table: UInt64, _ form: StreamForm) -> Bool {
    let hasRows = streams.withLock { streams in
      defer { streams[table]?.hasRows = true }
      return streams[table]?.hasRows == true
    }
    if hasRows { end([table], form, FreshetError(.schemaChanged, "the list has begun anew: request it again")) }
    return hasRows
  }

  /// Ends streams with an error: with the answer to the request, where none has begun. A table is cut off.
  private func end(_ streams: [UInt64], _ form: StreamForm, _ error: FreshetError) {
    let answer = HTTPAnswer.problem(error)
    let event = form.frame(.error(error, isFatal: true))
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
