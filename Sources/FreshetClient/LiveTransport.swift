public import Foundation
import FreshetResults
import LiveClient

/// Makes WebSocket connections. The default one is URLSession's on Apple's systems, and SwiftNIO's elsewhere.
public protocol LiveTransport: Sendable {
  /// Connects, and returns when the connection has ended.
  ///
  /// - Parameters:
  ///   - opened: called once, as soon as messages can be sent.
  ///   - received: called for each text message, in order; the next one is read when it returns.
  /// - Throws: why there is no connection (any more), as an error whose description is a sentence.
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
  public var headers: [(name: String, value: String)]

  public init(url: URL, subprotocol: String, headers: [(name: String, value: String)]) {
    self.url = url
    self.subprotocol = subprotocol
    self.headers = headers
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

/// The live socket of a server.
struct ServerAddress: Sendable {
  let url: URL

  init(_ address: String) throws(FreshetError) {
    do throws(LiveClientError) {
      let endpoint = try Endpoint(url: address)
      let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
      let text = "\(endpoint.isSecure ? "wss" : "ws")://\(host):\(endpoint.port)\(endpoint.path)"
      guard let url = URL(string: text) else { throw LiveClientError("\(address) is no address") }
      self.url = url
    } catch {
      throw FreshetError(.badMessage, error.description)
    }
  }
}
