internal import CGateway
internal import Synchronization

/// WebSocket and HTTP sockets: the Swift face of CGateway.
///
/// A gateway runs from `start` to `stop`, and stays alive that long. Its methods may be called from any thread; what
/// they do to a channel or request that is gone already is nothing.
///
/// State: `life` (atomic) says whether it was started, and stopped. Everything else is constant here and guarded in C.
// @unchecked: the C gateway behind `pointer` takes calls from any thread.
package final class Gateway: @unchecked Sendable {
  let clock: (@Sendable () -> Int64)?
  let proxies: TrustedProxies
  private let pointer: OpaquePointer
  private enum Life: UInt8, AtomicRepresentable { case new, running, over }
  private let life = Atomic<Life>(.new)

  /// Opens the listening socket: clients can connect, and wait.
  package init(configuration: GatewayConfiguration) throws(GatewayError) {
    clock = configuration.clock
    proxies = try TrustedProxies(configuration.trustedProxies)
    pointer = try configuration.withCConfiguration { (configuration, error) throws(GatewayError) in
      var configuration = configuration
      guard let pointer = gateway_create(&configuration, error.baseAddress!, error.count) else {
        throw GatewayError(message: String(cString: error.baseAddress!))
      }
      return pointer
    }
  }

  /// Starts the service thread. To be called once.
  ///
  /// The delegate may be called before this returns, and is kept until the gateway has stopped.
  package func start(_ delegate: any GatewayDelegate) throws(GatewayError) {
    // Balanced by `stop`.
    let context = Unmanaged.passRetained(CallbackContext(self, delegate))
    var message = [CChar](repeating: 0, count: errorCapacity)
    if !gateway_start(pointer, context.toOpaque(), &message, message.count) {
      context.release()
      throw GatewayError(message: message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }
    life.store(.running, ordering: .releasing)
  }

  deinit {
    gateway_free(pointer)
  }

  /// The port that is listened on.
  package var port: Int { Int(gateway_port(pointer)) }

  /// What was refused since the start, and what is on its way.
  package var counters: GatewayCounters { GatewayCounters(gateway_count(pointer)) }

  /// Whether that many more bytes may be on their way out; a few always may.
  package func hasRoom(for bytes: Int) -> Bool { gateway_has_room(pointer, bytes) }

  /// Counts what the caller has refused because there was no room.
  package func noteOverload() { gateway_note_overload(pointer) }

  /// Sends a frame to a channel.
  package func send(_ frame: Frame, to channel: ChannelID) {
    queue(frame, to: CollectionOfOne(channel.rawValue))
    flush()
  }

  /// Queues a frame for channels, given by their raw values; it leaves with the next `flush`, or sooner. Frames of a channel that
  /// are due together leave in one write. A stream gets the payload alone.
  package func queue(_ frame: Frame, to channels: some Collection<UInt64>) {
    if channels.isEmpty { return }
    let queue = { (channels: UnsafeBufferPointer<UInt64>) in
      gateway_queue(self.pointer, frame.pointer, channels.baseAddress!, channels.count)
    }
    if channels.withContiguousStorageIfAvailable(queue) == nil { Array(channels).withUnsafeBufferPointer(queue) }
  }

  /// Queues a frame for every session.
  package func broadcast(_ frame: Frame) { gateway_broadcast(pointer, frame.pointer) }

  /// Has the delegate notified once everything queued before is on its way, at the latest after the next `flush`.
  package func notify(_ value: UInt64, of channel: ChannelID) { gateway_notify(pointer, channel.rawValue, value) }

  /// Has what is queued written. Not needed by the delegate.
  package func flush() { gateway_flush(pointer) }

  /// Whether everything sent to a channel is with the kernel. If not, the delegate is called as soon as it is.
  ///
  /// - Parameter waiter: whose bit the delegate then gets, 0 to 63.
  package func isDrained(_ channel: UInt64, waiter: Int) -> Bool {
    gateway_is_drained(pointer, channel, UInt32(waiter))
  }

  /// Reads from a session again whose message the delegate answered with false.
  package func resume(_ session: ChannelID) { gateway_resume(pointer, session.rawValue) }

  /// Writes what is queued for the channel, then closes it. At most 123 bytes of the reason are sent; a stream sends neither.
  package func close(_ channel: ChannelID, code: UInt16 = 1000, reason: String = "") {
    gateway_close(pointer, channel.rawValue, code, reason)
  }

  /// Answers an HTTP request. Content-Length, Connection and Date are the gateway's; a HEAD request gets the headers
  /// alone. Where there is no room for the body, the answer is 503.
  package func respond(
    to request: RequestID, status: Int, headers: [(name: String, value: String)] = [],
    body: some Collection<UInt8> = EmptyCollection()
  ) {
    let lines = headerLines(headers)
    let send = { (bytes: UnsafeBufferPointer<UInt8>) in
      gateway_respond(
        self.pointer, request.rawValue, Int32(status), lines, bytes.baseAddress, bytes.count)
    }
    if body.withContiguousStorageIfAvailable(send) == nil {
      Array(body).withUnsafeBufferPointer(send)
    }
  }

  /// Answers an HTTP request with a stream: frames follow, until `close` or until the client leaves. The answer begins with the
  /// first frame, at the latest after a second. To be called by the delegate's methods only.
  ///
  /// - Parameter type: of its content; silence is filled with comments between events, and with empty lines in others.
  /// - Returns: nil when the answer is whole already: to a HEAD request it has no body.
  package func openStream(
    to request: RequestID, type: String = "text/event-stream", headers: [(name: String, value: String)]
  ) -> ChannelID? {
    let id = gateway_stream_open(pointer, request.rawValue, type, headerLines(headers))
    return id == 0 ? nil : ChannelID(rawValue: id)
  }

  /// Ends a stream with a last frame; when nothing was sent yet, the request gets this answer instead.
  package func end(
    _ stream: ChannelID, with frame: Frame, or status: Int, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    gateway_stream_end(
      pointer, stream.rawValue, frame.pointer, Int32(status), headerLines(headers), body, body.count)
  }

  /// Reads the files of the certificate again, for connections from now on.
  ///
  /// - Throws: why they cannot be used; then everything stays as it is.
  package func reloadCertificate() throws(GatewayError) {
    var message = [CChar](repeating: 0, count: errorCapacity)
    if gateway_reload_certificate(pointer, &message, message.count) { return }
    throw GatewayError(message: message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
  }

  /// Accepts no further connections; open ones continue.
  package func stopListening() {
    gateway_stop_listening(pointer)
  }

  /// Closes every session with `code`, ends every stream, lets what is queued be written for at most `grace`, and returns when the
  /// delegate has been called for the last time. Blocks; not to be called by the delegate. Further calls do nothing.
  package func stop(code: UInt16 = 1001, reason: String = "", grace: Duration = .seconds(1)) {
    guard life.exchange(.over, ordering: .acquiringAndReleasing) == .running else { return }
    guard let context = gateway_stop(pointer, code, reason, grace.milliseconds) else { return }
    Unmanaged<CallbackContext>.fromOpaque(context).release()
  }
}
