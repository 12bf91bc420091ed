/// Counts as one client: an IPv4 address, or an IPv6 /64, because a client has at least that many addresses. Behind a
/// trusted proxy, the address of the proxy's client.
package struct ClientAddress: Hashable, Sendable {
  /// The network of an IPv6 address; zero for IPv4.
  let high: UInt64
  let low: UInt64
  /// Whether it is this machine.
  package let isLoopback: Bool

  init(_ address: IPAddress) {
    (high, low) = address.isFour ? (0, address.low) : (address.high, 0)
    isLoopback = address.isFour ? address.low >> 24 & 0xFF == 127 : address.high == 0 && address.low == 1
  }

  /// One for tests.
  package init(network: UInt64, isLoopback: Bool = false) {
    (high, low, self.isLoopback) = (network, 0, isLoopback)
  }
}
