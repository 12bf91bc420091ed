import Ground

/// The settings and limits of clients' writes.
struct WriterSettings: Sendable {
  let database: String
  /// The longest that a transaction may take.
  let timeout: Duration
  /// Memory for transactions that clients may repeat, in bytes.
  let memory: Int
  /// How long a running transaction may continue when the server stops.
  let grace: Duration
  let clock: MonotonicClock
}
