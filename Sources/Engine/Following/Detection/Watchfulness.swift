import Ground
import Store

/// Decides how commits to a database in WAL mode are detected: by a timer while they keep coming, otherwise by inotify.
///
/// A notification costs the writer 15 to 20 µs, mostly for waking a thread. Looking at the WAL-index costs the writer
/// nothing, but takes processor time. So the timer runs only while commits are expected: it begins when two commits
/// come within `pause`, and ends when no commit has come for `pause`.
struct Watchfulness {
  /// How often to look when a commit is due. With the kernel's timer slack this becomes a fifth of a millisecond.
  private static let shortest = Nanoseconds.microseconds(150)
  /// At other times, a commit is detected after at most this part of the time since the previous commit.
  private static let share: UInt64 = 12
  /// If commits are further apart than this, inotify reports them.
  static let pause = Nanoseconds.milliseconds(50)

  private var newest = Instant.distantPast
  /// The time between the two newest commits. The next commit is expected after the same time.
  private var gap = Nanoseconds.max

  /// Called when there is a commit.
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
