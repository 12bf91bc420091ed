import Gateway
import LiveQuery
import Synchronization

/// Requests that wait for a change (`wait=25`): who they are, for the end of the server and for clients who leave.
///
/// Any thread: one lock.
final class WaitingRequests: Sendable {
  private let exchanges = Mutex<[RequestID: HTTPExchange]>([:])

  func add(_ exchange: HTTPExchange) { exchanges.withLock { $0[exchange.id] = exchange } }

  /// - Returns: whether it was one of them.
  @discardableResult
  func remove(_ request: RequestID) -> Bool { exchanges.withLock { $0.removeValue(forKey: request) != nil } }

  /// Answers all.
  ///
  /// - Returns: who they were.
  func stop() -> [RequestID] {
    let waiting = exchanges.withLock { exchanges in
      let all = Array(exchanges.values)
      exchanges.removeAll()
      return all
    }
    for exchange in waiting { exchange.answer(.problem(.shuttingDown, "the server is stopping")) }
    return waiting.map(\.id)
  }
}
