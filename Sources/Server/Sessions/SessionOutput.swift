import Controllers
import Gateway
import LiveQuery
import Synchronization
import Wire

/// Writes what followers have to say as frames, each distinct one once, and hands them to the gateway.
final class SessionOutput: SubscriptionOutput {
  private let sessions: SessionTable
  private let streams: EventStreams
  private let greeting: Greeting
  /// Set once, before the first session can exist.
  private let gateway = Mutex<Gateway?>(nil)
  /// What has the followers forget a session. Set once, before the first session can exist.
  private let forget = Mutex<@Sendable (UInt64) -> Void>({ _ in })
  /// Set once, if at all, before the first session can exist.
  private let transactions = Mutex<TransactionQueue?>(nil)

  init(sessions: SessionTable, streams: EventStreams, greeting: Greeting) {
    self.sessions = sessions
    self.streams = streams
    self.greeting = greeting
  }

  func start(
    _ gateway: Gateway, _ transactions: TransactionQueue?, forget: @escaping @Sendable (UInt64) -> Void
  ) {
    self.gateway.withLock { $0 = gateway }
    self.forget.withLock { $0 = forget }
    self.transactions.withLock { $0 = transactions }
  }

  /// The followers' and the writer's owner is gone: they keep one another.
  func stop() {
    transactions.withLock { $0 = nil }
    forget.withLock { $0 = { _ in } }
  }

  func filesReleased() { transactions.withLock { $0 }?.releaseFiles() }

  func isDrained(_ session: UInt64) -> Bool { sessions.isDrained(session) }

  func subscriptionEnded(_ key: SubscriptionKey) { sessions.remove(key) }

  /// Everybody is greeted again; snapshots or patches follow.
  func epochChanged() {
    greeting.renewEpoch()
    let frame = Frame(payload: greeting.hello)
    queue(frame, to: sessions.all.filter { !EventStreams.isStream($0) })
  }

  func send(_ delivery: Delivery, shape: Shape, to recipients: [Recipients]) {
    let body = MessageBody(delivery, shape: shape)
    for recipients in recipients {
      let message = body.message(id: encoded(recipients.id))
      // A client may call its subscription what streams' are called.
      let streams = recipients.id == EventStreams.subscription ? recipients.sessions.filter(EventStreams.isStream) : []
      if streams.count < recipients.sessions.count {
        let sessions = streams.isEmpty ? recipients.sessions : recipients.sessions.filter { !EventStreams.isStream($0) }
        let frame = Frame(payload: message)
        if hasRoom(for: frame, delivery) { queue(frame, to: sessions) } else { giveUp(sessions) }
      }
      if streams.isEmpty { continue }
      let event = Frame(delivery, message)
      if hasRoom(for: event, delivery) { send(event, delivery, to: streams) } else { streams.forEach(giveUp(stream:)) }
    }
  }

  /// Whether a delivery may be sent. Rows may not where they exceed the budget: their clients have asked for them, or start over.
  /// Patches always may, because who follows a list shall not notice that others ask too much.
  private func hasRoom(for frame: Frame, _ delivery: Delivery) -> Bool {
    switch delivery {
    case .snapshot, .rows: gateway.withLock { $0 }?.hasRoom(for: frame.size) ?? true
    default: true
    }
  }

  /// Ends sessions whose rows there is no room for: without them a list would not be the server's, and a client that comes back
  /// later is served.
  private func giveUp(_ sessions: [UInt64]) {
    guard let gateway = gateway.withLock({ $0 }) else { return }
    for session in sessions {
      gateway.noteOverload()
      gateway.close(ChannelID(rawValue: session), code: 1013, reason: FreshetError.noRoom.message)
    }
  }

  private func giveUp(stream: UInt64) {
    gateway.withLock { $0 }?.noteOverload()
    let frame = Frame(
      .error(.noRoom, isFatal: true),
      MessageBody.error(.noRoom, isFatal: true).message(id: encoded(EventStreams.subscription)))
    sessions.markBusy(CollectionOfOne(stream))
    guard streams.end(stream, .noRoom, frame) else { return }
    sessions.close(stream)
    forget.withLock { $0 }(stream)
  }

  /// What was sent to subscriptions leaves at the end of a follower's turn, so that everything due to a session is one write.
  func flush() { gateway.withLock { $0 }?.flush() }

  private func send(_ event: Frame, _ delivery: Delivery, to streams: [UInt64]) {
    guard case .error(let error, isFatal: true) = delivery else {
      self.streams.begin(streams)
      return queue(event, to: streams)
    }
    sessions.markBusy(streams)
    for stream in streams where self.streams.end(stream, error, event) { sessions.close(stream) }
  }

  /// Sends a message that is not shared.
  func send(_ body: MessageBody, to key: SubscriptionKey) {
    send(Frame(payload: body.message(id: encoded(key.id))), to: key.session)
  }

  func send(message: [UInt8], to session: UInt64) { send(Frame(payload: message), to: session) }

  private func send(_ frame: Frame, to session: UInt64) {
    queue(frame, to: CollectionOfOne(session))
    flush()
  }

  private func queue(_ frame: Frame, to recipients: some Collection<UInt64>) {
    sessions.markBusy(recipients)
    gateway.withLock { $0 }?.queue(frame, to: recipients)
  }

  private func encoded(_ id: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.string(id)
    return writer.bytes
  }
}

extension Frame {
  /// A delivery as an event. A client that comes back names a version that it has whole, or none.
  fileprivate convenience init(_ delivery: Delivery, _ message: [UInt8]) {
    switch delivery {
    case .snapshot(let snapshot):
      self.init(event: "snapshot", id: snapshot.isComplete ? snapshot.version : "", data: message)
    case .rows(let rows): self.init(event: "rows", id: rows.isComplete ? rows.version : "", data: message)
    case .patch(let patch): self.init(event: "patch", id: patch.to, data: message)
    case .error: self.init(event: "error", id: nil, data: message)
    // Answers to what nobody can ask over a stream.
    case .located, .unsubscribed: self.init(event: "message", id: nil, data: message)
    }
  }
}

extension MessageBody {
  fileprivate init(_ delivery: Delivery, shape: Shape) {
    switch delivery {
    case .snapshot(let snapshot):
      self = .snapshot(snapshot, RowLayout(columns: snapshot.columns, shape: shape))
    case .rows(let rows):
      self = .rows(
        version: rows.version, window: rows.window, offset: rows.offset, rows: rows.rows, range: rows.range,
        isComplete: rows.isComplete, RowLayout(columns: rows.columns, shape: shape))
    case .patch(let patch):
      let header = PatchHeader(
        from: patch.from, to: patch.to, commit: patch.commit, total: patch.total, alongside: patch.alongside)
      self = .patch(
        header, patch.patch, rows: patch.rows, changed: patch.changed,
        RowLayout(columns: patch.columns, shape: shape))
    case .located(let key, let place): self = .located(key: key, place: place)
    case .unsubscribed: self = .unsubscribed
    case .error(let error, let isFatal): self = .error(error, isFatal: isFatal)
    }
  }
}

extension FreshetError {
  /// Too much is on its way to clients.
  static let noRoom = FreshetError(.overloaded, "too much is on its way to clients: try again")
}
