internal import CGateway

let errorCapacity = 512

extension Duration {
  /// Rounded down, within the range of C's type.
  var milliseconds: Int32 {
    let seconds = min(max(components.seconds, 0), Int64(Int32.max) / 1000)
    return Int32(clamping: seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

/// Lines "Name: value\r\n", as they are sent. Bytes that would end a line early are left out, so that no header can
/// smuggle in another.
func headerLines(_ headers: [(name: String, value: String)]) -> String {
  func clean(_ text: String) -> String {
    String(decoding: text.utf8.filter { $0 != 0 && $0 != 10 && $0 != 13 }, as: UTF8.self)
  }
  return headers.map { "\(clean($0.name)): \(clean($0.value))\r\n" }.joined()
}

/// Keeps alive what C has pointers to: texts, the certificate, and the budget of outgoing memory.
// @unchecked: constant, but for the certificate, which its gateways alone read.
final class GatewaySettings: @unchecked Sendable {
  let budget: OpaquePointer
  private let configuration: gateway_configuration
  private let texts: [UnsafeMutableBufferPointer<CChar>]
  private let certificate: OpaquePointer?

  init(_ configuration: GatewayConfiguration) throws(GatewayError) {
    certificate = try configuration.certificate.map { files throws(GatewayError) in try Self.load(files) }
    guard let budget = gateway_budget_create(configuration.limits.outgoingLimit) else {
      gateway_certificate_free(certificate)
      throw GatewayError(message: "out of memory")
    }
    self.budget = budget
    texts = [
      configuration.subprotocol, headerLines(configuration.streamHeaders),
      configuration.heartbeat,
    ].map(Self.copy)
    var callbacks = callbacks
    if configuration.clock == nil { callbacks.now = nil }
    if configuration.limits.messageRate == 0 { callbacks.framed = nil }
    self.configuration = gateway_configuration(
      number: 0, count: UInt32(clamping: configuration.serviceThreads), listening_socket: -1, certificate: certificate,
      subprotocol: texts[0].baseAddress!, problems: problems, budget: budget,
      message_limit: configuration.limits.messageLimit, body_limit: configuration.limits.bodyLimit,
      outbox_limit: configuration.limits.outboxLimit, read_timeout: configuration.limits.readTimeout.milliseconds,
      head_timeout: configuration.limits.headTimeout.milliseconds,
      body_timeout: configuration.limits.bodyTimeout.milliseconds,
      body_rate: Int32(clamping: configuration.limits.bodyRate),
      ping_after: configuration.limits.pingAfter.milliseconds,
      hang_up_after: configuration.limits.hangUpAfter.milliseconds, stream_headers: texts[1].baseAddress!,
      heartbeat: texts[2].baseAddress!, heartbeat_after: configuration.heartbeatAfter.milliseconds,
      callbacks: callbacks)
  }

  deinit {
    for text in texts { text.deallocate() }
    gateway_certificate_free(certificate)
    gateway_budget_free(budget)
  }

  /// One service thread, not started; it takes the socket. Nil when out of memory.
  func makeThread(_ number: Int, listeningOn socket: Int32) -> OpaquePointer? {
    var configuration = configuration
    configuration.number = UInt32(number)
    configuration.listening_socket = socket
    return gateway_create(&configuration)
  }

  /// Reads the files of a certificate. The caller frees it.
  static func load(_ files: CertificateFiles) throws(GatewayError) -> OpaquePointer {
    var message = [CChar](repeating: 0, count: errorCapacity)
    if let certificate = gateway_certificate_load(files.certificate, files.key, &message, message.count) {
      return certificate
    }
    throw GatewayError(message: message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
  }

  private static func copy(_ text: String) -> UnsafeMutableBufferPointer<CChar> {
    let bytes = Array(text.utf8CString)
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
    _ = buffer.initialize(from: bytes)
    return buffer
  }
}
