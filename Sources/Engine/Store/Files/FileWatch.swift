import CFreshetSystem
package import Ground
import Synchronization

/// One thread's part in a `DatabaseWatcher`: waits for the thread's wake signal and for events of the files.
///
/// Owner: that thread. Mutable state: whether it wants writes to be reported.
package final class FileWatch {
  private let watcher: DatabaseWatcher
  private let listener: FileListener
  /// For `system_wait`; -1: there are no notifications.
  private let instance: Int32
  /// Whether writes are reported, which costs their writers time.
  package private(set) var isArmed = false

  package init(_ watcher: DatabaseWatcher, wake: WakeSignal) {
    self.watcher = watcher
    listener = FileListener(wake)
    let shared = watcher.notifier.descriptor
    instance = shared < 0 ? -1 : system_wait_create(wake.readEnd, shared)
    watcher.add(listener)
  }

  deinit {
    disarm()
    watcher.remove(listener)
    if instance >= 0 { close(instance) }
  }

  /// Whether events are reported at all; otherwise the caller must poll the file.
  package var isReporting: Bool { instance >= 0 && watcher.isReporting }

  /// Reports writes from now on. What was written before, even if its commit can be read only later, is not reported.
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

  /// Waits for a wake signal or events, at most for a while.
  ///
  /// - Parameter listens: whether events end the wait.
  /// - Returns: what has happened, and whether there was a signal.
  package func wait(_ timeout: Nanoseconds, listens: Bool) -> (events: FileEvents, isWoken: Bool) {
    listener.isListening.store(listens && isReporting, ordering: .sequentiallyConsistent)
    var isWoken = false
    if listens, isReporting {
      // Events that another thread has read before this one listened.
      let readable = system_wait(instance, listener.hasEvents ? 0 : timeout.count)
      isWoken = readable & Int32(SYSTEM_OWN) != 0
      if readable & Int32(SYSTEM_SHARED) != 0 { watcher.notifier.drain(for: listener) }
    } else {
      var descriptor = pollfd(fd: listener.wake.readEnd, events: Int16(POLLIN), revents: 0)
      isWoken = system_poll(&descriptor, 1, timeout.count) > 0
    }
    if isWoken { listener.wake.clear() }
    return (listener.takeEvents(), isWoken)
  }

  /// Events so far, without waiting.
  package func takeEvents() -> FileEvents {
    watcher.notifier.drain(for: listener)
    return listener.takeEvents()
  }
}
