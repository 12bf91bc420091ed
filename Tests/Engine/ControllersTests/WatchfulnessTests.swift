import Ground
import Store
import Testing

@testable import Following

/// When commits are looked for by a timer; times in milliseconds.
@Suite struct WatchfulnessTests {
  private func time(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `There are no looks before commits keep coming`() {
    var watchfulness = Watchfulness()
    #expect(!watchfulness.mustLook(time(1_000)))
    for commit in stride(from: UInt64(1_000), to: 3_000, by: 60) {
      watchfulness.noteCommit(time(commit))
      #expect(!watchfulness.mustLook(time(commit)), "lone commits")
    }
  }

  @Test func `Looks begin with the second commit and end with a pause`() {
    var watchfulness = Watchfulness()
    watchfulness.noteCommit(time(1_000))
    watchfulness.noteCommit(time(1_020))
    #expect(watchfulness.mustLook(time(1_020)))
    #expect(watchfulness.mustLook(time(1_070)))
    #expect(!watchfulness.mustLook(time(1_071)))
    #expect(!watchfulness.mustLook(time(1_071)), "until two commits have come again")
    watchfulness.noteCommit(time(1_080))
    #expect(!watchfulness.mustLook(time(1_080)))
    watchfulness.noteCommit(time(1_090))
    #expect(watchfulness.mustLook(time(1_090)))
  }

  @Test func `A commit that is due is noticed at once, and any other one after a twelfth of the time`() {
    var watchfulness = Watchfulness()
    watchfulness.noteCommit(time(1_000))
    watchfulness.noteCommit(time(1_032))
    let shortest = watchfulness.interval(time(1_032))
    #expect(shortest < .microseconds(200))
    #expect(watchfulness.interval(time(1_056)) == .milliseconds(2))
    #expect(watchfulness.interval(time(1_061)) == .milliseconds(1), "not beyond the time when it is due")
    for milliseconds in 1_062...1_066 { #expect(watchfulness.interval(time(UInt64(milliseconds))) == shortest) }
    #expect(watchfulness.interval(time(1_080)) == .milliseconds(4))
    var (now, looks) = (time(1_032), 0)
    while now < time(1_064) {
      now = now + watchfulness.interval(now)
      looks += 1
    }
    #expect((45...70).contains(looks), "\(looks)")
  }

  @Test func `A stream is looked at as long as it lasts`() {
    var watchfulness = Watchfulness()
    watchfulness.noteCommit(time(1_000))
    for commit in stride(from: UInt64(1_020), to: 5_000, by: 20) {
      watchfulness.noteCommit(time(commit))
      #expect(watchfulness.mustLook(time(commit + 19)))
    }
  }
}
