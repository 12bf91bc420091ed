import CFreshetSystem
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Wakes one thread that waits in `poll`: a pipe, written to once until it is read.
///
/// No wake is lost for good: a write that fails is repeated by the next signal, and whoever waits looks again after a second.
package final class WakeSignal: Sendable {
  package let readEnd: Int32
  private let writeEnd: Int32
  private let isPending = Atomic<Bool>(false)

  /// How long its thread waits at most, in milliseconds, whatever becomes of its wakes.
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

  /// - Parameter ends: of a pipe; they are closed with it.
  init(ends: (read: Int32, write: Int32)) { (readEnd, writeEnd) = ends }

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
      // Full: it is readable.
      if errno == EAGAIN { return }
    }
    isPending.store(false, ordering: .releasing)
  }

  /// The waiting thread, before it looks for what it was woken for.
  package func clear() {
    var buffer: UInt64 = 0
    // What cannot be read now ends the next wait at once.
    while read(readEnd, &buffer, 8) > 0 {}
    isPending.store(false, ordering: .releasing)
  }

  /// The waiting thread: waits for a signal, for as long as `patience`.
  ///
  /// - Returns: whether there was one.
  func wait() -> Bool {
    var descriptors = [pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)]
    let count = poll(&descriptors, 1, Self.patience)
    clear()
    return count != 0
  }
}
