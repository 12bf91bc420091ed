import Ground
import Store

/// Finds a moment to read a database without a WAL.
///
/// A reader's lock there keeps writers from committing, and a writer without a busy timeout fails at once. So the file
/// is read after a pause in its writes; under a stream of commits, rarely.
struct WriteGap {
  /// A busy writer has begun its next transaction after this time.
  private static let gap = Nanoseconds.milliseconds(2)
  /// The longest time that commits are left unread.
  private static let patience = Nanoseconds.milliseconds(250)

  /// The first write since the last read; nil: none.
  private var first: Instant?
  private var last = Instant.distantPast

  /// The file or its journal was written to.
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
