import Foundation
import FreshetResults
import LiveQuery
import Wire

/// The one connection of a `RemoteDatabase`. It reconnects whenever it breaks, until it is closed.
///
/// Requests are kept here, not on the socket: lists are subscribed to again with the version that they have, and
/// unanswered transactions are repeated under their names.
///
/// Mutable state: `subscriptions`, `readers` and `transactions`, each from its request to its end; `outgoing`, while a
/// socket is open; `epoch`, from a server's first greeting; `renewal` and what belongs to it, from sending a token.
actor Connection {
  enum Command: Sendable {
    case follow(id: String, Subscription)
    case request(id: String, SubscriptionRequest)
    case read(id: String, ChangesSubscription)
    case goOn(id: String)
    case unsubscribe(id: String)
    case transact(PendingTransaction)
  }

  private let address: ServerAddress
  let token: (@Sendable () async throws -> String)?
  private let transport: any LiveTransport
  /// Requests, in the order made.
  private let asked: AsyncStream<Command>
  nonisolated let commands: AsyncStream<Command>.Continuation

  var subscriptions: [String: Subscription] = [:]
  /// Readers of changes.
  var readers: [String: ChangesSubscription] = [:]
  /// In the order in which the server runs them.
  var transactions: [PendingTransaction] = []
  private(set) var outgoing: AsyncStream<[UInt8]>.Continuation?
  private var epoch: String?
  /// The server has greeted on this socket, so `epoch` is its epoch.
  private var isGreeted = false
  private var backoff = Backoff()
  private var lastReceived = ContinuousClock.now
  private var isClosed = false

  var renewal = TokenRenewal()
  /// Sleeps until the token must be renewed.
  var renewing: Task<Void, Never>?
  /// The server has accepted the token on this socket; always true without a token.
  var isKnown = false
  /// Why the server rejected the token, while another may follow.
  var refusal: FreshetError?

  /// The longest silence of a server. It is pinged twice within that time, and the socket closed after it.
  private static let silence = Duration.seconds(30)

  private static let mostTransactions = 1_000

  init(_ address: ServerAddress, token: (@Sendable () async throws -> String)?, transport: any LiveTransport) {
    self.address = address
    self.token = token
    self.transport = transport
    (asked, commands) = AsyncStream.makeStream()
  }

  /// Runs until `commands` are finished.
  func run() async {
    let connecting = Task { await keepConnected() }
    for await command in asked { perform(command) }
    connecting.cancel()
    renewing?.cancel()
    isClosed = true
    outgoing?.finish()
    for subscription in subscriptions.values { subscription.mailbox.close() }
    subscriptions = [:]
    for reader in readers.values { reader.mailbox.close(.closedConnection) }
    readers = [:]
    for transaction in transactions { transaction.answer.resume(throwing: FreshetError.closedConnection) }
    transactions = []
  }

  // MARK: - The socket

  private func keepConnected() async {
    var generator = SystemRandomNumberGenerator()
    while !Task.isCancelled {
      do {
        let text = try await newToken()
        let request = TransportRequest(url: address.url, subprotocol: ServerAddress.subprotocol)
        try await transport.connect(request) { [self] in
          await opened($0, token: text)
        } received: { [self] in
          await received($0)
        }
        disconnected(FreshetError(.disconnected, "the server closed the connection"))
      } catch let error as ConnectionClosed {
        disconnected(FreshetError(.disconnected, error.description))
      } catch {
        disconnected((error as? FreshetError) ?? FreshetError(.disconnected, "the server cannot be reached: \(error)"))
      }
      try? await Task.sleep(for: .milliseconds(backoff.next(using: &generator)))
    }
  }

  private func opened(_ socket: any LiveSocket, token: String?) {
    if isClosed { return Task { await socket.close() }.forget() }
    let (messages, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    outgoing = continuation
    lastReceived = .now
    // Sends one message after the other, while this actor continues.
    Task {
      for await message in messages { try? await socket.send(message) }
      await socket.close()
    }.forget()
    Task { await watch(continuation) }.forget()
    // The token is sent first, so that it applies to everything after it.
    isKnown = token == nil
    if let token { send(Self.authentication(token)) }
    for id in subscriptions.keys.sorted() { subscribe(id) }
    for id in readers.keys.sorted() { askForChanges(id) }
  }

  /// Pings a silent server, and closes the socket if it does not answer.
  private func watch(_ socket: AsyncStream<[UInt8]>.Continuation) async {
    while true {
      try? await Task.sleep(for: Self.silence / 2)
      guard case .enqueued = socket.yield(ClientMessage.ping.text(id: "alive")) else { return }
      if ContinuousClock.now - lastReceived > Self.silence { return socket.finish() }
    }
  }

  private func disconnected(_ error: FreshetError) {
    outgoing?.finish()
    outgoing = nil
    isGreeted = false
    renewing?.cancel()
    for id in subscriptions.keys { subscriptions[id]?.delay(by: error) }
  }

  func send(_ message: [UInt8]) { outgoing?.yield(message) }

  // MARK: - Requests

  private func perform(_ command: Command) {
    switch command {
    case .follow(let id, let subscription):
      subscriptions[id] = subscription
      subscribe(id)
    case .request(let id, let request):
      guard subscriptions[id] != nil else { return }
      subscriptions[id]?.note(request)
      send(ClientMessage(request).text(id: id))
    case .read(let id, let reader): read(id, reader)
    case .goOn(let id): goOn(id)
    case .unsubscribe(let id):
      forgetReader(id)
      guard subscriptions.removeValue(forKey: id) != nil else { return }
      send(ClientMessage.unsubscribe.text(id: id))
    case .transact(let transaction):
      if transactions.count >= Self.mostTransactions {
        let error = FreshetError(.queueFull, "\(Self.mostTransactions) transactions wait for their answers")
        return transaction.answer.resume(throwing: error)
      }
      transactions.append(transaction)
      if isGreeted && isKnown { send(transactions.count - 1) }
    }
  }

  func subscribe(_ id: String) {
    subscriptions[id]?.begin()
    guard let subscription = subscriptions[id] else { return }
    send(subscription.message.text(id: id))
    if let window = subscription.requestedWindow { send(ClientMessage.window(window).text(id: id)) }
    for key in subscription.located { send(ClientMessage.locate(key).text(id: id)) }
  }

  private func send(_ transaction: Int) {
    transactions[transaction].epoch = epoch
    send(transactions[transaction].message)
  }

  // MARK: - Messages

  private func received(_ message: [UInt8]) {
    lastReceived = .now
    do {
      let json = try JSONParser.parse(message)
      backoff.reset()
      guard case .string(let type)? = json["type"] else { return }
      guard case .string(let id)? = json["id"] else { return try receivedUnnamed(type, json) }
      if id == Self.tokenID { return try answeredToken(type, json) }
      if let index = transactions.firstIndex(where: { $0.id == id }) { return answered(index, type, json) }
      if try !takeChanges(json, type, id) { take(json, id) }
    } catch {
      // The server does not speak this protocol, so the connection is useless.
      outgoing?.finish()
    }
  }

  /// A message that answers no request.
  private func receivedUnnamed(_ type: String, _ json: JSONValue) throws(FreshetError) {
    if type == "hello" {
      greeted(json)
    } else if type == "error", try FreshetError(json).code == .unauthenticated {
      tokenExpired()
    }
  }

  private func greeted(_ json: JSONValue) {
    if case .string(let epoch)? = json["epoch"] { self.epoch = epoch }
    // Another database has come into the file's place. This server still answers earlier messages, but repeats would be
    // new to it: transactions keep the epoch in which they were sent.
    if isGreeted { return }
    isGreeted = true
    sendTransactions()
  }

  /// Called when client and server are known. Repeats unanswered transactions if the server remembers them, and sends
  /// those that were not sent.
  func sendTransactions() {
    guard isGreeted && isKnown else { return }
    var index = 0
    while index < transactions.count {
      if let sent = transactions[index].epoch, sent != epoch {
        let error = FreshetError(.outcomeUnknown, "the server was restarted before it answered the transaction")
        transactions.remove(at: index).answer.resume(throwing: error)
      } else {
        send(index)
        index += 1
      }
    }
  }

  private func answered(_ index: Int, _ type: String, _ json: JSONValue) {
    let transaction = transactions.remove(at: index)
    do throws(FreshetError) {
      if type == "error" { throw try FreshetError(json) }
      transaction.answer.resume(returning: TransactionOutcome(try CommittedTransaction(json)))
    } catch {
      transaction.answer.resume(throwing: error)
    }
  }

  private func take(_ json: JSONValue, _ id: String) {
    guard subscriptions[id] != nil else { return }
    do throws(FreshetError) {
      guard let message = try subscriptions[id]?.read(json) else { return }
      guard case .error(let error, isFatal: true) = message else {
        subscriptions[id]?.deliver(message)
        // Anonymous clients may have access as well: the list goes on, and reports that it is not this client's.
        if let refusal { subscriptions[id]?.delay(by: refusal, outlastsUpdates: true) }
        return
      }
      if error.code.isRetryable || awaitsToken(error) { return subscribeLater(id, error) }
      subscriptions[id]?.deliver(message)
      subscriptions[id] = nil
    } catch {
      send(ClientMessage.resync.text(id: id))
    }
  }

  /// The server has ended a subscription for now.
  private func subscribeLater(_ id: String, _ error: FreshetError) {
    subscriptions[id]?.isEnded = true
    // Whatever the error, the token is its cause.
    if let refusal { return subscriptions[id]?.delay(by: refusal, outlastsUpdates: true) ?? () }
    subscriptions[id]?.delay(by: error)
    Task {
      try? await Task.sleep(for: .seconds(1))
      // A new connection, or another token, may have subscribed meanwhile.
      if outgoing != nil, subscriptions[id]?.isEnded == true { subscribe(id) }
    }.forget()
  }
}

extension Task where Success == Void, Failure == Never {
  /// The feed needs no answer.
  func forget() {}
}
