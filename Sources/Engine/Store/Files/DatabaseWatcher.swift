import Ground
import Synchronization

/// Changes that other connections made to a database's files.
package struct FileEvents: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Wrote to a file.
  package static let written = FileEvents(rawValue: 1)
  /// Created, removed or renamed a file: the database may have been replaced.
  package static let replaced = FileEvents(rawValue: 2)
  /// Wrote to the database file itself.
  package static let contents = FileEvents(rawValue: 4)
}

/// The part of a `FileWatch` that other threads see. Any thread.
package final class FileListener: Sendable {
  private let wake: any Wakeable
  /// Whether events wake the follower.
  let isListening = Atomic<Bool>(false)
  /// Events that it has not taken.
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

/// Reports writes to a database's files to all that follow the database, by the process's inotify instance.
///
/// Watches the files for writes and their directory for new files, so that other events in the directory cost
/// nothing. Reports are early: WAL frames are written before their commit can be read, so `CommitDetection` checks
/// several times.
/// A watch of a file costs its writers time at each write, and more when that wakes a thread. So the files are watched
/// only while a follower asks for it (`FileWatch.arm`). The database file itself is watched all the time: with a WAL
/// only checkpoints write to it, and programs that overwrite it, which may be noticed in no other way (`FileContents`).
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

  /// Why writes are not reported, so that the file must be polled; nil: they are, or the system has no notifications.
  package var failure: WatchFailure? { notifier.withLock { record.failure } }

  /// The same, for the log: only one call returns it.
  package func takeFailure() -> WatchFailure? {
    failure.flatMap { hasReportedFailure.exchange(true, ordering: .relaxed) ? nil : $0 }
  }

  /// Whether writes are reported.
  package var isReporting: Bool { notifier.descriptor >= 0 && !record.hasFailed.load(ordering: .acquiring) }

  func add(_ listener: FileListener) { notifier.withLock { record.listeners.append(listener) } }

  func remove(_ listener: FileListener) { notifier.withLock { record.listeners.removeAll { $0 === listener } } }

  /// How often a write to the database file itself has been reported, with or without a listener.
  package var contentsWrites: Int {
    notifier.drain()
    return notifier.withLock { record.writes }
  }

  /// How often to check a file to be safe, although its writes are reported: a second, and longer where the process
  /// follows more than twenty-five files, so that all of them together cost the same.
  var interval: Nanoseconds { max(.milliseconds(1_000), .milliseconds(40) * UInt64(fileCount)) }

  /// How many files the process follows.
  package var fileCount: Int { notifier.fileCount }

  /// How many files are watched for writes.
  package var watchCount: Int { notifier.withLock { record.watches.count { $0 >= 0 } } }

  /// Reports writes from now on. Each call must be balanced by one of `disarm`.
  package func arm() { notifier.arm(record) }

  package func disarm() { notifier.disarm(record) }

  /// Another file has been opened. Reports writes to it although nothing may have reported that it has the name.
  package func renew() { notifier.renew(record) }
}
