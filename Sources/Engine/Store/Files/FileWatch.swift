package import Ground
import Synchronization

extension Workers {
  /// The workers that all followed files of the process share. They wait for events of `FileNotifier.shared`.
  package static let shared = Workers(threads: Workers.usualCount, source: FileNotifier.shared)
}

/// One follower's access to a `DatabaseWatcher`: which events wake the follower, and the events that it has not taken.
///
/// Owner: the thread that steps the follower. Mutable state: whether the follower wants writes to be reported.
package final class FileWatch {
  private let watcher: DatabaseWatcher
  private let listener: FileListener
  /// Whether writes are reported, which costs their writers time.
  package private(set) var isArmed = false

  package init(_ watcher: DatabaseWatcher, wake: any Wakeable) {
    self.watcher = watcher
    listener = FileListener(wake)
    watcher.add(listener)
  }

  deinit {
    disarm()
    watcher.remove(listener)
  }

  /// Whether events are reported at all; otherwise the caller must poll the file.
  package var isReporting: Bool { watcher.isReporting }

  /// See `DatabaseWatcher.interval`.
  package var interval: Nanoseconds { watcher.interval }

  /// Reports writes from now on. Earlier writes are not reported, even if their commit can be read only later.
  package func arm() {
    if isArmed || !isReporting { return }
    isArmed = true
    watcher.arm()
  }

  package func disarm() {
    if !isArmed { return }
    isArmed = false
    watcher.disarm()
  }

  /// Sets whether events wake the follower from now on.
  ///
  /// - Returns: whether there are events already; these do not wake the follower.
  package func listen(_ listens: Bool) -> Bool {
    listener.isListening.store(listens && isReporting, ordering: .sequentiallyConsistent)
    return listens && listener.hasEvents
  }

  /// Whether there were events since the last `takeEvents`. Takes one atomic load.
  package var hasEvents: Bool { listener.hasEvents }

  /// The events since the last call.
  package func takeEvents() -> FileEvents { listener.takeEvents() }
}
