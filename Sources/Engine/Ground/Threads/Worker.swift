import Synchronization

/// A thread that others wake and stop, and whose end they wait for.
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

  /// The thread waits until it is woken or has to end, at most so long.
  package func rest(milliseconds: Int32) { if !mustStop { wake.wait(milliseconds: milliseconds) } }

  /// In builds with assertions, stops where another thread calls. Nothing where none was started: the caller does the
  /// work itself.
  package func assertIsCurrent() { thread.assertIsCurrent() }
}
