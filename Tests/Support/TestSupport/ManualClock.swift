package import Ground
import Store
import Synchronization

/// A clock that a test moves forward.
///
/// Each reading takes a microsecond, so that loops that wait for a time end.
package final class ManualClock: Sendable {
  private let nanoseconds = Atomic<UInt64>(1 << 40)

  package init() {}

  package var clock: MonotonicClock {
    MonotonicClock { [self] in Instant(nanoseconds: nanoseconds.add(1_000, ordering: .relaxed).newValue) }
  }

  package func advance(by duration: Duration) {
    nanoseconds.add(Nanoseconds(duration).count, ordering: .relaxed)
  }
}
