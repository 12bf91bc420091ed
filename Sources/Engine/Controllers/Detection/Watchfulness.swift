import Ground
import Store

/// Decides how commits to a database in WAL mode are noticed: by a timer while they keep coming, otherwise by inotify.
///
/// A notification costs the writer 15 to 20 µs, mostly for waking a thread. Looking at the WAL-index costs the writer
/// nothing, but a look takes processor time, so there are looks only while commits are expected: since two came within
/// the pause, until none has come for as long.
struct Watchfulness {
  /// How often to look. With the kernel's slack for timers, a fifth of a millisecond.
  static let interval = Nanoseconds.microseconds(150)
  /// Commits further apart are noticed by inotify.
  static let pause = Nanoseconds.milliseconds(50)

  private var newest = Instant.distantPast
  /// Whether the newest commit came within the pause after the one before.
  private var isStream = false

  /// There is a commit.
  mutating func noteCommit(_ now: Instant) {
    isStream = now - newest <= Self.pause
    newest = now
  }

  /// Whether to look by a timer.
  func mustLook(_ now: Instant) -> Bool { isStream && now - newest <= Self.pause }
}
