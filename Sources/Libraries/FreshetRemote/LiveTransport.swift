public import Foundation

/// Makes WebSocket connections.
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
