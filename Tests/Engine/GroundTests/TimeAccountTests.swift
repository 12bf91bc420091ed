import Ground
import Testing

/// Time that requests share.
@Suite struct TimeAccountTests {
  @Test func timeComesBackSlowly() {
    let at = { (time: UInt64) in Instant(nanoseconds: time) }
    var account = TimeAccount(limit: Nanoseconds(100))
    #expect(account.left(at: at(1_000)) == Nanoseconds(100))
    account.spend(until: at(1_060))
    #expect(account.left(at: at(1_060)) == Nanoseconds(40))
    account.spend(until: at(1_110))
    #expect(account.left(at: at(1_110)) == Nanoseconds(0), "more than was left")
    #expect(account.left(at: at(1_110 + 40)) == Nanoseconds(0))
    #expect(account.left(at: at(1_110 + 140)) == Nanoseconds(25))
    #expect(account.left(at: at(1_110 + 10_000)) == Nanoseconds(100))
  }
}
