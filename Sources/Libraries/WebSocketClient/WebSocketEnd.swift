import CWebSocketClient

/// How a connection has ended.
enum WebSocketEnd: Sendable {
  case noHost
  case noServer
  case noTLS
  case untrusted(String)
  /// The status of the answer to the handshake.
  case refused(String)
  case failed(String)
  case tooLong
  case closed(code: UInt16, reason: String)
  case lost

  init(_ outcome: websocket_outcome) {
    let detail = withUnsafeBytes(of: outcome.detail) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    self =
      switch outcome.end {
      case WEBSOCKET_NO_HOST: .noHost
      case WEBSOCKET_NO_SERVER: .noServer
      case WEBSOCKET_NO_TLS: .noTLS
      case WEBSOCKET_UNTRUSTED: .untrusted(detail)
      case WEBSOCKET_REFUSED: .refused(detail)
      case WEBSOCKET_TOO_LONG: .tooLong
      case WEBSOCKET_CLOSED: .closed(code: outcome.code, reason: detail)
      case WEBSOCKET_LOST: .lost
      default: .failed(detail)
      }
  }
}
