import Ground
import Synchronization

/// Events of a database's files, reported by inotify.
package struct FileEvents: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// A file was written to.
  package static let written = FileEvents(rawValue: 1)
  /// A file was created, removed or renamed, so the database may have been replaced.
  package static let replaced = FileEvents(rawValue: 2)
  /// The database file itself was written to.
  package static let contents = FileEvents(rawValue: 4)
}

/// The part of a `FileWatch` that other threads see. Any thread.
package final class FileListener: Sendable {
  private let wake: any Wakeable
  /// Whether events wake the follower.
  let isListening = Atomic<Bool>(false)
  /// Events that the follower has not taken yet.
  private let events = Atomic<Int>(0)

  init(_ wake: any Wakeable) { self.wake = wake }

  var hasEvents: Bool { events.load(ordering: .sequentiallyConsistent) != 0 }

  func add(_ added: FileEvents) {
    events.bitwiseOr(added.rawValue, ordering: .sequentiallyConsistent)
    if isListening.load(ordering: .sequentiallyConsistent) { wake.signal() }
  }

  func takeEvents() -> FileEvents {
    hasEvents ? FileEvents(rawValue: events.exchange(0, ordering: .sequentiallyConsistent)) : []
  }
}

/// Reports writes to a database's files to all followers of the database, through the process's inotify instance.
///
/// Watches the files for writes and their directory for new files, so that other events in the directory cost nothing.
/// Reports come early: WAL frames are written before their commit can be read, so `CommitDetection` checks several
/// times. A watched file costs its writers time at each write, and more if the event wakes a thread. So the files are
/// watched only while a follower requests it (`FileWatch.arm`). The database file itself is always watched: with a WAL,
/// only checkpoints write to it, and programs that overwrite it, which may not be detected in any other way
/// (`FileContents`).
///
/// Any thread.
package final class DatabaseWatcher: Sendable {
  let notifier: FileNotifier
  private let record: WatchRecord
  private let hasReportedFailure = Atomic<Bool>(false)

  package convenience init(path: String) { self.init(path: path, .shared) }

  init(path: String, _ notifier: FileNotifier) {
    self.notifier = notifier
    record = WatchRecord(path: path)
    notifier.add(record)
  }

  deinit { notifier.remove(record) }

  /// Why writes are not reported, so that the file must be polled; nil if they are reported, or if the system has no
  /// inotify.
  package var failure: WatchFailure? { notifier.withLock { record.failure } }

  /// As above, for the log: returns the failure only once.
  package func takeFailure() -> WatchFailure? {
    failure.flatMap { hasReportedFailure.exchange(true, ordering: .relaxed) ? nil : $0 }
  }

  /// Whether writes are reported.
  package var isReporting: Bool { notifier.descriptor >= 0 && !record.hasFailed.load(ordering: .acquiring) }

  func add(_ listener: FileListener) { notifier.withLock { record.listeners.append(listener) } }

  func remove(_ listener: FileListener) { notifier.withLock { record.listeners.removeAll { $0 === listener } } }

  /// The number of reported writes to the database file itself, with or without a listener.
  package var contentsWrites: Int {
    notifier.drain()
    return notifier.withLock { record.writes }
  }

  /// How often to check a file although its writes are reported, in case a report is missing. A second, or longer if
  /// the process follows more than twenty-five files, so that checking all of them costs no more.
  var interval: Nanoseconds { max(.milliseconds(1_000), .milliseconds(40) * UInt64(fileCount)) }

  /// The number of files that the process follows.
  package var fileCount: Int { notifier.fileCount }

  /// The number of files that are watched for writes.
  package var watchCount: Int { notifier.withLock { record.watches.count { $0 >= 0 } } }

  /// Reports writes from now on. Each call must be balanced by a call of `disarm`.
  package func arm() { notifier.arm(record) }

  package func disarm() { notifier.disarm(record) }

  /// Called when another file has been opened. Watches the files that now have the names, even if no event has reported
  /// them.
  package func renew() { notifier.renew(record) }
}
