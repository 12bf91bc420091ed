import TestSupport
import Testing

@testable import FreshetClient

/// How long a client waits before it tries again.
@Suite struct WaitingTests {
  @Test func `Connections are tried longer and longer, and from the beginning once one stood`() {
    var generator = SeededGenerator(seed: 1)
    var backoff = Backoff()
    for due in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000] {
      #expect((due / 2...due).contains(backoff.next(using: &generator)))
    }
    backoff.reset()
    #expect(backoff.next(using: &generator) <= 500)
  }

  @Test(arguments: [
    // Half a minute before it expires.
    (expires: 1_100.0, after: 70.0),
    // A short life: in the middle of it.
    (1_040, 20), (1_010, 5),
    // Not in a loop, whatever the clocks say.
    (1_000, 1), (0, 1),
  ])
  func `Tokens are renewed before they expire`(expires: Double, after: Double) {
    var renewal = TokenRenewal()
    #expect(renewal.accepted(expires: expires, now: 1_000) == after)
  }

  @Test func `Tokens that were refused are tried again, longer and longer`() {
    var renewal = TokenRenewal()
    #expect(renewal.accepted(expires: nil, now: 0) == nil)
    #expect((0..<6).map { _ in renewal.refused() } == [1, 2, 4, 8, 15, 15])
    _ = renewal.accepted(expires: nil, now: 0)
    #expect(renewal.refused() == 1)
  }
}
