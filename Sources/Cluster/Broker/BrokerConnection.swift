import CLibNATS
import Synchronization

/// A connection to NATS, with only the functions that a log and its servers need. It connects and reconnects by itself.
///
/// Any thread: libnats guards itself.
package final class BrokerConnection: Sendable {
  /// libnats' connection, and its view of the streams.
  // @unchecked: libnats guards what they point to.
  private struct Handles: @unchecked Sendable {
    var connection: OpaquePointer
    var stream: OpaquePointer
    /// When it was opened, in milliseconds since the machine was started.
    var opened: Int64

    func close() {
      natsConnection_Close(connection)
      jsCtx_Destroy(stream)
      // Subscriptions hold references of their own.
      natsConnection_Destroy(connection)
    }
  }

  package let address: BrokerAddress
  private let credentials: BrokerCredentials
  private let name: String
  private let handles: Mutex<Handles>
  /// Handles that were replaced, which a thread may still use that began before.
  private let former = Mutex<[Handles]>([])
  /// How long an answer is waited for, in milliseconds.
  static let patience: Int64 = 3_000
  /// How long to wait before a connection that libnats has given up is made again.
  private static let closedInterval: Int64 = 2_000

  /// - Parameter name: what the broker's monitoring calls this client.
  /// - Throws: `refused` for files that cannot be read. If the broker cannot be reached, connecting is tried again, and
  ///   nothing is thrown.
  package init(
    _ address: BrokerAddress, _ credentials: BrokerCredentials = BrokerCredentials(), name: String
  ) throws(BrokerError) {
    (self.address, self.credentials, self.name) = (address, credentials, name)
    handles = Mutex(try Self.open(address, credentials, name: name))
  }

  deinit {
    handles.withLock { $0.close() }
    former.withLock { former in for handles in former { handles.close() } }
  }

  var connection: OpaquePointer { current.connection }
  var stream: OpaquePointer { current.stream }

  /// The present handles. libnats gives up a connection that the broker has refused twice. Passwords and certificates
  /// may be corrected later, so the connection is then opened again.
  private var current: Handles {
    handles.withLock { handles in
      let now = nats_Now()
      if natsConnection_Status(handles.connection) == NATS_CONN_STATUS_CLOSED,
        now - handles.opened > Self.closedInterval, let fresh = try? Self.open(address, credentials, name: name)
      {
        let closed = handles
        former.withLock { former in
          former.append(closed)
          // Closing the oldest is safe: no call lasts as long as 60 refused connections.
          if former.count > 60 { former.removeFirst().close() }
        }
        handles = fresh
      }
      return handles
    }
  }

  private static func open(
    _ address: BrokerAddress, _ credentials: BrokerCredentials, name: String
  ) throws(BrokerError) -> Handles {
    var options: OpaquePointer?
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
      // A broker that has vanished is noticed after two unanswered pings.
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
    guard status == NATS_OK else { throw failure(status, "cannot use the settings of the broker \(address)") }
    var connection: OpaquePointer?
    status = natsConnection_Connect(&connection, options)
    guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else {
      throw failure(status, "cannot connect to the broker \(address)")
    }
    var stream: OpaquePointer?
    var streamOptions = jsOptions()
    jsOptions_Init(&streamOptions)
    streamOptions.Wait = patience
    status = natsConnection_JetStream(&stream, connection, &streamOptions)
    guard status == NATS_OK, let stream else {
      natsConnection_Destroy(connection)
      throw failure(status, "cannot use the streams of the broker \(address)")
    }
    return Handles(connection: connection, stream: stream, opened: nats_Now())
  }

  private static func failure(_ status: natsStatus, _ action: String) -> BrokerError {
    let last = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
    return BrokerError(.refused, "\(action): " + (last.isEmpty ? String(cString: natsStatus_GetText(status)) : last))
  }

  /// Why there is no connection, if libnats knows a reason.
  package var trouble: String {
    var text: UnsafePointer<CChar>?
    let status = natsConnection_GetLastError(connection, &text)
    let said = text.map { String(cString: $0) } ?? ""
    let reason = status == NATS_OK ? "" : said.isEmpty ? String(cString: natsStatus_GetText(status)) : said
    return "no connection to the broker \(address)" + (reason.isEmpty ? "" : ": \(reason)")
  }

  package var isConnected: Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }

  /// The longest message that the broker takes, in bytes; its default where it is not known yet.
  package var longestMessage: Int {
    let known = Int(natsConnection_GetMaxPayload(connection))
    return known > 0 ? known : 1 << 20
  }

  // MARK: - Messages that are not kept

  /// Sends to present listeners. A message that cannot be sent is lost.
  package func send(_ bytes: [UInt8], to subject: String) {
    guard isConnected else { return }
    _ = natsConnection_Publish(connection, subject, bytes, Int32(bytes.count))
  }

  /// Asks the listeners of a subject, and waits for the first answer.
  ///
  /// - Parameter timeout: in milliseconds.
  /// - Throws: `noResponder`; `unavailable`, after which it is not known whether a listener was reached.
  package func request(_ bytes: [UInt8], of subject: String, timeout: Int64 = 3_000) throws(BrokerError) -> [UInt8] {
    if !isConnected { throw BrokerError(.noResponder, trouble) }
    var answer: OpaquePointer?
    let status = natsConnection_Request(&answer, connection, subject, bytes, Int32(bytes.count), timeout)
    guard status == NATS_OK, let answer else { throw BrokerError(status, jsErrCode(0), "asking \(subject)") }
    return BrokerMessage(taking: answer).bytes
  }

  /// Asks all listeners of a subject; their answers arrive at the subscription.
  package func ask(_ bytes: [UInt8], of subject: String) throws(BrokerError) -> BrokerSubscription {
    var inbox: UnsafeMutablePointer<CChar>?
    guard natsInbox_Create(&inbox) == NATS_OK, let inbox else { throw BrokerError(.refused, "no memory") }
    defer { natsInbox_Destroy(inbox) }
    let answers = try subscribe(to: String(cString: inbox))
    let status = natsConnection_PublishRequest(connection, subject, inbox, bytes, Int32(bytes.count))
    if status != NATS_OK { throw BrokerError(status, jsErrCode(0), "asking \(subject)") }
    return answers
  }

  /// Subscribes to the messages of a subject from now on. The subscription outlasts a lost connection.
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
