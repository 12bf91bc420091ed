import Ground
import Store
import Testing

@testable import Following

/// When a database without a WAL may be read; times in milliseconds.
@Suite struct WriteGapTests {
  private func time(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `A reader waits until nobody has written for a moment`() {
    var gap = WriteGap()
    gap.noteWrite(time(1_000))
    #expect(!gap.mayRead(time(1_001)))
    gap.noteWrite(time(1_001))
    #expect(!gap.mayRead(time(1_002)))
    #expect(gap.mayRead(time(1_003)))
  }

  @Test func `A stream of commits is read all the same, now and then`() {
    var gap = WriteGap()
    var reads: [UInt64] = []
    for now in UInt64(1_000)..<2_000 {
      gap.noteWrite(time(now))
      if gap.mayRead(time(now)) {
        reads.append(now)
        gap.noteRead()
      }
    }
    #expect(reads == [1_250, 1_501, 1_752])
  }
}
