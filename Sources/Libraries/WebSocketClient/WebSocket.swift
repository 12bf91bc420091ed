import CWebSocketClient
import Foundation
import FreshetRemote
import LiveQuery

/// One connection to a server: the Swift face of CWebSocketClient. Its methods may be called from any thread.
// @unchecked: `pointer` takes calls from any thread.
final class WebSocket: LiveSocket, @unchecked Sendable {
  enum Event: Sendable {
    case opened
    /// The next one is read after `readOn`.
    case received([UInt8])
    case ended(WebSocketEnd)
  }

  private let pointer: OpaquePointer

  /// - Parameter host: a name or an address, without brackets.
  init(host: String, port: Int, path: String, subprotocol: String) {
    guard let pointer = websocket_create(host, Int32(clamping: port), path, subprotocol) else {
      fatalError("out of memory")
    }
    self.pointer = pointer
  }

  deinit { websocket_free(pointer) }

  /// Connects by TLS. To be called before `run`.
  ///
  /// - Parameter authorities: a file in PEM format, with the trusted authorities; nil: the system's.
  /// - Throws: `FreshetError` for a file without certificates.
  func useTLS(trusting authorities: String?) throws(FreshetError) {
    if websocket_use_tls(pointer, authorities) { return }
    throw FreshetError(.badMessage, "\(authorities ?? "the system") holds no certificate in PEM format")
  }

  /// Connects, on a thread of its own. To be called once.
  ///
  /// - Returns: what happens; the connection's end is the last.
  func run() -> AsyncStream<Event> {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    Thread.detachNewThread { [self] in
      continuation.yield(.ended(WebSocketEnd(serve(EventSink(continuation)))))
      continuation.finish()
    }
    return events
  }

  private func serve(_ sink: EventSink) -> websocket_outcome {
    var callbacks = websocket_callbacks(
      opened: { EventSink.from($0).events.yield(.opened) },
      received: { context, bytes, length in
        EventSink.from(context).events.yield(.received(Array(UnsafeBufferPointer(start: bytes, count: length))))
      },
      context: Unmanaged.passUnretained(sink).toOpaque())
    return withExtendedLifetime(sink) { websocket_run(pointer, &callbacks) }
  }

  /// Lets the next message be read.
  func readOn() { websocket_read_on(pointer) }

  func send(_ message: [UInt8]) async throws {
    if websocket_send(pointer, message, message.count) { return }
    throw FreshetError(.disconnected, "the connection was closed")
  }

  func close() async { end() }

  /// Ends the connection at once.
  func end() { websocket_close(pointer) }
}

/// Receives events from the callbacks of a connection.
private final class EventSink {
  let events: AsyncStream<WebSocket.Event>.Continuation

  init(_ events: AsyncStream<WebSocket.Event>.Continuation) { self.events = events }

  static func from(_ pointer: UnsafeMutableRawPointer?) -> EventSink {
    Unmanaged.fromOpaque(pointer!).takeUnretainedValue()
  }
}
