import Synchronization

/// Stands for one `Stepped` object among the `Workers`: its owner wakes the object through it, and waits for its end.
///
/// States: before `start`; idle, perhaps with a deadline; ready, in the queue; stepping, on one thread; stepping and
/// woken during that step, so that it becomes ready again afterwards; ended.
///
/// Any thread.
// @unchecked: all that changes is guarded by the workers' lock; what is stepped is touched by the thread that steps it.
package final class WorkItem: Wakeable, @unchecked Sendable {
  enum State {
    case unstarted, idle, ready, stepping, steppingAgain, ended
  }

  /// Nil if there are no workers: the owner of the `Stepped` object then calls `step` itself.
  private let workers: Workers?
  @exclusivity(unchecked) var state = State.unstarted
  @exclusivity(unchecked) var stepped: (any Stepped)?
  /// When the item becomes ready if no signal wakes it first.
  @exclusivity(unchecked) var due = Instant.distantFuture
  /// The item's index in the heap of deadlines; -1 if it has no deadline.
  @exclusivity(unchecked) var heapIndex = -1
  /// Whether the item became ready by its deadline and no signal has come since.
  @exclusivity(unchecked) var isTimed = false
  /// The time of its longest recent step. It shrinks by an eighth with each shorter step.
  @exclusivity(unchecked) var longestStep = Nanoseconds.milliseconds(1)
  /// A signal has been given since the last step began.
  private let isSignalled = Atomic<Bool>(false)
  /// The thread that takes a step of this item now; 0 if no thread does.
  private let thread = Atomic<UInt>(0)

  package init(_ workers: Workers?) { self.workers = workers }

  /// Has the workers take a first step. To be called once.
  package func start(_ stepped: any Stepped) { workers?.start(self, stepped) }

  package func signal() {
    guard let workers, !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    workers.wake(self)
  }

  /// Waits until a step has returned `Rest.ended` and the workers have released the `Stepped` object. Must not be
  /// called from a worker.
  package func join() { workers?.join(self) }

  /// In builds with assertions, traps if the calling thread is not the one that takes a step of this item. Without
  /// workers there is no such check, because the owner takes the steps.
  package func assertIsCurrent() {
    assert(workers == nil || thread.load(ordering: .relaxed) == Self.currentThread)
  }

  /// Called before the thread looks for work, so that signals from now on count as new.
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
