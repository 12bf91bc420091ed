import FreshetRemote
import Synchronization

/// This platform's transport, with events for its connections and messages.
///
/// A client reconnects forever. A command gives up when that is useless: when no server answers at first, and when the
/// server has closed the connection for a lasting reason.
final class WatchTransport: LiveTransport {
  private let address: String
  private let transport: any LiveTransport
  private let events: AsyncStream<WatchEvent>.Continuation
  /// Takes each message as it came, before the list does.
  private let received: @Sendable ([UInt8]) -> Void
  private let hasConnected = Atomic<Bool>(false)

  /// Closes after which trying again is of no use: not JSON, not UTF-8, too long, unauthenticated, a bad message.
  private static let finalCloses: Set<UInt16> = [1003, 1007, 1008, 1009, 4400, 4401, 4403]

  init(
    _ address: String, over transport: any LiveTransport, events: AsyncStream<WatchEvent>.Continuation,
    received: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.transport = transport
    self.address = address
    self.events = events
    self.received = received
  }

  func connect(
    _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
    received: @escaping @Sendable ([UInt8]) async -> Void
  ) async throws {
    do {
      try await transport.connect(request) { [self] socket in
        hasConnected.store(true, ordering: .relaxed)
        events.yield(.connected)
        await opened(socket)
      } received: { [self] message in
        self.received(message)
        await received(message)
      }
      events.yield(.disconnected("the connection was lost"))
    } catch {
      events.yield(event(of: error))
      throw error
    }
  }

  private func event(of error: any Error) -> WatchEvent {
    let sentence = (error as? FreshetError)?.message ?? "\(error)"
    if !hasConnected.load(ordering: .relaxed) { return .failed("cannot connect to \(address): \(sentence)") }
    if let closed = error as? ConnectionClosed, Self.finalCloses.contains(closed.code) { return .failed(sentence) }
    return .disconnected(sentence)
  }
}
