import FreshetResults
import LiveQuery
import Wire

/// A connection's state of one reader of changes.
struct ChangesSubscription: Sendable {
  let request: ChangesRequest
  /// The position from which the server continues: after everything in the mailbox. Nil: with the next commit.
  var since: String?
  let mailbox: ChangesMailbox<DatabaseChange>
  /// How often the changes were requested: messages that answer earlier requests are ignored.
  fileprivate var round = 0
  /// The server is not asked until the mailbox has room.
  fileprivate var isPaused = false

  init(_ request: ChangesRequest, since: String?, _ mailbox: ChangesMailbox<DatabaseChange>) {
    self.request = request
    self.since = since
    self.mailbox = mailbox
  }

  fileprivate func wireID(_ id: String) -> String { "\(id).\(round)" }
}

// Readers of changes. A server sends a slow reader changes up to its bound, and then a gap. So a reader whose mailbox
// is full unsubscribes, and requests the changes since then when it has read its messages.
extension Connection {
  func read(_ id: String, _ subscription: ChangesSubscription) {
    readers[id] = subscription
    askForChanges(id)
  }

  func askForChanges(_ id: String) {
    guard readers[id]?.isPaused == false else { return }
    readers[id]?.round += 1
    guard let reader = readers[id] else { return }
    send(ClientMessage.changes(reader.request, since: reader.since).text(id: reader.wireID(id)))
  }

  /// The mailbox has room again.
  func goOn(_ id: String) {
    guard readers[id]?.isPaused == true else { return }
    readers[id]?.isPaused = false
    askForChanges(id)
  }

  func forgetReader(_ id: String) {
    guard let reader = readers.removeValue(forKey: id), !reader.isPaused else { return }
    send(ClientMessage.unsubscribe.text(id: reader.wireID(id)))
  }

  /// - Returns: whether the message is for a reader.
  func takeChanges(_ json: JSONValue, _ type: String, _ wireID: String) throws(FreshetError) -> Bool {
    guard let end = wireID.lastIndex(of: "."), let reader = readers[String(wireID[..<end])] else { return false }
    let id = String(wireID[..<end])
    if reader.isPaused || wireID != reader.wireID(id) { return true }
    switch type {
    case "changes", "gap":
      guard let change = try DatabaseChange(json) else { break }
      readers[id]?.since = change.position
      reader.mailbox.put(.success(change))
      if reader.mailbox.isDrained { break }
      readers[id]?.isPaused = true
      send(ClientMessage.unsubscribe.text(id: wireID))
    case "error":
      let error = try FreshetError(json)
      if error.code.isRetryable || awaitsToken(error) { return askLater(id, wireID) }
      readers[id] = nil
      reader.mailbox.put(.failure(error))
    default: break
    }
    return true
  }

  private func askLater(_ id: String, _ wireID: String) -> Bool {
    Task {
      try? await Task.sleep(for: .seconds(1))
      // A new connection may have asked meanwhile.
      if readers[id]?.wireID(id) == wireID { askForChanges(id) }
    }.forget()
    return true
  }
}

/// One reader of changes at a server.
final class ConnectionChanges: ChangesReader {
  private let source: ConnectionSource
  private let id: String
  private let mailbox: ChangesMailbox<DatabaseChange>

  init(_ source: ConnectionSource, _ request: ChangesRequest, since: String?) {
    self.source = source
    let id = "changes-\(source.newID())"
    self.id = id
    mailbox = ChangesMailbox(limit: 1_000) { [commands = source.connection.commands] in commands.yield(.goOn(id: id)) }
    let subscription = ChangesSubscription(request, since: since, mailbox)
    if case .terminated = source.connection.commands.yield(.read(id: id, subscription)) {
      mailbox.close(.closedConnection)
    }
  }

  deinit { source.connection.commands.yield(.unsubscribe(id: id)) }

  func next() async throws -> DatabaseChange { try await mailbox.next() }
}

extension FreshetError {
  static let closedConnection = FreshetError(.disconnected, "the connection was closed")
}
