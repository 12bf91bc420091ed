import Dispatch
import Foundation
import Gateway
import Synchronization
import TestSupport

/// Records the gateway's calls, answers as the test says, and lets the test wait for events.
final class Recorder: GatewayDelegate {
  enum Event: Sendable {
    case opened(ChannelID, HTTPRequest)
    case received(ChannelID, [UInt8])
    case drained(waiters: UInt64)
    case notified(ChannelID, UInt64)
    case closed(ChannelID)
    case requested(RequestID, HTTPRequest)
    case abandoned(RequestID)
    case logged(String, GatewayLogLevel)
  }

  private let events = Mutex<[Event]>([])
  /// How requests ended. These are not events, because most tests do not check them.
  let outcomes = Mutex<[(id: RequestID, outcome: GatewayOutcome, request: RequestLine)]>([])
  private let arrived = DispatchSemaphore(value: 0)
  private let refuse: @Sendable (HTTPRequest) -> Int?
  private let answer: @Sendable (Gateway, HTTPRequest, RequestID) -> Void
  private let react: @Sendable (Gateway, ChannelID, [UInt8]) -> Void
  private let goesOn: @Sendable () -> Bool
  /// Headers of the streams that answer requests; nil: `answer` answers them.
  private let stream: [HeaderField]?
  private let streamKind: StreamKind

  init(
    refuse: @escaping @Sendable (HTTPRequest) -> Int? = { _ in nil },
    answer: @escaping @Sendable (Gateway, HTTPRequest, RequestID) -> Void = { _, _, _ in },
    react: @escaping @Sendable (Gateway, ChannelID, [UInt8]) -> Void = { _, _, _ in },
    goesOn: @escaping @Sendable () -> Bool = { true }, stream: [HeaderField]? = nil,
    _ streamKind: StreamKind = .events
  ) {
    self.stream = stream
    self.streamKind = streamKind
    self.refuse = refuse
    self.answer = answer
    self.react = react
    self.goesOn = goesOn
  }

  private func record(_ event: Event) {
    events.withLock { $0.append(event) }
    arrived.signal()
  }

  /// The result of `match` for the next event that matches. Earlier events are forgotten.
  func next<T>(within seconds: Double = 10, _ match: (Event) -> T?) throws -> T {
    let deadline = DispatchTime.now() + seconds
    while arrived.wait(timeout: deadline) == .success {
      let event = events.withLock { $0.removeFirst() }
      if let matched = match(event) { return matched }
    }
    throw RawSocket.Failure(description: "the expected event did not come")
  }

  /// Events that have come and were not taken by `next`.
  func rest() -> [Event] {
    var rest: [Event] = []
    while arrived.wait(timeout: .now()) == .success {
      rest.append(events.withLock { $0.removeFirst() })
    }
    return rest
  }

  func nextOpened() throws -> (ChannelID, HTTPRequest) {
    try next { if case .opened(let session, let request) = $0 { (session, request) } else { nil } }
  }

  func nextMessage() throws -> [UInt8] {
    try next { if case .received(_, let message) = $0 { message } else { nil } }
  }

  func nextText() throws -> String {
    String(decoding: try nextMessage(), as: UTF8.self)
  }

  /// Waits until the kernel has everything sent to a channel, as a sender with more data would.
  func waitUntilDrained(_ gateway: Gateway, _ channel: ChannelID, waiter: Int = 0) throws {
    if gateway.isDrained(channel.rawValue, waiter: waiter) { return }
    let waiters = try next { if case .drained(let waiters) = $0 { waiters } else { nil } }
    guard waiters >> waiter & 1 == 1 else { throw RawSocket.Failure(description: "another waiter was told") }
  }

  func nextClosed(within seconds: Double = 10) throws -> ChannelID {
    try next(within: seconds) { if case .closed(let session) = $0 { session } else { nil } }
  }

  func nextRequest() throws -> (RequestID, HTTPRequest) {
    try next { if case .requested(let id, let request) = $0 { (id, request) } else { nil } }
  }

  /// The channel of a request that was answered with a stream: see `streaming`.
  func nextStream() throws -> ChannelID {
    try next { if case .opened(let channel, _) = $0, channel.isStream { channel } else { nil } }
  }

  /// A recorder that answers every request with a stream.
  static func streaming(_ kind: StreamKind = .events, headers: [(name: String, value: String)] = []) -> Recorder {
    Recorder(stream: headers.map { HeaderField(name: $0.name, value: $0.value) }, kind)
  }

  struct HeaderField {
    var name: String
    var value: String
  }

  func nextAbandoned() throws -> RequestID {
    try next { if case .abandoned(let id) = $0 { id } else { nil } }
  }

  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int? {
    refuse(handshake)
  }

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest) {
    record(.opened(session, handshake))
  }

  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool {
    record(.received(session, Array(message)))
    react(gateway, session, Array(message))
    return goesOn()
  }

  func gateway(_ gateway: Gateway, drainedFor waiters: UInt64) { record(.drained(waiters: waiters)) }

  func gateway(_ gateway: Gateway, notified value: UInt64, of channel: ChannelID) { record(.notified(channel, value)) }

  func gateway(_ gateway: Gateway, closed session: ChannelID) {
    record(.closed(session))
  }

  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID) {
    record(.requested(id, request))
    guard let stream else { return answer(gateway, request, id) }
    let head = [("Content-Type", "text/event-stream")]
    if let channel = gateway.openStream(to: id, streamKind, head: head, headers: stream.map { ($0.name, $0.value) }) {
      record(.opened(channel, request))
    }
  }

  func gateway(_ gateway: Gateway, abandoned request: RequestID) {
    record(.abandoned(request))
  }

  func gateway(
    _ gateway: Gateway, answered id: RequestID, with outcome: GatewayOutcome, to request: () -> RequestLine
  ) {
    let request = request()
    outcomes.withLock { $0.append((id, outcome, request)) }
  }

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel) {
    record(.logged(line, level))
  }
}

/// Runs `body` with a gateway that is stopped afterwards. FRESHET_SERVICE_THREADS sets the number of its service
/// threads; the default is one.
func withGateway<Result>(
  _ recorder: Recorder = Recorder(), configure: (inout GatewayConfiguration) -> Void = { _ in },
  _ body: (Gateway) throws -> Result
) throws -> Result {
  var configuration = GatewayConfiguration()
  configuration.serviceThreads = ProcessInfo.processInfo.environment["FRESHET_SERVICE_THREADS"].flatMap { Int($0) } ?? 1
  configure(&configuration)
  let gateway = try Gateway(configuration: configuration)
  try gateway.start(recorder)
  defer { gateway.stop(grace: .milliseconds(200)) }
  return try body(gateway)
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
