import Dispatch
import LiveQuery
import Synchronization

/// Gathers what followers say to whether they can read the database: all can, one cannot, or one has not said so in time.
final class ReadinessCheck: Sendable {
  private let missing: Mutex<Int>
  private let answer: @Sendable (FreshetError?) -> Void

  /// How long a follower may take: no longer than those wait who ask.
  private static let patience = Duration.milliseconds(1_500)

  /// - Parameter answer: called on any thread with what keeps the server from serving, perhaps more than once: the first
  ///   time counts.
  init(parts: Int, answer: @escaping @Sendable (FreshetError?) -> Void) {
    missing = Mutex(parts)
    self.answer = answer
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
      answer(FreshetError(.overloaded, "a follower does not answer in time: a query takes long, or the disk does"))
    }
  }

  /// What a follower says.
  func add(_ error: FreshetError?) {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast || error != nil { answer(error) }
  }
}
