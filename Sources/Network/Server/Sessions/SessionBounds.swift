import Ground

/// The limits of a session, and their clocks.
struct SessionBounds: Sendable {
  /// Subscriptions that it may have.
  let subscriptions: Int
  /// Requests of a session that may wait for their answers; while that many do, no more are read.
  let waitingRequests: Int
  /// The date, for tokens.
  let wallClock: WallClock
  /// The clock that durations are measured by.
  let clock: MonotonicClock

  init(_ limits: ServerLimits, wallClock: WallClock, clock: MonotonicClock) {
    subscriptions = limits.subscriptionLimit
    waitingRequests = limits.waitingRequests
    self.wallClock = wallClock
    self.clock = clock
  }
}
