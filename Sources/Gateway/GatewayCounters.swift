internal import CGateway

/// What a gateway has refused since its start.
package struct GatewayCounters: Hashable, Sendable {
  /// Connections whose address had too many.
  package let address: Int
  /// Requests that did not come in time.
  package let late: Int

  init(_ counters: gateway_counters) {
    address = Int(counters.address)
    late = Int(counters.late)
  }
}
