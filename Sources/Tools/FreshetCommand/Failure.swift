import Foundation
import Synchronization

/// Why a running server has to end by itself. Any thread.
final class Failure: Sendable {
  private let first = Mutex<String?>(nil)

  var reason: String? { first.withLock { $0 } }

  /// Ends the process in order, with the status 1.
  func end(because reason: String) {
    first.withLock { $0 = $0 ?? reason }
    kill(getpid(), SIGTERM)
  }
}
