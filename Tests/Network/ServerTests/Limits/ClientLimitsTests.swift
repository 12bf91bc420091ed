import Gateway
import Server
import Testing

/// How clients use up their limits, with a clock of the test.
@Suite struct ClientLimitsTests {
  private func client(_ number: Int) -> LimitedClient { .address(ClientAddress(network: UInt64(number))) }

  private func bounds(requests: Int = 0, burst: Int = 1, subscriptions: Int = 0) -> ClientLimits.Bounds {
    var bounds = ClientLimits.Bounds()
    bounds.requests = RateLimit(perSecond: requests, burst: burst)
    if subscriptions > 0 { bounds.most[.subscriptions] = subscriptions }
    return bounds
  }

  @Test func `A burst is taken at once, the rest at the rate, and a pause gives it back`() {
    var limits = ClientLimits(bounds(requests: 10, burst: 3))
    for _ in 0..<3 { #expect(limits.takeRequest(of: client(1), at: 1_000) == 0) }
    #expect(limits.takeRequest(of: client(1), at: 1_000) == 100_000)
    #expect(limits.takeRequest(of: client(1), at: 101_000) == 0)
    #expect(limits.takeRequest(of: client(1), at: 101_000) == 100_000)
    #expect(limits.takeRequest(of: client(2), at: 101_000) == 0)
    for _ in 0..<3 { #expect(limits.takeRequest(of: client(1), at: 9_000_000) == 0) }
    #expect(limits.takeRequest(of: client(1), at: 9_000_000) > 0)
  }

  @Test func `Without a rate there is nothing to take, and nobody is remembered`() {
    var limits = ClientLimits(bounds())
    for number in 0..<100 {
      #expect(limits.takeRequest(of: client(number), at: 0) == 0 && limits.takeMessage(of: client(number), at: 0))
      #expect(limits.take(.subscriptions, of: client(number), at: 0) == client(number))
    }
    #expect(limits.count == 0)
  }

  @Test func `Who uses nothing is forgotten, and the table never grows beyond its capacity`() {
    var limits = ClientLimits(bounds(requests: 1, burst: 2), capacity: 100)
    for number in 0..<100 { #expect(limits.takeRequest(of: client(number), at: 0) == 0) }
    // The table is full: new clients share one allowance; clients in the table keep their own.
    for number in 100..<102 { #expect(limits.takeRequest(of: client(number), at: 0) == 0) }
    for number in 102..<1_000 { #expect(limits.takeRequest(of: client(number), at: 0) > 0) }
    #expect(limits.count <= 101)
    #expect(limits.takeRequest(of: client(5), at: 0) == 0)
    for number in 1_000..<1_050 { #expect(limits.takeRequest(of: client(number), at: 10_000_000) == 0) }
    #expect(limits.count == 50)
  }

  @Test func `Subscriptions are kept in mind while they last`() throws {
    var limits = ClientLimits(bounds(subscriptions: 2), capacity: 2)
    for number in 0..<2 { #expect(limits.take(.subscriptions, of: client(number), at: 0) == client(number)) }
    #expect(limits.take(.subscriptions, of: client(7), at: 9_000_000) == .others)
    #expect(limits.take(.subscriptions, of: client(8), at: 9_000_000) == .others)
    #expect(limits.take(.subscriptions, of: client(9), at: 9_000_000) == nil)
    for _ in 0..<2 { limits.giveBack(.subscriptions, of: .others) }
    limits.giveBack(.subscriptions, of: client(0))
    #expect(limits.take(.subscriptions, of: client(9), at: 20_000_000) == client(9))
  }
}
