import FreshetResults
import LiveQuery
import Synchronization
import Wire

/// Keeps a connection open while its database or one of its lists is in use.
final class ConnectionSource: ResultsSource {
  let connection: Connection
  private let lastID = Atomic<UInt64>(0)

  init(_ connection: Connection) {
    self.connection = connection
    Task { await connection.run() }
  }

  deinit { close() }

  func close() { connection.commands.finish() }

  func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

  func transact(_ transaction: TransactionSource) async throws -> TransactionOutcome {
    try await withCheckedThrowingContinuation { continuation in
      let pending = PendingTransaction(transaction, id: "transaction-\(newID())", answer: continuation)
      if case .terminated = connection.commands.yield(.transact(pending)) {
        continuation.resume(throwing: FreshetError.closedConnection)
      }
    }
  }

  func follow(_ query: Query, window: Window?) -> any ResultsFeed {
    let feed = ConnectionFeed(self, id: "list-\(newID())")
    connection.commands.yield(.follow(id: feed.id, Subscription(query, window: window, mailbox: feed.mailbox)))
    return feed
  }
}

/// One subscription at a server.
final class ConnectionFeed: ResultsFeed {
  let id: String
  /// A server does not wait for a slow list: beyond this many unread messages they are dropped, and the list gets a
  /// snapshot.
  let mailbox = Mailbox(limit: 64)
  private let source: ConnectionSource

  init(_ source: ConnectionSource, id: String) {
    self.source = source
    self.id = id
  }

  deinit { close() }

  func next() async -> ListMessage? {
    await mailbox.next(overflowed: { request(.resync) })
  }

  func request(_ request: SubscriptionRequest) { source.connection.commands.yield(.request(id: id, request)) }

  func noteLaid() { mailbox.put(.laid) }

  func close() {
    mailbox.close()
    source.connection.commands.yield(.unsubscribe(id: id))
  }
}
