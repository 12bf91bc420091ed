import Store

/// Finds a moment at which a reader is in nobody's way, in a database without a WAL.
///
/// There a reader's lock keeps writers from committing, and a writer without a busy timeout fails at once. So the file is
/// read when nobody has written to it for a moment; under a stream of commits, rarely.
struct WriteGap {
  /// A writer that goes on has begun its next transaction by then.
  private static let gap = Nanoseconds.milliseconds(2)
  /// The longest that commits are left alone: 0.25 s.
  private static let patience = Nanoseconds.milliseconds(250)

  /// The first write that was not read yet; nil: there is none.
  private var first: Instant?
  private var last = Instant.distantPast

  /// Somebody wrote to the file or its journal.
  mutating func noteWrite(_ now: Instant) {
    first = first ?? now
    last = now
  }

  /// The file was read.
  mutating func noteRead() { first = nil }

  func mayRead(_ now: Instant) -> Bool {
    now - last >= Self.gap || first.map { now - $0 >= Self.patience } ?? false
  }
}
