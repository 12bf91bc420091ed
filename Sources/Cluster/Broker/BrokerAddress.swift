import Ground

/// The address of a log: `nats://[user[:password]@]host[:port][,host[:port]…]/stream`, or `tls://…`.
package struct BrokerAddress: Equatable, Sendable, CustomStringConvertible {
  /// URLs of the servers of one cluster; any one will do.
  package let servers: [String]
  /// The name that the streams and subjects of this log begin with.
  package let stream: String
  package let usesTLS: Bool
  private let hosts: String

  /// The form of a valid text.
  package static let expectation =
    "nats://host[:port]/stream or tls://host[:port]/stream, several hosts separated by commas, a stream of letters, digits, - and _"

  /// Nil if the text is not an address.
  package init?(_ text: String) {
    guard let scheme = ["nats", "tls"].first(where: { text.hasPrefix("\($0)://") }) else { return nil }
    let rest = text.dropFirst(scheme.count + 3)
    guard let slash = rest.lastIndex(of: "/") else { return nil }
    let stream = rest[rest.index(after: slash)...]
    guard (1...64).contains(stream.utf8.count), stream.utf8.allSatisfy(\.isNameByte) else { return nil }
    var authority = rest[..<slash]
    var user: Substring = ""
    if let at = authority.lastIndex(of: "@") {
      user = authority[...at]
      authority = authority[authority.index(after: at)...]
    }
    let hosts = authority.split(separator: ",", omittingEmptySubsequences: false)
    guard !hosts.isEmpty, hosts.allSatisfy({ !$0.isEmpty && !$0.contains("/") }) else { return nil }
    servers = hosts.map { "\(scheme)://\(user)\($0)" }
    self.stream = String(stream)
    usesTLS = scheme == "tls"
    self.hosts = "\(scheme)://\(authority)"
  }

  /// Without user and password.
  package var description: String { "\(hosts)/\(stream)" }
}

/// How to be let in by the broker. Paths of files.
package struct BrokerCredentials: Equatable, Sendable {
  /// A user's JWT and key, as `nsc` makes them.
  package var credentials: String?
  /// Certificates of those who sign servers' certificates; nil for the system's.
  package var authority: String?
  /// This client's certificate and its key.
  package var certificate: String?
  package var key: String?

  package init() {}
}
