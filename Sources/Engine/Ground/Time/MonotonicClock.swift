/// Gives the current time to everything that waits or measures. Tests have clocks of their own.
package struct MonotonicClock: Sendable {
  /// Nil for the machine's clock, which changes of the machine's date do not affect. A tick reads the clock some ten
  /// times, so that one is read without a closure.
  private let read: (@Sendable () -> Instant)?

  /// - Parameter read: called on any thread; its result never goes back.
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
