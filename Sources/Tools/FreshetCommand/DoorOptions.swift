import ArgumentParser
import Server

/// How clients reach the server: TLS, proxies, the address of metrics.
struct DoorOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The TLS certificate and its chain, in PEM format; reloaded at SIGHUP.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("The key of the TLS certificate, in PEM format.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Trust the client addresses that this proxy, or a range such as 10.0.0.0/8, reports; can be repeated.",
      valueName: "address"))
  var trustProxy: [String] = []

  @Option(
    help: ArgumentHelp(
      "Serve /metrics, /healthz and /readyz at this address alone.", valueName: "host:port"))
  var metricsAddress: String?

  /// Flags first, then variables, then the configuration file.
  func settings(_ settings: Settings) throws -> DoorSettings {
    var flags = DoorSettings()
    (flags.certificate, flags.key) = (tlsCert, tlsKey)
    flags.trustedProxies = trustProxy.isEmpty ? nil : trustProxy
    flags.metrics = try metricsAddress.map { try Self.address($0, "--metrics-address") }
    return flags.over(try Self.settingsWithoutFlags(settings))
  }

  /// The settings of variables and the configuration file.
  static func settingsWithoutFlags(_ settings: Settings) throws -> DoorSettings {
    var variables = DoorSettings()
    (variables.certificate, variables.key) = (settings.text("FRESHET_TLS_CERT"), settings.text("FRESHET_TLS_KEY"))
    variables.trustedProxies = settings.list("FRESHET_TRUSTED_PROXIES")
    variables.metrics = try settings.text("FRESHET_METRICS_ADDRESS").map {
      try address($0, "FRESHET_METRICS_ADDRESS")
    }
    return variables.over(settings.file.door)
  }

  private static func address(_ text: String, _ name: String) throws -> SocketAddress {
    guard let address = SocketAddress(text) else {
      throw CommandFailure("\(name) must be \(SocketAddress.description)")
    }
    return address
  }
}
