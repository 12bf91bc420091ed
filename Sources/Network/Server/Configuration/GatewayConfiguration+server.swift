import Gateway

extension GatewayConfiguration {
  init(_ configuration: ServerConfiguration) {
    self.init()
    host = configuration.host
    port = configuration.port
    publicDirectory = configuration.publicDirectory
    certificate = configuration.certificate
    trustedProxies = configuration.trustedProxies
    clock = configuration.socketClock
    routes = Route.prefixes.filter { configuration.metricsAddress == nil || !Route.metricsPrefixes.contains($0) }
    // The last one has nginx pass on events as they come.
    streamHeaders = [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
    heartbeatAfter = configuration.heartbeat
    messageLimit = configuration.messageLimit
    bodyLimit = configuration.messageLimit
    messageRate = configuration.messagesPerSecond
    messageBurst = 5 * configuration.messagesPerSecond
    addressLimit = configuration.connectionsPerAddress ?? 1_000
    limitsLoopback = configuration.connectionsPerAddress != nil
    headTimeout = configuration.headTimeout
    bodyTimeout = configuration.bodyTimeout
    bodyRate = configuration.bodyRate
    readTimeout = configuration.readTimeout
    outgoingLimit = configuration.outgoingMemory
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
