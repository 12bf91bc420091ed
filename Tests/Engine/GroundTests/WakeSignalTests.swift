import Foundation
import Ground
import Testing

/// No wake is lost forever, whatever fails.
@Suite struct WakeSignalTests {
  private func isReadable(_ descriptor: Int32) -> Bool {
    var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    return poll(&descriptors, 1, 0) == 1
  }

  @Test func `A write that failed is repeated by the next signal`() {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    // The descriptor for writing does not work, until it is replaced by the pipe's.
    let broken = open("/dev/null", O_RDONLY)
    let signal = WakeSignal(ends: (ends[0], broken))
    signal.signal()
    #expect(!isReadable(ends[0]))
    dup2(ends[1], broken)
    close(ends[1])
    signal.signal()
    #expect(isReadable(ends[0]))
  }

  @Test func `Signals until the next look are one`() {
    let signal = WakeSignal()
    for _ in 0..<3 { signal.signal() }
    #expect(signal.wait())
    #expect(!isReadable(signal.readEnd))
    signal.signal()
    #expect(isReadable(signal.readEnd))
  }

  @Test func `A read that fails leaves the signal to be seen at the next look`() {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let signal = WakeSignal(ends: (ends[0], ends[1]))
    signal.signal()
    let unreadable = open("/dev/null", O_WRONLY)
    let pipe = dup(ends[0])
    dup2(unreadable, ends[0])
    signal.clear()
    dup2(pipe, ends[0])
    signal.signal()
    #expect(isReadable(ends[0]))
    for descriptor in [unreadable, pipe] { close(descriptor) }
  }
}
