import Gateway

/// Which pages may talk to the server: those that it served itself, and those of the origins allowed.
///
/// A browser sends `Origin` with every WebSocket handshake and cross-site request; other programs do not, and are not
/// what this protects from. The `Host` must be one that the server answers to, where that is known: a page of a foreign
/// name that resolves to the server's address (DNS rebinding) would pass for its own otherwise. Those are the names of
/// loopback, and those that the operator gave.
struct OriginPolicy: Sendable {
  /// Origins of other hosts.
  let allowed: Set<String>
  /// Names of the server other than those of loopback, in lower case.
  let hosts: Set<String>
  let isLoopback: Bool

  func permits(_ request: HTTPRequest) -> Bool {
    if isLoopback || !hosts.isEmpty, let host = request.host, !answers(to: host) { return false }
    if let origin = request.origin, allowed.contains(origin) { return true }
    if mayChange(request), !["same-origin", "none"].contains(request.fetchSite ?? "none") { return false }
    guard let origin = request.origin else { return true }
    guard let host = request.host, let start = origin.range(ofScheme: "://") else { return false }
    return origin[start...].lowercased() == host.lowercased()
  }

  /// Whether a request is more than a look. Where a browser says that another site's page sends it (Sec-Fetch-Site), the word of its
  /// Origin is not enough: a page of the same name on another port, or behind another scheme, is another site's.
  private func mayChange(_ request: HTTPRequest) -> Bool { !["GET", "HEAD", "OPTIONS"].contains(request.method) }

  /// - Parameter host: such as "localhost:8080", "127.0.0.1", "[::1]:8080".
  private func answers(to host: String) -> Bool {
    let name: String
    if host.hasPrefix("[") {
      name = host.prefix { $0 != "]" }.dropFirst().lowercased()
    } else {
      name = host.prefix { $0 != ":" }.lowercased()
    }
    // Nobody else's name leads to loopback's own, and health checks on the machine use them.
    return hosts.contains(name) || name == "localhost" || name == "::1" || OriginPolicy.isLoopbackAddress(name)
  }

  /// 127.x.x.x; a name such as 127.example.org can be anybody's.
  private static func isLoopbackAddress(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

extension String {
  /// Where what follows the scheme begins.
  fileprivate func range(ofScheme separator: String) -> Index? {
    var index = startIndex
    while index < endIndex {
      if self[index...].hasPrefix(separator) { return self.index(index, offsetBy: separator.count) }
      index = self.index(after: index)
    }
    return nil
  }
}
