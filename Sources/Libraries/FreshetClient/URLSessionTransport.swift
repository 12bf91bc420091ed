#if canImport(Darwin)
  public import Foundation

  /// A transport over Apple's WebSockets.
  public struct URLSessionTransport: LiveTransport {
    private let session: URLSession

    public init(session: URLSession = .shared) { self.session = session }

    public func connect(
      _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
      received: @escaping @Sendable ([UInt8]) async -> Void
    ) async throws {
      var httpRequest = URLRequest(url: request.url)
      httpRequest.setValue(request.subprotocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
      let task = session.webSocketTask(with: httpRequest)
      task.maximumMessageSize = 64 << 20
      task.resume()
      await opened(Socket(task: task))
      do {
        while task.closeCode == .invalid {
          if case .string(let text) = try await task.receive() { await received(Array(text.utf8)) }
        }
      } catch  where task.closeCode != .invalid {
        // URLSession's error says only that there is no connection.
      }
      let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
      throw ConnectionClosed(code: UInt16(clamping: task.closeCode.rawValue), reason: reason)
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
