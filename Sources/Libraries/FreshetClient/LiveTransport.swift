public import Foundation

/// Makes WebSocket connections. The default is URLSession's on Apple's systems, and SwiftNIO's elsewhere.
public protocol LiveTransport: Sendable {
  /// Connects, and returns when the connection has ended.
  ///
  /// - Parameters:
  ///   - request: the address and the subprotocol.
  ///   - opened: called once, as soon as messages can be sent.
  ///   - received: called for each text message, in order; the next one is read when it returns.
  /// - Throws: the reason why the connection failed or ended: `ConnectionClosed`, or an error whose description is a
  ///   sentence.
  func connect(
    _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
    received: @escaping @Sendable ([UInt8]) async -> Void
  ) async throws
}

/// An open connection.
public protocol LiveSocket: Sendable {
  /// Sends a text message.
  func send(_ message: [UInt8]) async throws
  /// Closes the connection at once.
  func close() async
}

/// Where to connect to.
public struct TransportRequest: Sendable {
  /// `ws` or `wss`.
  public var url: URL
  public var subprotocol: String

  public init(url: URL, subprotocol: String) {
    self.url = url
    self.subprotocol = subprotocol
  }
}

/// This platform's transport.
public var defaultTransport: any LiveTransport {
  #if canImport(Darwin)
    URLSessionTransport()
  #else
    NIOTransport()
  #endif
}

/// This platform's transport, for servers whose certificates these authorities have signed.
///
/// - Parameter authorities: a file in PEM format; nil: the system's authorities.
/// - Throws: `FreshetError` for a file without certificates, and on platforms that accept none.
package func transport(trusting authorities: String?) throws -> any LiveTransport {
  guard let authorities else { return defaultTransport }
  #if canImport(Darwin)
    throw FreshetError(.badMessage, "on this system the keychain says what is trusted: add \(authorities) to it")
  #else
    return try NIOTransport(trusting: authorities)
  #endif
}

/// The server ended the connection and gave a reason.
public struct ConnectionClosed: Error, CustomStringConvertible {
  /// The code in the WebSocket's close frame, such as 1001 for a server that shuts down.
  public let code: UInt16
  public let reason: String

  public init(code: UInt16, reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "the server closed the connection (\(code))\(reason.isEmpty ? "" : ": \(reason)")" }
}
