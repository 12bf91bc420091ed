import Controllers
import Ground
import Synchronization

/// Milliseconds since 1970.
func wallClockMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

/// Has a thread wait.
func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

/// A thread that runs until `stop`.
// @unchecked: `thread` is written once, before another thread can see it.
final class StoppableThread: @unchecked Sendable {
  private var thread = pthread_t()
  private let isStopping = Atomic<Bool>(false)

  var mustStop: Bool { isStopping.load(ordering: .relaxed) }

  func start(_ body: @escaping @Sendable (StoppableThread) -> Void) {
    thread = startThread { [self] in body(self) }
  }

  func requestStop() { isStopping.store(true, ordering: .relaxed) }

  /// To be called once, from another thread.
  func stop() {
    requestStop()
    pthread_join(thread, nil)
  }
}
