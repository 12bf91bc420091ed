internal import CGateway
internal import Synchronization

/// How many connections each address has, on all service threads together, and which peers are proxies.
///
/// Any thread: one lock.
final class AddressLimits: Sendable {
  private struct Usage {
    var connections = 0
    /// Connections beyond the limit that are answered 429.
    var refused = 0
  }

  /// Connections beyond an address's limit that are answered 429; further ones are closed at once.
  private static let refusedPolitely = 64

  private let usages = Mutex<[ClientAddress: Usage]>([:])
  private let limit: Int
  private let limitsLoopback: Bool
  let proxies: TrustedProxies

  init(_ configuration: GatewayConfiguration) throws(GatewayError) {
    limit = configuration.limits.addressLimit
    limitsLoopback = configuration.limits.limitsLoopback
    proxies = try TrustedProxies(configuration.trustedProxies)
  }

  func enter(_ address: IPAddress) -> gateway_entry {
    if proxies.trusts(address) { return GATEWAY_ENTRY_PROXY }
    let client = ClientAddress(address)
    guard limit > 0, limitsLoopback || !client.isLoopback else { return GATEWAY_ENTRY_FREE }
    return usages.withLock { usages in
      var usage = usages[client] ?? Usage()
      defer { usages[client] = usage }
      if usage.connections < limit {
        usage.connections += 1
        return GATEWAY_ENTRY_COUNTED
      }
      guard usage.refused < Self.refusedPolitely else { return GATEWAY_ENTRY_CLOSED }
      usage.refused += 1
      return GATEWAY_ENTRY_REFUSED
    }
  }

  func leave(_ address: IPAddress, _ entry: gateway_entry) {
    let client = ClientAddress(address)
    usages.withLock { usages in
      guard var usage = usages[client] else { return }
      if entry == GATEWAY_ENTRY_REFUSED { usage.refused -= 1 } else { usage.connections -= 1 }
      usages[client] = usage.connections + usage.refused > 0 ? usage : nil
    }
  }
}
