import Synchronization

/// The place of something stepped among the workers: wakes it, and waits for its end.
///
/// States: waiting for `start`; idle, perhaps with a deadline; ready, in the queue; stepping, on one thread; stepping
/// and woken meanwhile, to be ready again; ended.
///
/// Any thread.
// @unchecked: all that changes is guarded by the workers' lock; what is stepped is touched by the thread that steps it.
package final class WorkItem: Wakeable, @unchecked Sendable {
  enum State {
    case unstarted, idle, ready, stepping, steppingAgain, ended
  }

  /// Nil: its owner steps it, by calling it.
  private let workers: Workers?
  @exclusivity(unchecked) var state = State.unstarted
  @exclusivity(unchecked) var stepped: (any Stepped)?
  /// When it is ready without being woken.
  @exclusivity(unchecked) var due = Instant.distantFuture
  /// Its place in the heap of deadlines; -1: none.
  @exclusivity(unchecked) var heapIndex = -1
  /// It is ready because its deadline has passed, and nothing has woken it.
  @exclusivity(unchecked) var isTimed = false
  /// The longest of its last steps, which is forgotten by an eighth each step.
  @exclusivity(unchecked) var longestStep = Nanoseconds.milliseconds(1)
  /// A signal has been given since the last step began.
  private let isSignalled = Atomic<Bool>(false)
  /// The thread that steps it now; 0: no thread.
  private let thread = Atomic<UInt>(0)

  package init(_ workers: Workers?) { self.workers = workers }

  /// Begins with a step. To be called once.
  package func start(_ stepped: any Stepped) { workers?.start(self, stepped) }

  package func signal() {
    guard let workers, !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    workers.wake(self)
  }

  /// Waits until a step has returned `Rest.ended`, and what was stepped is released. Not from a worker.
  package func join() { workers?.join(self) }

  /// In builds with assertions, stops where another thread than the one that steps it calls. Nothing where there are no
  /// workers: the caller does the work itself.
  package func assertIsCurrent() {
    assert(workers == nil || thread.load(ordering: .relaxed) == Self.currentThread)
  }

  /// Before the thread looks for work: later signals count as new.
  func enter() {
    thread.store(Self.currentThread, ordering: .relaxed)
    isSignalled.store(false, ordering: .sequentiallyConsistent)
  }

  func leave() { thread.store(0, ordering: .relaxed) }

  private static var currentThread: UInt {
    #if os(Linux)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }
}
