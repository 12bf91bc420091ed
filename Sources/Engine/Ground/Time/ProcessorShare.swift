/// How much of a processor a thread of low priority has had since it began its work.
///
/// On a busy machine such a thread gets almost no time while other threads are busy. An ordinary process may lower the
/// priority of a thread but not raise it again, so its work has to go to another thread.
package struct ProcessorShare: Sendable {
  /// A share is judged after this time; a thread that does not starve has had a quarter of it.
  private static let patience = Nanoseconds.milliseconds(200)
  private static let least: UInt64 = 4

  private let began: Instant
  private let before: Nanoseconds
  private let processorTime: @Sendable () -> Nanoseconds

  /// To be called on the thread that is measured.
  ///
  /// - Parameter processorTime: the processor time that the calling thread has used so far.
  package init(
    since began: Instant, processorTime: @escaping @Sendable () -> Nanoseconds = ProcessorShare.ofThisThread
  ) {
    self.began = began
    before = processorTime()
    self.processorTime = processorTime
  }

  /// Whether the calling thread starves. Asks the system only once `patience` has passed.
  package func isTooSmall(_ now: Instant) -> Bool {
    let passed = now - began
    return passed >= Self.patience && (processorTime() - before) * Self.least < passed
  }

  @Sendable
  package static func ofThisThread() -> Nanoseconds {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Nanoseconds(UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }
}
