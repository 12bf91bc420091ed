#if canImport(Darwin)
  public import Foundation

  /// Apple's WebSockets.
  public struct URLSessionTransport: LiveTransport {
    private let session: URLSession

    public init(session: URLSession = .shared) { self.session = session }

    public func connect(
      _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
      received: @escaping @Sendable ([UInt8]) async -> Void
    ) async throws {
      var httpRequest = URLRequest(url: request.url)
      for (name, value) in request.headers { httpRequest.setValue(value, forHTTPHeaderField: name) }
      httpRequest.setValue(request.subprotocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
      let task = session.webSocketTask(with: httpRequest)
      task.maximumMessageSize = 64 << 20
      task.resume()
      await opened(Socket(task: task))
      while task.closeCode == .invalid {
        switch try await task.receive() {
        case .string(let text): await received(Array(text.utf8))
        case .data: break
        @unknown default: break
        }
      }
    }

    private struct Socket: LiveSocket {
      let task: URLSessionWebSocketTask
      func send(_ message: [UInt8]) async throws {
        try await task.send(.string(String(decoding: message, as: UTF8.self)))
      }
      func close() async { task.cancel(with: .normalClosure, reason: nil) }
    }
  }
#endif
