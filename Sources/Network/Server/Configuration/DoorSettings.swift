import Gateway

/// How clients reach the server: TLS, proxies, the address of metrics, the policy of static files. A setting that is
/// missing is nil.
package struct DoorSettings: Sendable {
  /// Paths.
  package var certificate: String?
  package var key: String?
  package var trustedProxies: [String]?
  package var metrics: SocketAddress?
  package var contentSecurityPolicy: String?

  package init() {}

  /// The keys that a configuration file may have.
  static let names: Set = ["tls", "trustedProxies", "metrics", "contentSecurityPolicy"]

  mutating func read(_ name: String, _ value: YAMLPlace) throws(ServerError) {
    switch name {
    case "tls":
      for (name, value) in try value.members() {
        switch name {
        case "certificate": certificate = try value.filePath()
        case "key": key = try value.filePath()
        default: throw value.unknown(name, "tls has", ["certificate", "key"])
        }
      }
      guard certificate != nil, key != nil else { throw value.error("needs certificate and key, both") }
    case "trustedProxies": trustedProxies = try value.texts()
    case "metrics":
      metrics = SocketAddress(try value.text())
      if metrics == nil { throw value.error("must be \(SocketAddress.description)") }
    default: contentSecurityPolicy = try value.text()
    }
  }

  /// These settings, with the others' where one is missing here.
  package func over(_ others: DoorSettings) -> DoorSettings {
    var result = others
    if certificate != nil || key != nil { (result.certificate, result.key) = (certificate, key) }
    result.trustedProxies = trustedProxies ?? others.trustedProxies
    result.metrics = metrics ?? others.metrics
    result.contentSecurityPolicy = contentSecurityPolicy ?? others.contentSecurityPolicy
    return result
  }
}

extension SocketAddress {
  /// The form of a valid text.
  package static let description = "an address and a port, such as 127.0.0.1:9090"
}

extension ServerConfiguration {
  /// - Throws: one sentence, for a certificate without a key.
  package mutating func set(_ door: DoorSettings) throws(ServerError) {
    switch (door.certificate, door.key) {
    case (nil, nil): break
    case (let certificate?, let key?): listening.certificate = CertificateFiles(certificate: certificate, key: key)
    default: throw ServerError("TLS needs a certificate and its key, both")
    }
    listening.trustedProxies = door.trustedProxies ?? listening.trustedProxies
    listening.metricsAddress = door.metrics ?? listening.metricsAddress
    pages.contentSecurityPolicy = door.contentSecurityPolicy ?? pages.contentSecurityPolicy
  }
}
