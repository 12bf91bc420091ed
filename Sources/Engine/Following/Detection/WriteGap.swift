import Ground
import Store

/// Finds a moment to read a database without a WAL.
///
/// Without a WAL, a reader's lock keeps writers from committing, and a writer without a busy timeout fails at once. So
/// the file is read after a pause in its writes, and rarely if commits keep coming.
struct WriteGap {
  /// If no write has come for this time, no writer is busy: a busy one would have begun its next transaction.
  private static let gap = Nanoseconds.milliseconds(2)
  /// The longest time that commits are left unread.
  private static let patience = Nanoseconds.milliseconds(250)

  /// The time of the first write since the last read; nil if there was no write.
  private var first: Instant?
  private var last = Instant.distantPast

  /// Called when the file or its journal was written to.
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
