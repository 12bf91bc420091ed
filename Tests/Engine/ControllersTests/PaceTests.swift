import Ground
import Store
import Testing

@testable import Following

/// When a follower rests. Times are in microseconds.
@Suite struct PaceTests {
  private var pace = Pace()
  private var now = Instant(nanoseconds: 1_000_000_000)

  /// Simulates a tick of a duration, some time after the last one. Returns the rest that follows.
  private mutating func turn(_ duration: UInt64, after idle: UInt64) -> UInt64 {
    let start = now + .microseconds(idle)
    now = start + .microseconds(duration)
    pace.note(start: start, end: now)
    return pace.rest(now).count / 1_000
  }

  @Test mutating func oneCommitAndABurstAreFollowedAtOnce() {
    for _ in 0..<50 { #expect(turn(50, after: 20) == 0) }
  }

  @Test mutating func whoWorksAFifthOfTheTimeNeverRests() {
    for _ in 0..<10_000 { #expect(turn(50, after: 200) == 0) }
  }

  @Test mutating func aStreamIsFollowedInTurnsWithRests() {
    for _ in 0..<200 { _ = turn(50, after: 0) }
    #expect(turn(50, after: 0) == 200, "four times as long as the turn")
    #expect(turn(50, after: 200) == 200, "as long as the stream lasts")
    #expect(turn(3_000, after: 200) == 4_000, "at most")
  }

  @Test mutating func restEnds() {
    for _ in 0..<200 { _ = turn(50, after: 0) }
    #expect(pace.rest(now + .microseconds(100)) == .microseconds(100))
    #expect(pace.rest(now + .microseconds(200)) == .zero)
  }

  @Test mutating func whatWasIsSoonForgotten() {
    for _ in 0..<100_000 { _ = turn(50, after: 0) }
    #expect(turn(50, after: 50_000) == 0)
  }
}
