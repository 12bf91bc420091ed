import Controllers
import Gateway
import LiveQuery
import Requests
import Synchronization

/// Requests for snapshots, explanations and the schema that are not answered yet: for clients that leave, and for the
/// end of the server.
///
/// Any thread: one lock.
final class SnapshotRequests: Sendable {
  struct Request: Sendable {
    let exchange: HTTPExchange
    /// The follower that answers it.
    let follower: FollowerThread
    /// Whether it waits for a change (`wait=25`).
    let waits: Bool

    /// The client has left, and its answer is not needed any more.
    func abandon() { follower.post(.abandon(request: exchange.id.rawValue)) }
  }

  private let requests = Mutex<[RequestID: Request]>([:])

  func add(_ request: Request) { requests.withLock { $0[request.exchange.id] = request } }

  @discardableResult
  func remove(_ id: RequestID) -> Request? { requests.withLock { $0.removeValue(forKey: id) } }

  /// Answers those that wait for a change, and gives them up.
  func stop() {
    let waiting = requests.withLock { requests in
      let waiting = requests.values.filter(\.waits)
      for request in waiting { requests[request.exchange.id] = nil }
      return waiting
    }
    for request in waiting {
      request.exchange.answer(.problem(.shuttingDown, "the server is stopping"))
      request.abandon()
    }
  }
}
