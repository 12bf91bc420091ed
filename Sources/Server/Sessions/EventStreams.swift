import Dispatch
import Gateway
import LiveQuery
import Synchronization
import Wire

/// The streams of server-sent events: protocol 4, `/v1/subscriptions`.
///
/// To followers a stream is a session like any other, with one subscription, and to the gateway a channel like any other.
///
/// State: for each stream, whether its answer has begun. It begins with the first thing to say, so that a query which
/// turns out to be wrong is answered with a problem and its status, or after `patience` when nothing was to say.
///
/// Any thread: one lock, value types under it.
final class EventStreams: Sendable {
  /// What the one subscription of every stream is called.
  static let subscription = "sse"
  /// How long a client waits for the head of the answer, at most.
  private static let patience = DispatchTimeInterval.seconds(1)
  /// The last one tells nginx to pass on what comes as it comes.
  static let headers = [
    (name: "Content-Type", value: "text/event-stream"), (name: "Cache-Control", value: "no-store"),
    (name: "X-Accel-Buffering", value: "no"),
  ]

  private struct State {
    let exchange: HTTPExchange
    var hasBegun = false
  }

  private let states = Mutex<[UInt64: State]>([:])

  static func isStream(_ session: UInt64) -> Bool { ChannelID(rawValue: session).isStream }

  /// - Returns: the number of the session.
  func open(_ exchange: HTTPExchange) -> UInt64 {
    let session = ChannelID.stream(exchange.id).rawValue
    states.withLock { $0[session] = State(exchange: exchange) }
    DispatchQueue.global().asyncAfter(deadline: .now() + EventStreams.patience) { [weak self] in
      self?.states.withLock { states in EventStreams.begin(session, &states) }
    }
    return session
  }

  /// - Returns: whether there was one.
  func close(_ session: UInt64) -> Bool { states.withLock { $0.removeValue(forKey: session) != nil } }

  /// Begins those answers that have not begun: something is about to be sent.
  func begin(_ sessions: [UInt64]) {
    states.withLock { states in for session in sessions { EventStreams.begin(session, &states) } }
  }

  /// Says why the stream is over: with the answer, when none has begun.
  ///
  /// - Returns: whether the gateway will not tell of the stream's end.
  func end(_ session: UInt64, _ error: FreshetError, _ frame: Frame) -> Bool {
    let refused = states.withLock { states -> HTTPExchange? in
      guard let state = states[session] else { return nil }
      guard state.hasBegun else {
        states[session] = nil
        return state.exchange
      }
      let channel = ChannelID(rawValue: session)
      state.exchange.gateway.send(frame, to: channel)
      state.exchange.gateway.close(channel)
      return nil
    }
    refused?.answer(.problem(error))
    return refused != nil
  }

  /// Answers whoever still waits for a first word; streams that have begun are the gateway's to end.
  func stop() {
    let waiting = states.withLock { states in
      let waiting = states.filter { !$0.value.hasBegun }
      for session in waiting.keys { states[session] = nil }
      return waiting.values.map(\.exchange)
    }
    for exchange in waiting { exchange.answer(.problem(.shuttingDown, "the server is stopping")) }
  }

  private static func begin(_ session: UInt64, _ states: inout [UInt64: State]) {
    guard let state = states[session], !state.hasBegun else { return }
    states[session]?.hasBegun = true
    state.exchange.beginStream(headers: headers)
  }
}

extension Frame {
  /// One event of a stream.
  ///
  /// - Parameter id: what the client is to name when it comes back: "" for nothing, nil for what it had.
  /// - Parameter data: JSON, which holds no line ends.
  convenience init(event: StaticString, id: String?, data: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 64)
    bytes += Array("event: \(event)\n".utf8)
    if let id { bytes += Array("id: \(id)\n".utf8) }
    bytes += Array("data: ".utf8)
    bytes += data
    bytes += [10, 10]
    self.init(payload: bytes)
  }
}
