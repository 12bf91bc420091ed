import CWebSocketClient
import Foundation
public import FreshetRemote
public import LiveQuery

/// WebSockets over libwebsockets, with OpenSSL for TLS. A connection has a thread of its own.
public struct WebSocketTransport: LiveTransport {
  private let authorities: String?

  /// Trusts the system's authorities.
  public init() { authorities = nil }

  /// - Parameter authorities: the path of a PEM file with the trusted authorities.
  /// - Throws: `FreshetError` for a file without certificates.
  public init(trusting authorities: String) throws(FreshetError) {
    self.authorities = authorities
    try WebSocket(host: "", port: 0, path: "", subprotocol: "").useTLS(trusting: authorities)
  }

  public func connect(
    _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
    received: @escaping @Sendable ([UInt8]) async -> Void
  ) async throws {
    let socket = try WebSocket(request, trusting: authorities)
    // Without effect after its end; the task may be cancelled before.
    defer { socket.end() }
    for await event in socket.run() {
      switch event {
      case .opened: await opened(socket)
      case .received(let message):
        await received(message)
        socket.readOn()
      case .ended(let end): if let error = end.error(request.hostWithoutBrackets) { throw error }
      }
    }
  }
}

extension WebSocket {
  fileprivate convenience init(_ request: TransportRequest, trusting authorities: String?) throws(FreshetError) {
    let url = request.url
    let isSecure = url.scheme == "wss"
    let path = url.path(percentEncoded: true)
    self.init(
      host: request.hostWithoutBrackets, port: url.port ?? (isSecure ? 443 : 80),
      path: url.query(percentEncoded: true).map { "\(path)?\($0)" } ?? path, subprotocol: request.subprotocol)
    if isSecure { try useTLS(trusting: authorities) }
  }
}

extension TransportRequest {
  fileprivate var hostWithoutBrackets: String { url.host?.trimmingCharacters(in: ["[", "]"]) ?? "" }
}

extension WebSocketEnd {
  /// Nil: the connection was lost, or closed here.
  fileprivate func error(_ host: String) -> (any Error)? {
    switch self {
    case .noHost: disconnected("there is no host \(host)")
    case .noServer: disconnected("nobody answers")
    case .noTLS: disconnected("the server at \(host) does not answer with TLS")
    case .untrusted(let reason): disconnected("the certificate of \(host) is not trusted: \(reason)")
    case .refused(let status): disconnected("there is no Freshet server: the answer is \(status)")
    case .failed(let reason): disconnected("the WebSocket handshake failed: \(reason)")
    case .tooLong: disconnected("the server's message is longer than \(WEBSOCKET_MESSAGE_LIMIT >> 20) MB")
    case .closed(let code, let reason): ConnectionClosed(code: code, reason: reason)
    case .lost: nil
    }
  }

  private func disconnected(_ sentence: String) -> FreshetError { FreshetError(.disconnected, sentence) }
}
