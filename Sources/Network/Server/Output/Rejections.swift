import LiveQuery
import Synchronization

/// Errors that clients were sent, by code.
///
/// Any thread: one lock.
final class Rejections: Sendable {
  private let counts = Mutex<[ErrorCode: Int]>([:])

  func count(_ code: ErrorCode, times: Int = 1) { counts.withLock { $0[code, default: 0] += times } }

  /// Sorted by code. The protocol has a fixed number of codes.
  var all: [(code: String, count: Int)] {
    counts.withLock { $0.map { ($0.key.rawValue, $0.value) } }.sorted { $0.0 < $1.0 }
  }
}
