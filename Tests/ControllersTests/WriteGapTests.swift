import Testing

@testable import Controllers

/// When a database without a WAL may be read; times in milliseconds.
@Suite struct WriteGapTests {
  private static let millisecond: UInt64 = 1_000_000

  @Test func `A reader waits until nobody has written for a moment`() {
    var gap = WriteGap()
    gap.noteWrite(1_000 * Self.millisecond)
    #expect(!gap.mayRead(1_001 * Self.millisecond))
    gap.noteWrite(1_001 * Self.millisecond)
    #expect(!gap.mayRead(1_002 * Self.millisecond))
    #expect(gap.mayRead(1_003 * Self.millisecond))
  }

  @Test func `A stream of commits is read all the same, now and then`() {
    var gap = WriteGap()
    var reads: [UInt64] = []
    for time in UInt64(1_000)..<2_000 {
      gap.noteWrite(time * Self.millisecond)
      if gap.mayRead(time * Self.millisecond) {
        reads.append(time)
        gap.noteRead()
      }
    }
    #expect(reads == [1_250, 1_501, 1_752])
  }
}
