import CFreshetSystem
import Synchronization

/// Wakes one thread that waits in `poll`: writes one byte to a pipe, and no more until that byte is read.
///
/// No wake is lost for good: the next signal repeats a failed write, and the waiting thread checks again after a
/// second.
package final class WakeSignal: Sendable {
  package let readEnd: Int32
  private let writeEnd: Int32
  private let isPending = Atomic<Bool>(false)

  /// The longest wait of the thread, in milliseconds, in case a wake is lost.
  package static let patience: Int32 = 1_000

  package init() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { fatalError("no file descriptors left for a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  /// - Parameter ends: the ends of a pipe, which this object closes.
  package init(ends: (read: Int32, write: Int32)) { (readEnd, writeEnd) = ends }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Any thread.
  package func signal() {
    if isPending.exchange(true, ordering: .acquiringAndReleasing) { return }
    var byte: UInt8 = 1
    for _ in 0..<3 {
      if write(writeEnd, &byte, 1) == 1 { return }
      // The pipe is full, so it is readable already.
      if errno == EAGAIN { return }
    }
    isPending.store(false, ordering: .releasing)
  }

  /// To be called by the waiting thread before it checks its work.
  package func clear() {
    var buffer: UInt64 = 0
    // Unread bytes end the next wait at once.
    while read(readEnd, &buffer, 8) > 0 {}
    isPending.store(false, ordering: .releasing)
  }

  /// Waits for a signal, at most for this time. To be called by the waiting thread.
  ///
  /// - Returns: whether there was a signal.
  @discardableResult
  package func wait(milliseconds: Int32 = patience) -> Bool {
    var descriptors = [pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)]
    let count = poll(&descriptors, 1, milliseconds)
    clear()
    return count != 0
  }

  /// As above, with a timeout in nanoseconds.
  @discardableResult
  package func wait(_ span: Nanoseconds) -> Bool {
    var descriptor = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    let count = system_poll(&descriptor, 1, span.count)
    clear()
    return count != 0
  }
}
