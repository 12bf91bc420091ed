internal import CGateway
internal import Synchronization

/// WebSocket and HTTP sockets: the Swift face of CGateway.
///
/// A gateway runs from `start` to `stop`, and stays alive that long. Its sockets are served by threads that share
/// nothing but limits and counters: each connection, with its channels and requests, belongs to one of them. Methods
/// may be called from any thread; what they do to a channel or request that is gone already is nothing.
///
/// State: `life` (atomic) says whether it was started, and stopped. Everything else is constant here and guarded in C.
// @unchecked: the C gateways behind `threads` take calls from any thread.
package final class Gateway: @unchecked Sendable {
  let configuration: GatewayConfiguration
  let addresses: AddressLimits
  private let files: PublicFiles?
  private let mounted: [(path: String, files: PublicFiles)]
  private let settings: GatewaySettings
  /// The service threads, by number.
  private let threads: [OpaquePointer]
  private let clockStart = ContinuousClock.now
  private enum Life: UInt8, AtomicRepresentable { case new, running, over }
  private let life = Atomic<Life>(.new)
  /// The port that is listened on.
  package let port: Int

  /// Opens the listening sockets: clients can connect, and wait.
  package init(configuration: GatewayConfiguration) throws(GatewayError) {
    self.configuration = configuration
    addresses = try AddressLimits(configuration)
    settings = try GatewaySettings(configuration)
    files = try configuration.publicDirectory.map { directory throws(GatewayError) in try PublicFiles(directory) }
    mounted = try configuration.mountedDirectories.map { mount throws(GatewayError) in
      (mount.path, try PublicFiles(mount.directory))
    }
    let sockets = try ListeningSockets(configuration)
    port = sockets.port
    let settings = settings
    threads = sockets.descriptors.enumerated().compactMap { settings.makeThread($0, listeningOn: $1) }
    guard threads.count == sockets.descriptors.count else { throw GatewayError(message: "out of memory") }
  }

  /// The file that a request's path names; nil: no such file.
  func openFile(_ path: String) -> PublicFiles.File? {
    for mount in mounted where path.hasPrefix(mount.path) {
      return mount.files.open("/" + path.dropFirst(mount.path.count))
    }
    return files?.open(path)
  }

  /// - Throws: what keeps a gateway from being made, as far as can be said without listening: certificates, addresses,
  ///   directories.
  package static func check(_ configuration: GatewayConfiguration) throws(GatewayError) {
    _ = try AddressLimits(configuration)
    _ = try GatewaySettings(configuration)
    for directory in [configuration.publicDirectory].compactMap(\.self)
      + configuration.mountedDirectories.map(\.directory)
    {
      _ = try PublicFiles(directory)
    }
  }

  /// Starts the service threads. To be called once.
  ///
  /// The delegates may be called before this returns, and are kept until the gateway has stopped.
  ///
  /// - Parameter delegate: the delegate of a thread, by the thread's number. A shared delegate is called by several
  ///   threads.
  package func start(_ delegate: (Int) -> any GatewayDelegate) throws(GatewayError) {
    var message = [CChar](repeating: 0, count: errorCapacity)
    for (number, thread) in threads.enumerated() {
      // Balanced by `end`.
      let context = Unmanaged.passRetained(CallbackContext(self, delegate(number)))
      if gateway_start(thread, context.toOpaque(), &message, message.count) { continue }
      context.release()
      end(threads[..<number], code: 1001, reason: "", grace: .zero)
      throw GatewayError(message: message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }
    life.store(.running, ordering: .releasing)
  }

  /// The same with one delegate for all threads.
  package func start(_ delegate: any GatewayDelegate) throws(GatewayError) {
    try start { (_: Int) -> any GatewayDelegate in delegate }
  }

  deinit {
    for thread in threads { gateway_free(thread) }
  }

  /// Counts of refusals since the start, and of what is on its way.
  package var counters: GatewayCounters {
    GatewayCounters(threads.map { gateway_count($0) }, outgoing: gateway_budget_used(settings.budget))
  }

  /// Whether that many more bytes may be on their way out; a few always may.
  package func hasRoom(for bytes: Int) -> Bool { gateway_budget_has_room(settings.budget, bytes) }

  /// Counts what the caller has refused because there was no room.
  package func noteOverload() { gateway_note_overload(threads[0]) }

  /// The number of the thread that has a channel or a request; ids say it in their low half.
  private func number(of id: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: id)) % threads.count }

  /// See `ChannelID`.
  package func slot(of channel: ChannelID) -> Int { Int(UInt32(truncatingIfNeeded: channel.rawValue)) / threads.count }

  /// Microseconds of the clock by which clients are limited.
  package var now: Int64 {
    if let clock = configuration.clock { return clock() }
    let time = ContinuousClock.now - clockStart
    return time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
  }

  private func thread(of id: UInt64) -> OpaquePointer { threads[number(of: id)] }

  /// Sends a frame to a channel.
  package func send(_ frame: Frame, to channel: ChannelID) {
    queue(frame, to: CollectionOfOne(channel.rawValue))
    flush()
  }

  /// Queues a frame for channels, given by their raw values; it leaves with the next `flush`, or sooner. Frames of a
  /// channel that are due together leave in one write. A stream gets the payload alone.
  package func queue(_ frame: Frame, to channels: some Collection<UInt64>) {
    if channels.isEmpty { return }
    guard threads.count > 1, channels.count > 1 else {
      return queue(frame, to: channels, on: channels.first.map(thread)!)
    }
    var parts = [[UInt64]](repeating: [], count: threads.count)
    for channel in channels { parts[number(of: channel)].append(channel) }
    for (part, thread) in zip(parts, threads) where !part.isEmpty { queue(frame, to: part, on: thread) }
  }

  private func queue(_ frame: Frame, to channels: some Collection<UInt64>, on thread: OpaquePointer) {
    let queue = { (channels: UnsafeBufferPointer<UInt64>) in
      gateway_queue(thread, frame.pointer, channels.baseAddress!, channels.count)
    }
    if channels.withContiguousStorageIfAvailable(queue) == nil { Array(channels).withUnsafeBufferPointer(queue) }
  }

  /// Has the channel's delegate notified once everything queued before is on its way, at the latest after the next
  /// `flush`.
  package func notify(_ value: UInt64, of channel: ChannelID) {
    gateway_notify(thread(of: channel.rawValue), channel.rawValue, value)
  }

  /// Notifies the thread's delegate about a nonexistent channel.
  package func notify(_ value: UInt64, thread number: Int) {
    gateway_notify(threads[number], ChannelID.none.rawValue, value)
    gateway_flush(threads[number])
  }

  /// Has what is queued written. Not needed by the delegate.
  package func flush() {
    for thread in threads { gateway_flush(thread) }
  }

  /// Whether everything sent to a channel is with the kernel. If not, the delegate is called as soon as it is.
  ///
  /// - Parameter waiter: whose bit the delegate then gets, 0 to 63.
  package func isDrained(_ channel: UInt64, waiter: Int) -> Bool {
    gateway_is_drained(thread(of: channel), channel, UInt32(waiter))
  }

  /// Reads from a session again whose message the delegate answered with false.
  package func resume(_ session: ChannelID) {
    gateway_resume(thread(of: session.rawValue), session.rawValue)
  }

  /// Writes what is queued for the channel, then closes it. At most 123 bytes of the reason are sent; a stream sends
  /// neither.
  package func close(_ channel: ChannelID, code: UInt16 = 1000, reason: String = "") {
    gateway_close(thread(of: channel.rawValue), channel.rawValue, code, closeReason(reason))
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
        self.thread(of: request.rawValue), request.rawValue, Int32(status), lines, bytes.baseAddress, bytes.count)
    }
    if body.withContiguousStorageIfAvailable(send) == nil {
      Array(body).withUnsafeBufferPointer(send)
    }
  }

  /// Answers an HTTP request with what is wrong.
  func refuse(_ request: RequestID, _ fault: gateway_fault, headers: [(name: String, value: String)] = []) {
    gateway_refuse(thread(of: request.rawValue), request.rawValue, fault, headerLines(headers))
  }

  /// Answers an HTTP request with a stream: frames follow, until `close` or until the client leaves. The answer begins
  /// with the first frame, at the latest after a second. To be called by the delegate's methods only.
  ///
  /// - Parameter head: headers of the stream.
  /// - Parameter headers: those of any other answer to the request, too.
  /// - Returns: nil when the answer is whole already: to a HEAD request it has no body.
  package func openStream(
    to request: RequestID, _ kind: StreamKind, head: [(name: String, value: String)],
    headers: [(name: String, value: String)]
  ) -> ChannelID? {
    let id = gateway_stream_open(
      thread(of: request.rawValue), request.rawValue, kind.raw, headerLines(head), headerLines(headers))
    return id == 0 ? nil : ChannelID(rawValue: id)
  }

  /// Ends a stream that has begun with what is queued.
  package func finish(_ stream: ChannelID) {
    end(stream, with: .empty, or: 500, headers: [], body: [])
  }

  /// Ends a stream with a last frame, or cuts it off without one; when nothing was sent yet, the request gets this
  /// answer instead.
  package func end(
    _ stream: ChannelID, with frame: Frame?, or status: Int, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    gateway_stream_end(
      thread(of: stream.rawValue), stream.rawValue, frame?.pointer, Int32(status), headerLines(headers), body,
      body.count)
  }

  /// Reads the files of the certificate again, for connections from now on.
  ///
  /// - Throws: why they cannot be used; then everything stays as it is.
  package func reloadCertificate() throws(GatewayError) {
    guard let files = configuration.certificate else { return }
    let certificate = try GatewaySettings.load(files)
    for thread in threads { gateway_renew_certificate(thread, certificate) }
    gateway_certificate_free(certificate)
  }

  /// Accepts no further connections; open ones continue.
  package func stopListening() {
    for thread in threads { gateway_stop_listening(thread) }
  }

  /// Closes every session with `code`, ends every stream, lets what is queued be written for at most `grace`, and
  /// returns when the delegates have been called for the last time. Blocks; not to be called by a delegate. Further
  /// calls do nothing.
  package func stop(code: UInt16 = 1001, reason: String = "", grace: Duration = .seconds(1)) {
    guard life.exchange(.over, ordering: .acquiringAndReleasing) == .running else { return }
    end(threads[...], code: code, reason: reason, grace: grace)
  }

  private func end(_ threads: ArraySlice<OpaquePointer>, code: UInt16, reason: String, grace: Duration) {
    for thread in threads { gateway_stop(thread, code, closeReason(reason), grace.milliseconds) }
    for thread in threads {
      guard let context = gateway_join(thread) else { continue }
      Unmanaged<CallbackContext>.fromOpaque(context).release()
    }
  }
}

/// As much of a reason as a Close frame takes, whole characters.
private func closeReason(_ reason: String) -> String {
  var reason = Substring(reason)
  while reason.utf8.count > 123 { reason.removeLast() }
  return String(reason)
}
