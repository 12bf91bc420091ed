import Gateway
import Ground
import LiveQuery
import Store
import Synchronization

/// The known facts of a request until it is answered: for logs and counters.
///
/// Any thread: one lock.
final class RequestRecord: Sendable {
  let method: String
  let path: String
  let start: Instant
  private let state: Mutex<(actor: LogActor, subject: LogSubject?, code: ErrorCode?)>

  init(method: String, path: String, address: String, at start: Instant) {
    self.method = method
    self.path = path
    self.start = start
    state = Mutex((LogActor(address: address), nil, nil))
  }

  convenience init(_ request: RequestLine, at start: Instant) {
    self.init(method: request.method, path: request.path, address: request.peer, at: start)
  }

  var known: (actor: LogActor, subject: LogSubject?) { state.withLock { ($0.actor, $0.subject) } }
  var code: ErrorCode? { state.withLock { $0.code } }

  func identify(_ actor: LogActor) { state.withLock { $0.actor = actor } }
  func note(_ subject: LogSubject?) { state.withLock { $0.subject = subject } }

  /// Records the error that the request is answered with. The first one counts, as the first answer does.
  func fail(_ code: ErrorCode) { state.withLock { $0.code = $0.code ?? code } }
}
