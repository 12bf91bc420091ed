import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Wakes one thread that waits in `poll`: a pipe, written to once until it is read.
package final class WakeSignal: Sendable {
  package let readEnd: Int32
  private let writeEnd: Int32
  private let isPending = Atomic<Bool>(false)

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

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Any thread.
  package func signal() {
    if isPending.exchange(true, ordering: .acquiringAndReleasing) { return }
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// The waiting thread, before it looks for what it was woken for.
  package func clear() {
    var buffer: UInt64 = 0
    while read(readEnd, &buffer, 8) > 0 {}
    isPending.store(false, ordering: .releasing)
  }
}
