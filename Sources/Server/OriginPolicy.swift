import Gateway

/// Which pages may talk to the server: those that it served itself, and those of the origins allowed.
///
/// A browser sends `Origin` with every WebSocket handshake and cross-site request; other programs do not, and are not
/// what this protects from. A server on loopback also insists on a loopback `Host`: a page of a foreign name that
/// resolves to 127.0.0.1 (DNS rebinding) would pass for its own otherwise.
struct OriginPolicy: Sendable {
  let allowed: Set<String>
  let isLoopback: Bool

  func permits(_ request: HTTPRequest) -> Bool {
    if isLoopback, let host = request.host, !OriginPolicy.isLoopbackName(host) { return false }
    guard let origin = request.origin else { return true }
    if allowed.contains(origin) { return true }
    guard let host = request.host, let start = origin.range(ofScheme: "://") else { return false }
    return origin[start...].lowercased() == host.lowercased()
  }

  /// "localhost:8080", "127.0.0.1", "[::1]:8080".
  private static func isLoopbackName(_ host: String) -> Bool {
    let name: Substring
    if host.hasPrefix("[") {
      name = host.prefix { $0 != "]" }.dropFirst()
    } else {
      name = host.prefix { $0 != ":" }
    }
    return name.lowercased() == "localhost" || name.hasPrefix("127.") || name == "::1"
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
