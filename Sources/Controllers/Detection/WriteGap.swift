/// Finds a moment at which a reader is in nobody's way, in a database without a WAL.
///
/// There a reader's lock keeps writers from committing, and a writer without a busy timeout fails at once. So the file is
/// read when nobody has written to it for a moment; under a stream of commits, rarely.
struct WriteGap {
  /// A writer that goes on has begun its next transaction by then.
  private static let gap: UInt64 = 2_000_000
  /// The longest that commits are left alone: 0.25 s.
  private static let patience: UInt64 = 250_000_000

  /// The first write that was not read yet; 0: there is none.
  private var first: UInt64 = 0
  private var last: UInt64 = 0

  /// Somebody wrote to the file or its journal.
  mutating func noteWrite(_ now: UInt64) {
    if first == 0 { first = now }
    last = now
  }

  /// The file was read.
  mutating func noteRead() { first = 0 }

  func mayRead(_ now: UInt64) -> Bool { now - last >= Self.gap || (first > 0 && now - first >= Self.patience) }
}
