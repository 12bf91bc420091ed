import Dispatch
import Ground
import Synchronization
import Testing

/// Threads that are waited for.
@Suite struct WorkerTests {
  /// Records the actions of a thread.
  private final class Deeds: Sendable {
    let running = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
    let mostRunning = Atomic<Int>(0)

    func run(_ body: () -> Void = {}) {
      mostRunning.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
      body()
      running.subtract(1, ordering: .relaxed)
      ended.add(1, ordering: .relaxed)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `A worker that rests ends when it is told to`() {
    let (worker, deeds, isResting) = (Worker(), Deeds(), DispatchSemaphore(value: 0))
    worker.start {
      deeds.run {
        while !worker.mustStop {
          isResting.signal()
          worker.rest(milliseconds: .max)
        }
      }
    }
    isResting.wait()
    worker.stop()
    #expect(deeds.ended.load(ordering: .relaxed) == 1)
  }

  @Test(.timeLimit(.minutes(1))) func `A wake before the rest ends it`() {
    let (worker, isDone) = (Worker(), DispatchSemaphore(value: 0))
    worker.wake.signal()
    worker.start {
      worker.rest(milliseconds: .max)
      isDone.signal()
    }
    isDone.wait()
    worker.stop()
  }

  @Test func `Whoever joins goes on when the thread has ended`() {
    let (thread, deeds, mayEnd) = (JoinedThread(), Deeds(), DispatchSemaphore(value: 0))
    thread.start { deeds.run { mayEnd.wait() } }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { mayEnd.signal() }
    thread.join()
    #expect(deeds.ended.load(ordering: .relaxed) == 1)
    // The thread has ended.
    thread.join()
  }

  @Test func `A thread begins after the one before has ended`() {
    let (thread, deeds) = (JoinedThread(), Deeds())
    for _ in 0..<100 { thread.start { deeds.run() } }
    thread.join()
    #expect(deeds.ended.load(ordering: .relaxed) == 100)
    #expect(deeds.mostRunning.load(ordering: .relaxed) == 1)
  }

  @Test func `A thread that is not the worker's is found out`() async {
    await #expect(processExitsWith: .failure) {
      let worker = Worker()
      worker.start { worker.rest(milliseconds: .max) }
      worker.assertIsCurrent()
    }
    await #expect(processExitsWith: .success) {
      let (worker, isDone) = (Worker(), DispatchSemaphore(value: 0))
      // The worker is owned by no thread at first, and then by its own.
      worker.assertIsCurrent()
      worker.start {
        worker.assertIsCurrent()
        isDone.signal()
      }
      isDone.wait()
      worker.stop()
    }
  }
}
