import Ground
import Store

/// Decides how commits to a database in WAL mode are noticed: by a timer while they keep coming, otherwise by inotify.
///
/// A notification costs the writer 15 to 20 µs, mostly for waking a thread. Looking at the WAL-index costs the writer
/// nothing, but a look takes processor time, so there are looks only while commits are expected: since two came within
/// the pause, until none has come for as long.
struct Watchfulness {
  /// How often to look when a commit is due. With the kernel's slack for timers, a fifth of a millisecond.
  private static let shortest = Nanoseconds.microseconds(150)
  /// At other times a commit is noticed after at most this part of the time since the one before.
  private static let share: UInt64 = 12
  /// Commits further apart are noticed by inotify.
  static let pause = Nanoseconds.milliseconds(50)

  private var newest = Instant.distantPast
  /// The time between the two newest commits: the next one is due after as long.
  private var gap = Nanoseconds.max

  /// There is a commit.
  mutating func noteCommit(_ now: Instant) {
    gap = now - newest
    newest = now
  }

  /// Whether to look by a timer.
  func mustLook(_ now: Instant) -> Bool { gap <= Self.pause && now - newest <= Self.pause }

  /// How long to wait before the next look.
  func interval(_ now: Instant) -> Nanoseconds {
    let (elapsed, slack) = (now - newest, gap / 16)
    let longest = max(Self.shortest, elapsed / Self.share)
    if elapsed > gap + slack { return longest }
    return max(Self.shortest, min(longest, gap - slack - elapsed))
  }
}
