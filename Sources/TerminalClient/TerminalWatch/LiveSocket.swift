import CLiveClient
import LiveClient

/// A WebSocket client: the Swift face of CLiveClient.
///
/// One thread makes and runs it; `wake` alone may be called from any other. What happens is handed out by `service`.
final class LiveSocket {
  enum Event {
    case opened
    case received([UInt8])
    /// 0 as the code: the connection did not come about.
    case closed(code: UInt16, reason: String)
  }

  /// What callbacks brought, until `service` returns. Guarded by the one thread.
  private final class Inbox {
    var events: [Event] = []
  }

  private let inbox = Inbox()
  private let client: OpaquePointer
  /// For other threads.
  let waker: Waker

  /// The one thing that other threads may do.
  // @unchecked: live_client_wake may be called from any thread, as long as the client lives, which is to the end.
  struct Waker: @unchecked Sendable {
    fileprivate let client: OpaquePointer
    func wake() { live_client_wake(client) }
  }

  /// Lives until the process ends: other threads may wake it at any time.
  init() {
    var callbacks = live_client_callbacks(
      opened: { LiveSocket.inbox($0).events.append(.opened) },
      received: { context, bytes, length in
        LiveSocket.inbox(context).events.append(.received(Array(UnsafeBufferPointer(start: bytes, count: length))))
      },
      closed: { context, code, reason in
        LiveSocket.inbox(context).events.append(.closed(code: code, reason: String(cString: reason)))
      })
    guard let client = live_client_create(&callbacks, Unmanaged.passUnretained(inbox).toOpaque()) else {
      fatalError("no memory for a connection")
    }
    self.client = client
    waker = Waker(client: client)
  }

  private static func inbox(_ context: UnsafeMutableRawPointer?) -> Inbox {
    Unmanaged<Inbox>.fromOpaque(context!).takeUnretainedValue()
  }

  /// Begins to connect. The connection before must be closed.
  func connect(to endpoint: Endpoint) {
    endpoint.host.withCString { host in
      endpoint.path.withCString { path in
        Endpoint.subprotocol.withCString { subprotocol in
          var target = live_client_target(
            host: host, port: endpoint.port, path: path, protocol: subprotocol, is_secure: endpoint.isSecure)
          live_client_connect(client, &target)
        }
      }
    }
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    bytes.withUnsafeBufferPointer { live_client_send(client, $0.baseAddress!, $0.count) }
  }

  /// Waits for something to happen, `milliseconds` at most.
  func service(milliseconds: Int) -> [Event] {
    if inbox.events.isEmpty { live_client_service(client, UInt32(clamping: milliseconds)) }
    defer { inbox.events = [] }
    return inbox.events
  }
}
