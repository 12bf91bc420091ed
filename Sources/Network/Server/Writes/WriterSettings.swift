import Ground

/// What a server writes for its clients, and within which limits.
struct WriterSettings: Sendable {
  let database: String
  /// The longest that a transaction may take.
  let timeout: Duration
  /// What may be remembered of transactions that clients may ask for again, in bytes.
  let memory: Int
  /// How long a running transaction may continue when the server stops.
  let grace: Duration
  let clock: MonotonicClock
}
