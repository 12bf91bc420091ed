import Gateway

extension GatewayConfiguration {
  init(_ configuration: ServerConfiguration) {
    self.init()
    let limits = configuration.limits
    host = configuration.host
    port = configuration.port
    listeningSocket = configuration.listeningSocket
    serviceThreads = limits.serviceThreads
    publicDirectory = configuration.publicDirectory
    certificate = configuration.certificate
    trustedProxies = configuration.trustedProxies
    clock = configuration.socketClock
    routes = Route.prefixes.filter { configuration.metricsAddress == nil || !Route.metricsPrefixes.contains($0) }
    // The last one has nginx pass on events as they come.
    streamHeaders = [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
    heartbeatAfter = configuration.heartbeat
    messageLimit = limits.messageLimit
    bodyLimit = limits.messageLimit
    messageRate = limits.messagesPerSecond
    messageBurst = 5 * limits.messagesPerSecond
    addressLimit = limits.connectionsPerAddress ?? 1_000
    limitsLoopback = limits.connectionsPerAddress != nil
    headTimeout = limits.headTimeout
    bodyTimeout = limits.bodyTimeout
    bodyRate = limits.bodyRate
    readTimeout = limits.readTimeout
    outgoingLimit = limits.outgoingMemory
    staticHeaders = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")]
    if !configuration.contentSecurityPolicy.isEmpty {
      staticHeaders.append(("Content-Security-Policy", configuration.contentSecurityPolicy))
    }
  }

  /// For metrics, health and readiness alone: no TLS, and no limits that could keep them from answering.
  init(metricsAt address: SocketAddress) {
    self.init()
    host = address.host
    port = address.port
    livePath = ""
    routes = Route.metricsPrefixes
  }
}
