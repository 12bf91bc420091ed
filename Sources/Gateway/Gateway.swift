internal import CGateway
internal import Synchronization

/// WebSocket and HTTP sockets: the Swift face of CGateway.
///
/// A gateway runs from `init` to `stop`, and stays alive that long. Its methods may be called from any thread; what
/// they do to a session or request that is gone already is nothing.
///
/// State: `stopped` (atomic) says whether `stop` was called. Everything else is constant here and guarded in C.
// @unchecked: the C gateway behind `pointer` takes calls from any thread.
package final class Gateway: @unchecked Sendable {
  let delegate: any GatewayDelegate
  let clock: (@Sendable () -> Int64)?
  private let pointer: OpaquePointer
  private let stopped = Atomic<Bool>(false)

  /// Opens the listening socket and starts the service thread.
  ///
  /// The delegate may be called before this returns, and is kept as long as the gateway.
  package init(configuration: GatewayConfiguration, delegate: any GatewayDelegate) throws(GatewayError) {
    self.delegate = delegate
    clock = configuration.clock
    pointer = try configuration.withCConfiguration { (configuration, error) throws(GatewayError) in
      var configuration = configuration
      guard let pointer = gateway_create(&configuration, error.baseAddress!, error.count) else {
        throw GatewayError(message: String(cString: error.baseAddress!))
      }
      return pointer
    }
    // Balanced by `stop`: the callbacks' context is this object.
    let context = Unmanaged.passRetained(self)
    var message = [CChar](repeating: 0, count: errorCapacity)
    if !gateway_start(pointer, context.toOpaque(), &message, message.count) {
      context.release()
      stopped.store(true, ordering: .relaxed)
      throw GatewayError(message: message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }
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

  /// Has what is queued written. Not needed by the delegate.
  package func flush() { gateway_flush(pointer) }

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

  /// Begins to answer an HTTP request with a stream: frames follow, until `close` or until the client leaves. To a
  /// HEAD request this is the whole answer.
  package func beginStream(to request: RequestID, status: Int = 200, headers: [(name: String, value: String)]) {
    gateway_stream_begin(pointer, request.rawValue, Int32(status), headerLines(headers))
  }

  /// Accepts no further connections; those that are open go on.
  package func stopListening() {
    gateway_stop_listening(pointer)
  }

  /// Closes every session with `code`, ends every stream, lets what is queued be written for at most `grace`, and returns when the
  /// delegate has been called for the last time. Blocks; not to be called by the delegate. Further calls do nothing.
  package func stop(code: UInt16 = 1001, reason: String = "", grace: Duration = .seconds(1)) {
    guard !stopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    gateway_stop(pointer, code, reason, grace.milliseconds)
    Unmanaged.passUnretained(self).release()
  }
}
