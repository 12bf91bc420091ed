internal import CGateway

let errorCapacity = 512

extension Duration {
  /// Rounded down, within what C takes.
  var milliseconds: Int32 {
    let seconds = min(max(components.seconds, 0), Int64(Int32.max) / 1000)
    return Int32(clamping: seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

/// Lines "Name: value\r\n", as they are sent. What would end a line early is left out, so that no header can smuggle in another.
func headerLines(_ headers: [(name: String, value: String)]) -> String {
  func clean(_ text: String) -> String {
    String(decoding: text.utf8.filter { $0 != 0 && $0 != 10 && $0 != 13 }, as: UTF8.self)
  }
  return headers.map { "\(clean($0.name)): \(clean($0.value))\r\n" }.joined()
}

extension GatewayConfiguration {
  /// Calls `body` with the configuration as C takes it, valid during the call, and room for an error's sentence.
  func withCConfiguration<Result, E: Error>(
    _ body: (gateway_configuration, UnsafeMutableBufferPointer<CChar>) throws(E) -> Result
  ) throws(E) -> Result {
    let strings = [host, livePath, subprotocol, headerLines(staticHeaders), headerLines(streamHeaders), heartbeat].map(
      copy)
    let directory = publicDirectory.map(copy)
    let (tlsCertificate, tlsKey) = (certificate.map { copy($0.certificate) }, certificate.map { copy($0.key) })
    let routes = CStringList(routes)
    defer {
      for string in strings + [directory, tlsCertificate, tlsKey].compactMap({ $0 }) { string.deallocate() }
      routes.deallocate()
    }
    let error = UnsafeMutableBufferPointer<CChar>.allocate(capacity: errorCapacity)
    defer { error.deallocate() }
    error.initialize(repeating: 0)

    var callbacks = callbacks
    if clock == nil { callbacks.now = nil }
    let configuration = gateway_configuration(
      host: strings[0].baseAddress!, port: Int32(clamping: port), tls_certificate: tlsCertificate?.baseAddress,
      tls_key: tlsKey?.baseAddress, public_directory: directory?.baseAddress,
      live_path: strings[1].baseAddress!, subprotocol: strings[2].baseAddress!, routes: routes.pointer,
      problems: problems, static_headers: strings[3].baseAddress!, message_limit: messageLimit, body_limit: bodyLimit,
      outbox_limit: outboxLimit, message_rate: Int32(clamping: messageRate),
      message_burst: Int32(clamping: messageBurst), address_limit: Int32(clamping: addressLimit),
      has_proxies: !trustedProxies.isEmpty, limits_loopback: limitsLoopback, outgoing_limit: outgoingLimit,
      read_timeout: readTimeout.milliseconds,
      head_timeout: headTimeout.milliseconds, body_timeout: bodyTimeout.milliseconds,
      body_rate: Int32(clamping: bodyRate), ping_after: pingAfter.milliseconds,
      hang_up_after: hangUpAfter.milliseconds, stream_headers: strings[4].baseAddress!,
      heartbeat: strings[5].baseAddress!,
      heartbeat_after: heartbeatAfter.milliseconds, callbacks: callbacks)
    return try body(configuration, error)
  }
}

/// Strings as C takes a list of them, with a null pointer at the end.
private struct CStringList {
  private let strings: [UnsafeMutableBufferPointer<CChar>]
  private let pointers: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

  init(_ texts: [String]) {
    strings = texts.map(copy)
    pointers = .allocate(capacity: texts.count + 1)
    _ = pointers.initialize(from: strings.map { UnsafePointer($0.baseAddress!) } + [nil])
  }

  var pointer: UnsafePointer<UnsafePointer<CChar>?> { UnsafePointer(pointers.baseAddress!) }

  func deallocate() {
    for string in strings { string.deallocate() }
    pointers.deallocate()
  }
}

private func copy(_ string: String) -> UnsafeMutableBufferPointer<CChar> {
  let bytes = Array(string.utf8CString)
  let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
  _ = buffer.initialize(from: bytes)
  return buffer
}
