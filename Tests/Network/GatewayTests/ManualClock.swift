import Gateway
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
  private let microseconds = Atomic<Int64>(1_000_000_000)

  var now: @Sendable () -> Int64 { { self.microseconds.load(ordering: .relaxed) } }

  func advance(milliseconds: Int64) { microseconds.add(milliseconds * 1_000, ordering: .relaxed) }
}
