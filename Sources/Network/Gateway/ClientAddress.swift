internal import CGateway

/// What counts as one client: an IPv4 address, or an IPv6 /64. That of a trusted proxy's client, where one speaks for it.
package struct ClientAddress: Hashable, Sendable {
  /// The network of an IPv6 address; zero for IPv4.
  let high: UInt64
  let low: UInt64
  /// Whether it is this machine.
  package let isLoopback: Bool

  init(_ client: gateway_client) {
    (high, low, isLoopback) = (client.high, client.low, client.is_loopback)
  }

  /// One for tests.
  package init(network: UInt64, isLoopback: Bool = false) {
    (high, low, self.isLoopback) = (network, 0, isLoopback)
  }
}
