/// Receives the events of a gateway's sockets.
///
/// All methods are called on the gateway's one service thread, one at a time, and must return soon: what takes longer
/// is handed to another thread, which answers with the gateway's own methods. The bytes of a message are valid during
/// the call only.
package protocol GatewayDelegate: AnyObject, Sendable {
  /// The head of a request, files and handshakes included: 0 lets it continue; otherwise it is answered 429, and may be
  /// tried again after so many seconds.
  func gateway(_ gateway: Gateway, secondsUntilAdmitting client: ClientAddress) -> Int

  /// A WebSocket handshake: nil accepts it, an HTTP status (403 for a wrong Origin) refuses it before the upgrade.
  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int?

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest)

  /// One whole text message: valid UTF-8, no longer than `messageLimit`.
  ///
  /// - Returns: whether the next one may be read; if not, `Gateway.resume` has it read.
  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool

  /// Called when channels drain that `Gateway.isDrained` had reported busy; `waiters` has one bit per waiter.
  func gateway(_ gateway: Gateway, drainedFor waiters: UInt64)

  /// Delivers the value of `Gateway.notify`. Everything queued before that is on its way.
  func gateway(_ gateway: Gateway, notified value: UInt64, of channel: ChannelID)

  /// The session or stream is over, by whichever side. Nothing follows for it.
  func gateway(_ gateway: Gateway, closed channel: ChannelID)

  /// A whole HTTP request for a dynamic route: answer it, now or later, with `respond` or `openStream`.
  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID)

  /// The client of a request left before its answer began. Nothing follows for it.
  func gateway(_ gateway: Gateway, abandoned request: RequestID)

  /// A request is over. This includes files and refused handshakes, which never were `requested`. It is the last call
  /// for the request.
  func gateway(
    _ gateway: Gateway, answered id: RequestID, with outcome: GatewayOutcome, to request: () -> RequestLine)

  /// Twice a second.
  func gatewayTicked(_ gateway: Gateway)

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel)
}

extension GatewayDelegate {
  package func gatewayTicked(_ gateway: Gateway) {}
  package func gateway(_ gateway: Gateway, secondsUntilAdmitting client: ClientAddress) -> Int { 0 }
  package func gateway(
    _ gateway: Gateway, answered id: RequestID, with outcome: GatewayOutcome, to request: () -> RequestLine
  ) {}
}

/// The severity of a gateway's log line.
package enum GatewayLogLevel: Int32, Sendable {
  case error
  case warning
  case notice
  case info
}
