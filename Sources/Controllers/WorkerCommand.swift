package import LiveQuery

/// What other threads ask of a worker.
package enum WorkerCommand: Sendable {
  case subscribe(Subscribe)
  case request(SubscriptionKey, SubscriptionRequest)
  case unsubscribe(SubscriptionKey)
  /// One snapshot for somebody who does not subscribe.
  case snapshot(SnapshotRequest)
  /// Everything sent to the session is with the kernel.
  case sessionDrained(UInt64)
  case sessionClosed(UInt64)
  /// Somebody in this process has committed.
  case databaseChanged
  case stop

  package struct Subscribe: Sendable {
    package var key: SubscriptionKey
    package var query: Query
    package var window: Window?
    /// Milliseconds.
    package var minInterval: Int
    package var shape: Shape

    package init(key: SubscriptionKey, query: Query, window: Window?, minInterval: Int, shape: Shape) {
      self.key = key
      self.query = query
      self.window = window
      self.minInterval = minInterval
      self.shape = shape
    }
  }

  package struct SnapshotRequest: Sendable {
    package var query: Query
    package var window: Window?
    /// Called once, on the worker's thread.
    package var reply: @Sendable (Result<Snapshot, FreshetError>) -> Void

    package init(
      query: Query, window: Window?, reply: @escaping @Sendable (Result<Snapshot, FreshetError>) -> Void
    ) {
      self.query = query
      self.window = window
      self.reply = reply
    }
  }
}
