import CFreshetSystem
package import ChangeCapture
package import Ground
package import Store

/// Detects that the file may have a new commit or may have been replaced, and decides when to check it next.
///
/// While commits keep coming to a WAL, a timer looks at the WAL-index, and writes are not reported (`Watchfulness`).
/// Otherwise inotify reports writes to the WAL before their commit can be read. A wake that finds no commit therefore
/// spins on the WAL-index, then checks again at growing intervals.
///
/// Some file systems do not report the writes of other machines or containers. When commits are found that were not
/// reported, the file is checked often, until a write is reported again.
///
/// Owner: the thread that steps the follower. Mutable state: `look`, the next check that is due; `identityRead`, when
/// the file's identity was last read; `lookEnd`; whether `watch` is armed.
package final class CommitDetection {
  private let journal: String
  private let watch: FileWatch
  private let clock: MonotonicClock
  private var watchfulness = Watchfulness()
  private var pace = Pace()
  private var writeGap = WriteGap()
  /// The number of `looks` that have passed since the files were last written to.
  private var look = CommitDetection.looks.count
  /// Whether the last spin found no commit, so that these writes may be the first of many.
  private var hasSpun = false
  /// When the file's identity was last read; `distantPast` if it must be read again.
  private var identityRead = Instant.distantPast

  /// Intervals of checks after a write whose commit cannot be read yet, because nothing reports when it can be read.
  /// After a commit was found, only the last of these checks is made.
  private static let looks: [Nanoseconds] = [
    .microseconds(200), .microseconds(500), .milliseconds(1), .milliseconds(4), .milliseconds(16), .milliseconds(64),
    .milliseconds(20),
  ]
  /// How long to spin before these checks.
  private static let spin = Nanoseconds.microseconds(100)
  /// Until when the timer looks at the WAL-index; nil if it does not.
  private var lookEnd: Instant?
  /// How much more often an unused follower checks the file's identity: ten times a second.
  private static let unusedShare: UInt64 = 10
  /// How much more often to check without notifications: fifty times a second.
  private static let unreportedShare: UInt64 = 50
  /// How often to check if writes are not reported. If they are reported, how often to check in case a report is
  /// missing.
  private var pollInterval: Nanoseconds { isReported ? watch.interval : watch.interval / Self.unreportedShare }
  /// Whether writes are probably reported.
  private var isReported: Bool { watch.isReporting && unreported < Self.mostUnreported }
  /// The number of commits without a reported write, since a write was last reported.
  private var unreported = 0
  /// From this number of unreported commits on, no reports are expected. It is more than one, because a commit may be
  /// found before its report is read.
  private static let mostUnreported = 2

  /// - Parameter watcher: shared by all followers of the file.
  package init(path: String, wake: any Wakeable, clock: MonotonicClock, watcher: DatabaseWatcher) {
    self.clock = clock
    journal = path + "-journal"
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    if system_reports_every_write(String(folder)) == 0 { unreported = Self.mostUnreported }
    watch = FileWatch(watcher, wake: wake)
  }

  /// See `DatabaseWatcher.interval`.
  var interval: Nanoseconds { watch.interval }

  /// Whether writes are reported.
  package var isArmed: Bool { watch.isArmed }

  /// Whether the file may have been replaced or overwritten since it was opened. inotify does not report renamed parent
  /// directories.
  package func mayBeReplaced(isOpen: Bool, hasChanged: Bool, _ now: Instant) -> Bool {
    if hasChanged, identityRead != .distantPast { return false }
    let isDue = !isOpen || !watch.isReporting || now - identityRead >= pollInterval
    if isDue { identityRead = now }
    return isDue
  }

  /// How long to ignore commits; see `Pace`.
  package func rest(_ now: Instant) -> Nanoseconds { pace.rest(now) }

  /// Called when a tick has followed commits.
  package func noteTick(start: Instant, end: Instant, comparesTables: Bool) {
    pace.note(start: start, end: end, comparesTables: comparesTables)
  }

  /// Whether there may be a new commit. Usually it can be read when its writes have woken the follower. Otherwise it
  /// can be read within microseconds, unless the writer waits for its disk. In that case `pause` returns a short time
  /// until the next check.
  ///
  /// - Parameter isPaced: whether to avoid blocking writers that use a rollback journal.
  package func hasCommit(_ capture: ChangeCapture, isPaced: Bool) -> Bool {
    // A rollback journal exists while a transaction writes. Checking would take a lock that blocks the writer, and the
    // end of the journal wakes the follower. A persistent journal is ignored after a while.
    if !capture.canAskOften {
      if isPaced, !writeGap.mayRead(clock.now) { return false }
      if look < Self.looks.count - 1, FileIdentity.size(path: journal) > 0 { return false }
    }
    let wasWritten = look == 0
    let spins = wasWritten && !hasSpun && capture.canAskOften
    let end = spins ? clock.now + Self.spin : .distantPast
    repeat {
      if capture.hasMoved {
        if watch.isArmed, look == Self.looks.count { unreported += 1 }
        // Writes whose commit cannot be read yet may belong to a further commit, which is rare but must not be missed.
        if wasWritten { look = Self.looks.count - 1 }
        hasSpun = false
        watchfulness.noteCommit(clock.now)
        writeGap.noteRead()
        return true
      }
      if spins { sched_yield() }
    } while spins && clock.now < end
    hasSpun = wasWritten
    return false
  }

  // MARK: - Rests

  /// The conditions of a rest, in addition to commits.
  package struct Conditions {
    /// The longest rest.
    package var limit: Nanoseconds
    /// How long to ignore commits.
    package var rest: Nanoseconds
    /// Whether no list is followed, so that commits need not wake the follower.
    package var isUnused: Bool
    /// The connection that follows commits; nil if there is no connection, or the last tick failed.
    package var connection: DatabaseConnection?

    package init(limit: Nanoseconds, rest: Nanoseconds, isUnused: Bool, connection: DatabaseConnection?) {
      self.limit = limit
      self.rest = rest
      self.isUnused = isUnused
      self.connection = connection
    }

    /// Whether checking for a commit takes no lock.
    fileprivate var canAskOften: Bool { connection?.capture.canAskOften == true }
  }

  /// How long the follower may rest, until it must check for a commit or a deadline passes. From now on events wake it,
  /// unless commits are ignored. To be followed by `resume` and `hasCommit`.
  package func pause(_ conditions: Conditions) -> Nanoseconds {
    lookEnd = nil
    if conditions.isUnused { return pauseUnused(conditions) }
    if conditions.rest > .zero {
      _ = watch.listen(false)
      return conditions.rest
    }
    let now = clock.now
    if watch.isReporting, conditions.canAskOften, watchfulness.mustLook(now) {
      watch.disarm()
      lookEnd = now + conditions.limit
      return watch.listen(true) ? .zero : min(watchfulness.interval(now), conditions.limit)
    }
    if watch.isReporting, !watch.isArmed {
      arm()
      return .zero
    }
    var timeout = look < Self.looks.count ? Self.looks[look] : untilPoll(now)
    // Each check of a database with a rollback journal takes a lock.
    if !conditions.canAskOften { timeout = max(timeout, .milliseconds(1)) }
    look = min(look + 1, Self.looks.count)
    return watch.listen(true) ? .zero : min(timeout, conditions.limit)
  }

  /// The time until the file is checked in case a report is missing. The times of all files are aligned, so that many
  /// files that rest are checked in few wakes.
  private func untilPoll(_ now: Instant) -> Nanoseconds {
    let interval = pollInterval
    let end = (now + interval) - .distantPast
    return interval + (interval / 8 - Nanoseconds(end.count % (interval / 8).count))
  }

  /// Called when the rest is over. Takes the events that have come since.
  package func resume() { take(watch.takeEvents()) }

  /// Looks at the WAL-index when `pause` has passed without a wake, while commits are expected.
  ///
  /// - Returns: how much longer to rest; nil if there is a commit or another reason to end the rest, or if commits
  ///   pause.
  package func lookAgain(at connection: DatabaseConnection) -> Nanoseconds? {
    guard let end = lookEnd, !watch.hasEvents else { return nil }
    let now = clock.now
    guard now < end, watchfulness.mustLook(now), connection.restoreSharedMemory(), !connection.capture.hasMoved else {
      return nil
    }
    return min(watchfulness.interval(now), end - now)
  }

  /// Has writes reported, and makes the caller check. A commit whose frames were written before this can become
  /// readable later without a report, so checks follow as after a write.
  private func arm() {
    watch.arm()
    look = 0
    hasSpun = true
    // If the file was overwritten before this, no write was reported.
    identityRead = .distantPast
  }

  /// The rest of a follower without lists, which does not have writes reported, because reports cost the writer time.
  private func pauseUnused(_ conditions: Conditions) -> Nanoseconds {
    watch.disarm()
    _ = watch.listen(false)
    return min(conditions.rest > .zero ? conditions.rest : conditions.limit, watch.interval / Self.unusedShare)
  }

  private func take(_ events: FileEvents) {
    if !events.isEmpty, watch.isReporting { unreported = 0 }
    if events.contains(.written) {
      look = 0
      writeGap.noteWrite(clock.now)
    }
    if events.contains(.replaced) || events.contains(.contents) { identityRead = .distantPast }
  }
}
