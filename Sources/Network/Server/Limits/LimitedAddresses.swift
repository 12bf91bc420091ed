import Gateway

extension ServerLimits {
  /// The limits of one address.
  var clientBounds: ClientLimits.Bounds {
    var bounds = ClientLimits.Bounds()
    bounds.requests = .withBurst(requestsPerAddress ?? 1_000)
    bounds.messages = .withBurst(messagesPerAddress ?? 5_000)
    let subscriptions = subscriptionsPerAddress ?? 20_000
    if subscriptions > 0 { bounds.most[.subscriptions] = subscriptions }
    return bounds
  }
}

extension RateLimit {
  /// A rate with a burst: five times as many at once after a pause.
  static func withBurst(_ perSecond: Int) -> RateLimit {
    RateLimit(perSecond: perSecond, burst: 5 * min(perSecond, 1_000_000))
  }
}

/// The limits of addresses. This machine's own addresses may be a proxy's, and are limited only if the operator says
/// so.
struct LimitedAddresses {
  private let ofLoopback: (requests: Bool, messages: Bool, subscriptions: Bool)

  init(_ limits: ServerLimits) {
    ofLoopback = (
      limits.requestsPerAddress != nil, limits.messagesPerAddress != nil, limits.subscriptionsPerAddress != nil
    )
  }

  func requests(_ client: ClientAddress) -> Bool { !client.isLoopback || ofLoopback.requests }
  func messages(_ client: ClientAddress) -> Bool { !client.isLoopback || ofLoopback.messages }
  func subscriptions(_ client: ClientAddress) -> Bool { !client.isLoopback || ofLoopback.subscriptions }
}
