import Synchronization

/// A thread that other threads wake and stop; stopping waits for its end.
///
/// Any thread.
package final class Worker: Sendable {
  /// Wakes the thread.
  package let wake = WakeSignal()
  private let thread = JoinedThread()
  private let isStopping = Atomic<Bool>(false)

  package init() {}

  /// To be called once.
  package func start(_ body: @escaping @Sendable () -> Void) { thread.start(body) }

  /// Whether the thread is to end.
  package var mustStop: Bool { isStopping.load(ordering: .acquiring) }

  /// Has the thread end, without waiting for it.
  package func requestStop() {
    isStopping.store(true, ordering: .releasing)
    wake.signal()
  }

  /// Waits until the thread has ended, if one was started.
  package func join() { thread.join() }

  /// Ends the thread and waits for it.
  package func stop() {
    requestStop()
    join()
  }

  /// The thread waits until it is woken or has to end, at most for this time.
  package func rest(milliseconds: Int32) { if !mustStop { wake.wait(milliseconds: milliseconds) } }

  /// In builds with assertions, traps if another thread calls. If no thread was started there is no such check, because
  /// the caller does the work itself.
  package func assertIsCurrent() { thread.assertIsCurrent() }
}
