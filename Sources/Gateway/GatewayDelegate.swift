/// Receives what happens on a gateway's sockets.
///
/// All methods are called on the gateway's one service thread, one at a time, and must return soon: what takes longer
/// is handed to another thread, which answers with the gateway's own methods. The bytes of a message are valid during
/// the call only.
package protocol GatewayDelegate: AnyObject, Sendable {
  /// A WebSocket handshake: nil accepts it, an HTTP status (403 for a wrong Origin) refuses it before the upgrade.
  func gateway(_ gateway: Gateway, shouldRefuse handshake: HTTPRequest) -> Int?

  func gateway(_ gateway: Gateway, opened session: ChannelID, with handshake: HTTPRequest)

  /// One whole text message: valid UTF-8, no longer than `messageLimit`.
  ///
  /// - Returns: whether the next one may be read; if not, `Gateway.resume` has it read.
  func gateway(_ gateway: Gateway, received message: UnsafeRawBufferPointer, from session: ChannelID) -> Bool

  /// All frames sent to these channels, given by their raw values, are with the kernel. Told once after each time that frames
  /// were queued.
  func gateway(_ gateway: Gateway, drained channels: UnsafeBufferPointer<UInt64>)

  /// The session, or the stream that was begun, is over, by whichever side. Nothing follows for it.
  func gateway(_ gateway: Gateway, closed channel: ChannelID)

  /// A whole HTTP request for a dynamic route: answer it, now or later, with `respond` or `beginStream`.
  func gateway(_ gateway: Gateway, requested request: HTTPRequest, as id: RequestID)

  /// The client of a request left before its answer began. Nothing follows for it.
  func gateway(_ gateway: Gateway, abandoned request: RequestID)

  func gateway(_ gateway: Gateway, logged line: String, level: GatewayLogLevel)
}

/// How bad it is what a gateway logs.
package enum GatewayLogLevel: Int32, Sendable {
  case error
  case warning
  case notice
  case info
}
