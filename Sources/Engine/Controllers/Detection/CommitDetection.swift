import CFreshetSystem
package import ChangeCapture
package import Store

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Notices that the file may have been committed to or replaced, and waits until it may have been.
///
/// inotify reports writes to the WAL before their commit can be read. A wake that finds no commit therefore spins on
/// the WAL-index, then checks again at growing intervals.
///
/// Owner: the thread that follows the file. Mutable state: `look`, the next check that is due; `identityRead`, when the
/// file's identity was last read.
package final class CommitDetection {
  private let path: String
  private let journal: String
  private let watcher: DatabaseWatcher
  private let wake: WakeSignal
  private let clock: MonotonicClock
  private var pace = Pace()
  private var writeGap = WriteGap()
  /// How many of `looks` have passed since the files were last written to.
  private var look = CommitDetection.looks.count
  /// The last spin timed out: these writes may be the first of many.
  private var hasSpun = false
  /// When the file's identity was last read; `distantPast`: it must be read again.
  private var identityRead = Instant.distantPast

  /// Intervals of checks after a write whose commit cannot be read yet: nothing reports when it can be. After a commit
  /// was found, only the last one follows.
  private static let looks: [Nanoseconds] = [
    .microseconds(200), .microseconds(500), .milliseconds(1), .milliseconds(4), .milliseconds(16), .milliseconds(64),
    .milliseconds(20),
  ]
  /// How long to spin before these checks.
  private static let spin = Nanoseconds.microseconds(100)
  /// How often an unused follower checks the file's identity.
  private static let unusedInterval = Nanoseconds.milliseconds(100)
  /// How often to check without notifications, and, to be safe, with them.
  private var pollInterval: Nanoseconds { .milliseconds(watcher.descriptor < 0 ? 20 : 1_000) }

  package init(path: String, wake: WakeSignal, clock: MonotonicClock) {
    self.path = path
    self.wake = wake
    self.clock = clock
    journal = path + "-journal"
    watcher = DatabaseWatcher(path: path)
  }

  /// Whether the file may have been replaced since it was opened. inotify does not report renamed parent directories.
  package func mayBeReplaced(isOpen: Bool, hasChanged: Bool, _ now: Instant) -> Bool {
    if hasChanged, identityRead != .distantPast { return false }
    let isDue = !isOpen || watcher.descriptor < 0 || now - identityRead >= pollInterval
    if isDue { identityRead = now }
    return isDue
  }

  /// How long to leave commits alone; see `Pace`.
  package func rest(_ now: Instant) -> Nanoseconds { pace.rest(now) }

  /// A tick has followed commits.
  package func noteTick(start: Instant, end: Instant, comparesTables: Bool) {
    pace.note(start: start, end: end, comparesTables: comparesTables)
  }

  /// Whether there may be a new commit. Most often it can be read by the time its writes have woken this thread.
  /// Otherwise it can be read within microseconds, unless the writer waits for its disk: then `wait` checks again.
  ///
  /// - Parameter isPaced: whether to avoid blocking writers that use a rollback journal.
  package func hasCommit(_ capture: ChangeCapture, isPaced: Bool) -> Bool {
    // A rollback journal exists while a transaction writes. Checking would take a lock that blocks the writer, and the
    // end of the journal wakes this thread. A persistent journal is ignored after a while.
    if !capture.canAskOften {
      if isPaced, !writeGap.mayRead(clock.now) { return false }
      if look < Self.looks.count - 1, FileIdentity.size(path: journal) > 0 { return false }
    }
    let wasWritten = look == 0
    let spins = wasWritten && !hasSpun && capture.canAskOften
    let end = spins ? clock.now + Self.spin : .distantPast
    repeat {
      if capture.hasMoved {
        // Writes that cannot be read yet belong to another commit: rare, but it must not be missed.
        if wasWritten { look = Self.looks.count - 1 }
        hasSpun = false
        writeGap.noteRead()
        return true
      }
      if spins { sched_yield() }
    } while spins && clock.now < end
    hasSpun = wasWritten
    return false
  }

  /// What the thread waits for, besides commits.
  package struct Wait {
    /// The longest wait.
    package var limit: Nanoseconds
    /// How long to leave commits alone.
    package var rest: Nanoseconds
    /// Nothing is followed, so commits need not wake the thread.
    package var isUnused: Bool
    /// Checking for a commit takes no lock.
    package var canAskOften: Bool

    package init(limit: Nanoseconds, rest: Nanoseconds, isUnused: Bool, canAskOften: Bool) {
      self.limit = limit
      self.rest = rest
      self.isUnused = isUnused
      self.canAskOften = canAskOften
    }
  }

  /// Waits for an event or a deadline.
  package func wait(_ wait: Wait) {
    var timeout = look < Self.looks.count ? Self.looks[look] : pollInterval
    // Each check of a database with a rollback journal takes a lock.
    if !wait.canAskOften { timeout = max(timeout, .milliseconds(1)) }
    timeout = min(timeout, wait.limit)
    if wait.rest > .zero { timeout = wait.rest } else { look = min(look + 1, Self.looks.count) }
    if wait.isUnused { timeout = min(timeout, Self.unusedInterval) }
    var descriptors = [pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0)]
    // A follower that rests or follows nothing saves the writer the cost of waking it.
    if watcher.descriptor >= 0, wait.rest == .zero, !wait.isUnused {
      descriptors.append(pollfd(fd: watcher.descriptor, events: Int16(POLLIN), revents: 0))
    }
    _ = system_poll(&descriptors, UInt32(descriptors.count), timeout.count)
    if descriptors[0].revents != 0 { wake.clear() }
    if wait.isUnused || (descriptors.count > 1 && descriptors[1].revents != 0) { take(watcher.drain()) }
  }

  private func take(_ events: FileEvents) {
    if events.contains(.written) {
      look = 0
      writeGap.noteWrite(clock.now)
    }
    if events.contains(.replaced) { identityRead = .distantPast }
  }
}
