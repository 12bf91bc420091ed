import CLibNATS

/// A connection to NATS: what a log and its servers need of it, and nothing else. It connects, and connects again, by itself.
///
/// Any thread: libnats guards itself.
// @unchecked: the pointers are constant after init.
package final class BrokerConnection: @unchecked Sendable {
  let connection: OpaquePointer
  let stream: OpaquePointer
  package let address: BrokerAddress
  /// How long an answer is waited for, in milliseconds.
  static let patience: Int64 = 3_000

  /// - Parameter name: what the broker's monitoring calls this client.
  /// - Throws: `refused` for files that cannot be read. A broker that cannot be reached is no error: it is tried again.
  package init(
    _ address: BrokerAddress, _ credentials: BrokerCredentials = BrokerCredentials(), name: String
  ) throws(BrokerError) {
    self.address = address
    var options: OpaquePointer?
    var connection: OpaquePointer?
    var status = natsOptions_Create(&options)
    defer { natsOptions_Destroy(options) }
    var servers: [UnsafePointer<CChar>?] = address.servers.map { UnsafePointer(copyOfText($0)) }
    defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
    let steps: [() -> natsStatus] = [
      { natsOptions_SetServers(options, &servers, Int32(servers.count)) },
      { natsOptions_SetName(options, name) },
      { natsOptions_SetTimeout(options, 2_000) },
      { natsOptions_SetMaxReconnect(options, -1) },
      { natsOptions_SetReconnectWait(options, 250) },
      { natsOptions_SetReconnectJitter(options, 250, 250) },
      { natsOptions_SetRetryOnFailedConnect(options, true, { _, _ in }, nil) },
      { natsOptions_SetFailRequestsOnDisconnect(options, true) },
      // A broker that is gone without a word is noticed after two of them.
      { natsOptions_SetPingInterval(options, 2_000) },
      { natsOptions_SetMaxPingsOut(options, 2) },
      { natsOptions_SetSendAsap(options, true) },
      { natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil) },
      { address.usesTLS ? natsOptions_SetSecure(options, true) : NATS_OK },
      { credentials.authority.map { natsOptions_LoadCATrustedCertificates(options, $0) } ?? NATS_OK },
      {
        guard let certificate = credentials.certificate, let key = credentials.key else { return NATS_OK }
        return natsOptions_LoadCertificatesChain(options, certificate, key)
      },
      { credentials.credentials.map { natsOptions_SetUserCredentialsFromFiles(options, $0, nil) } ?? NATS_OK },
    ]
    for step in steps where status == NATS_OK { status = step() }
    guard status == NATS_OK else { throw Self.failure(status, "cannot use the settings of the broker \(address)") }
    status = natsConnection_Connect(&connection, options)
    guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else {
      throw Self.failure(status, "cannot connect to the broker \(address)")
    }
    var stream: OpaquePointer?
    var streamOptions = jsOptions()
    jsOptions_Init(&streamOptions)
    streamOptions.Wait = Self.patience
    status = natsConnection_JetStream(&stream, connection, &streamOptions)
    guard status == NATS_OK, let stream else {
      natsConnection_Destroy(connection)
      throw Self.failure(status, "cannot use the streams of the broker \(address)")
    }
    self.connection = connection
    self.stream = stream
  }

  deinit {
    natsConnection_Close(connection)
    jsCtx_Destroy(stream)
    natsConnection_Destroy(connection)
  }

  private static func failure(_ status: natsStatus, _ action: String) -> BrokerError {
    let last = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
    return BrokerError(.refused, "\(action): " + (last.isEmpty ? String(cString: natsStatus_GetText(status)) : last))
  }

  package var isConnected: Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }

  /// The longest message that the broker takes, in bytes; its default where it is not known yet.
  package var longestMessage: Int {
    let known = Int(natsConnection_GetMaxPayload(connection))
    return known > 0 ? known : 1 << 20
  }

  // MARK: - Messages that nobody keeps

  /// To whoever listens now. What cannot be sent is lost.
  package func send(_ bytes: [UInt8], to subject: String) {
    guard isConnected else { return }
    _ = natsConnection_Publish(connection, subject, bytes, Int32(bytes.count))
  }

  /// Asks whoever listens to a subject, and waits for the first answer.
  ///
  /// - Parameter timeout: in milliseconds.
  /// - Throws: `noResponder`; `unavailable`, after which it is not known whether anybody was reached.
  package func request(_ bytes: [UInt8], of subject: String, timeout: Int64 = 3_000) throws(BrokerError) -> [UInt8] {
    if !isConnected { throw BrokerError(.noResponder, "no connection to the broker \(address)") }
    var answer: OpaquePointer?
    let status = natsConnection_Request(&answer, connection, subject, bytes, Int32(bytes.count), timeout)
    guard status == NATS_OK, let answer else { throw BrokerError(status, jsErrCode(0), "asking \(subject)") }
    return BrokerMessage(taking: answer).bytes
  }

  /// Asks all who listen to a subject; their answers come to the subscription.
  package func ask(_ bytes: [UInt8], of subject: String) throws(BrokerError) -> BrokerSubscription {
    var inbox: UnsafeMutablePointer<CChar>?
    guard natsInbox_Create(&inbox) == NATS_OK, let inbox else { throw BrokerError(.refused, "no memory") }
    defer { natsInbox_Destroy(inbox) }
    let answers = try subscribe(to: String(cString: inbox))
    let status = natsConnection_PublishRequest(connection, subject, inbox, bytes, Int32(bytes.count))
    if status != NATS_OK { throw BrokerError(status, jsErrCode(0), "asking \(subject)") }
    return answers
  }

  /// Messages to a subject from now on. While there is no connection it is remembered.
  package func subscribe(to subject: String) throws(BrokerError) -> BrokerSubscription {
    var subscription: OpaquePointer?
    let status = natsConnection_SubscribeSync(&subscription, connection, subject)
    guard status == NATS_OK, let subscription else {
      throw BrokerError(status, jsErrCode(0), "listening to \(subject)")
    }
    return BrokerSubscription(subscription, of: self)
  }

  /// Answers a message of `subscribe`.
  package func answer(_ message: BrokerMessage, with bytes: [UInt8]) {
    guard let subject = message.replySubject else { return }
    send(bytes, to: subject)
  }
}
