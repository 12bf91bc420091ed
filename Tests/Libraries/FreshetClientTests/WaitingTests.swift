import TestSupport
import Testing

@testable import FreshetRemote

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
    // Renewed half a minute before it expires.
    (expires: 1_100.0, after: 70.0),
    // A short-lived token is renewed at half of its life.
    (1_040, 20), (1_010, 5),
    // At least a second passes, whatever the clocks say.
    (1_000, 1), (0, 1),
  ])
  func `Tokens are renewed before they expire`(expires: Double, after: Double) {
    var renewal = TokenRenewal()
    #expect(renewal.accepted(expires: expires, now: 1_000) == after)
  }

  @Test func `A token that has expired is renewed at once, and later and later when it is the same again`() {
    var renewal = TokenRenewal()
    _ = renewal.accepted(expires: 1_000, now: 999)
    var waits: [Double] = []
    for _ in 0..<6 {
      waits.append(renewal.expired())
      _ = renewal.accepted(expires: 1_000, now: 1_001)
    }
    #expect(waits == [0, 2, 4, 8, 15, 15])
    #expect(renewal.accepted(expires: 1_000, now: 1_001) == 15)
    #expect(renewal.accepted(expires: 2_000, now: 1_001) == 969 && renewal.expired() == 0)
  }

  @Test func `Tokens that were refused are tried again, longer and longer`() {
    var renewal = TokenRenewal()
    #expect(renewal.accepted(expires: nil, now: 0) == nil)
    #expect((0..<6).map { _ in renewal.refused() } == [1, 2, 4, 8, 15, 15])
    _ = renewal.accepted(expires: nil, now: 0)
    #expect(renewal.refused() == 1)
  }
}
