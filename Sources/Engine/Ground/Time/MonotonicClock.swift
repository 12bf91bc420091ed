/// Tells what time it is, for everything that waits or measures. Tests have clocks of their own.
package struct MonotonicClock: Sendable {
  /// Nil: the machine's clock, which no change of its date moves. It is asked some ten times a tick, and not through a
  /// closure.
  private let read: (@Sendable () -> Instant)?

  /// - Parameter read: any thread; it never goes back.
  package init(_ read: @escaping @Sendable () -> Instant) { self.read = read }

  private init() { read = nil }

  package static let system = MonotonicClock()

  package var now: Instant {
    if let read { return read() }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }
}
