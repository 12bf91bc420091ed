import Gateway

extension GatewayConfiguration {
  init(_ configuration: ServerConfiguration) {
    self.init()
    let limits = configuration.limits
    host = configuration.listening.host
    port = configuration.listening.port
    listeningSocket = configuration.listening.socket
    serviceThreads = limits.serviceThreads
    publicDirectory = configuration.pages.directory
    mountedDirectories = configuration.pages.clientDirectory.map { [(DatabasePath.pages, $0)] } ?? []
    certificate = configuration.listening.certificate
    trustedProxies = configuration.listening.trustedProxies
    clock = configuration.clocks.sockets
    routes = Route.prefixes.filter {
      configuration.listening.metricsAddress == nil || !Route.metricsPrefixes.contains($0)
    }
    if configuration.places != nil {
      routes.append(DatabasePath.prefix)
      livePrefix = DatabasePath.prefix
    }
    // X-Accel-Buffering has nginx pass on events as they come.
    streamHeaders = [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
    heartbeatAfter = configuration.lists.heartbeat
    self.limits = limits.sockets
    staticHeaders = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")]
    if !configuration.pages.contentSecurityPolicy.isEmpty {
      staticHeaders.append(("Content-Security-Policy", configuration.pages.contentSecurityPolicy))
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
