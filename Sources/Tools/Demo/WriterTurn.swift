import Foundation

/// Decides which of several demos on one file writes to it: the first one. When it ends, for any reason, another demo
/// continues.
///
/// Owner: the thread that writes. Mutable state: `isLocked`, which never becomes false again.
///
/// It is a lock of a file next to the database, which the system gives back when the process ends.
final class WriterTurn {
  private let descriptor: Int32
  private var isLocked = false

  init(path: String) { descriptor = open(path + "-writer", O_RDWR | O_CREAT | O_CLOEXEC, 0o644) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether this process writes. Never waits. If the lock file cannot be made, all processes write.
  var isOurs: Bool {
    if descriptor < 0 || isLocked { return true }
    isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    return isLocked
  }
}
