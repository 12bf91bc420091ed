import Controllers
import Gateway
import LiveQuery
import Synchronization
import Wire

/// Writes what workers have to say as frames, each distinct one once, and hands them to the gateway.
final class SessionOutput: SubscriptionOutput {
  private let sessions: SessionTable
  private let streams: EventStreams
  private let greeting: Greeting
  /// Set once, before the first session can exist.
  private let gateway = Mutex<Gateway?>(nil)

  init(sessions: SessionTable, streams: EventStreams, greeting: Greeting) {
    self.sessions = sessions
    self.streams = streams
    self.greeting = greeting
  }

  func start(_ gateway: Gateway) { self.gateway.withLock { $0 = gateway } }

  func isDrained(_ session: UInt64) -> Bool { sessions.isDrained(session) }

  func subscriptionEnded(_ key: SubscriptionKey) { sessions.remove(key) }

  /// Everybody is greeted again; snapshots or patches follow.
  func epochChanged() {
    greeting.renewEpoch()
    let frame = Frame(payload: greeting.hello)
    for session in sessions.all where !EventStreams.isStream(session) { send(frame, to: session) }
  }

  func send(_ delivery: Delivery, shape: Shape, to recipients: [SubscriptionKey]) {
    let body = MessageBody(delivery, shape: shape)
    // By the bytes of the id: to Swift, texts that differ may be equal.
    var frames: [[UInt8]: Frame] = [:]
    var event: Frame?
    for recipient in recipients {
      if EventStreams.isStream(recipient.session) {
        let frame = event ?? Frame(delivery, body.message(id: encoded(EventStreams.subscription)))
        event = frame
        send(frame, delivery, to: recipient.session)
        continue
      }
      let id = encoded(recipient.id)
      let frame = frames[id] ?? Frame(payload: body.message(id: id))
      frames[id] = frame
      send(frame, to: recipient.session)
    }
  }

  private func send(_ event: Frame, _ delivery: Delivery, to stream: UInt64) {
    sessions.markBusy(stream)
    guard case .error(let error, isFatal: true) = delivery else { return streams.send(event, to: stream) }
    if streams.end(stream, error, event) { sessions.close(stream) }
  }

  /// Sends a message that is not shared.
  func send(_ body: MessageBody, to key: SubscriptionKey) {
    send(Frame(payload: body.message(id: encoded(key.id))), to: key.session)
  }

  func send(message: [UInt8], to session: UInt64) { send(Frame(payload: message), to: session) }

  private func send(_ frame: Frame, to session: UInt64) {
    sessions.markBusy(session)
    gateway.withLock { $0 }?.send(frame, to: SessionID(rawValue: session))
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
