package import FreshetClient
package import Synchronization

/// A transport whose connections can be broken, and are made again only when the test opens the gate.
package final class BreakableTransport: LiveTransport {
  private let sockets = Mutex<[any LiveSocket]>([])
  /// New connections wait here; nil: they need not wait.
  private let gate = Mutex<[CheckedContinuation<Void, Never>]?>(nil)
  /// The connection breaks once, after a message of this type was sent.
  private let fatal = Mutex<String?>(nil)
  package let connections = Atomic<Int>(0)

  package init() {}

  package func connect(
    _ request: TransportRequest, opened: @escaping @Sendable (any LiveSocket) async -> Void,
    received: @escaping @Sendable ([UInt8]) async -> Void
  ) async throws {
    await passGate()
    let cut = Flag()
    try await defaultTransport.connect(request) { [self] socket in
      connections.add(1, ordering: .relaxed)
      sockets.withLock { $0.append(socket) }
      await opened(Socket(transport: self, socket: socket, cut: cut))
    } received: {
      if !cut.isSet.load(ordering: .acquiring) { await received($0) }
    }
  }

  private func passGate() async {
    await withCheckedContinuation { waiting in
      let isOpen = gate.withLock { gate in
        gate?.append(waiting)
        return gate == nil
      }
      if isOpen { waiting.resume() }
    }
  }

  package func closeGate() { gate.withLock { $0 = [] } }

  package func openGate() {
    let waiting = gate.withLock { gate in
      defer { gate = nil }
      return gate ?? []
    }
    for one in waiting { one.resume() }
  }

  package func breakConnections() async {
    let open = sockets.withLock { sockets in
      defer { sockets = [] }
      return sockets
    }
    for socket in open { await socket.close() }
  }

  package func breakAfterSending(_ type: String) { fatal.withLock { $0 = type } }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  private struct Socket: LiveSocket {
    let transport: BreakableTransport
    let socket: any LiveSocket
    /// Set when nothing more is received.
    let cut: Flag

    func send(_ message: [UInt8]) async throws {
      let isFatal = transport.fatal.withLock { type in
        guard let known = type, String(decoding: message, as: UTF8.self).contains(#""type":"\#(known)""#) else {
          return false
        }
        type = nil
        return true
      }
      // Set before sending, because the answer may come before `send` returns.
      if isFatal { cut.isSet.store(true, ordering: .releasing) }
      try await socket.send(message)
      // The server has the message, but its answer is lost.
      if isFatal { await socket.close() }
    }

    func close() async { await socket.close() }
  }
}
