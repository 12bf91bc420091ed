public import Foundation
import FreshetResults
import LiveQuery

/// Makes WebSocket connections. The default one is URLSession's on Apple's systems, and SwiftNIO's elsewhere.
public protocol LiveTransport: Sendable {
  /// Connects, and returns when the connection has ended.
  ///
  /// - Parameters:
  ///   - request: where to connect to.
  ///   - opened: called once, as soon as messages can be sent.
  ///   - received: called for each text message, in order; the next one is read when it returns.
  /// - Throws: why there is no connection (any more): `ConnectionClosed`, or an error whose description is a sentence.
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

/// The transport of this platform.
public var defaultTransport: any LiveTransport {
  #if canImport(Darwin)
    URLSessionTransport()
  #else
    NIOTransport()
  #endif
}

/// The transport of this platform, for servers whose certificates these authorities vouch for.
///
/// - Parameter authorities: a file in PEM format; nil: those that the system trusts.
/// - Throws: `FreshetError` for a file without certificates, and where the platform takes none.
package func transport(trusting authorities: String?) throws -> any LiveTransport {
  guard let authorities else { return defaultTransport }
  #if canImport(Darwin)
    throw FreshetError(.badMessage, "on this system the keychain says what is trusted: add \(authorities) to it")
  #else
    return try NIOTransport(trusting: authorities)
  #endif
}

/// A server that ended the connection, and said why.
public struct ConnectionClosed: Error, CustomStringConvertible {
  /// That of the WebSocket's close frame, such as 1001 for a server that goes away.
  public let code: UInt16
  public let reason: String

  public init(code: UInt16, reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "the server closed the connection (\(code))\(reason.isEmpty ? "" : ": \(reason)")" }
}
