import Gateway
import Logging
import Synchronization

/// Decides which pages may talk to the server: its own, and those of allowed origins.
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

  func permits(_ request: HTTPRequest) -> Bool { refusal(of: request) == nil }

  /// Why a request is refused; nil: it is not.
  func refusal(of request: HTTPRequest) -> OriginRefusal? {
    if isLoopback || !hosts.isEmpty, let host = request.host, !answers(to: host) { return .host(Self.name(in: host)) }
    if let origin = request.origin, allowed.contains(origin) { return nil }
    if mayChange(request), !["same-origin", "none"].contains(request.fetchSite ?? "none") {
      return request.origin.map { .origin($0) } ?? .site
    }
    guard let origin = request.origin else { return nil }
    guard let host = request.host, let start = origin.range(ofScheme: "://"),
      origin[start...].lowercased() == host.lowercased()
    else { return .origin(origin) }
    return nil
  }

  /// Whether a request is more than a look. Where a browser says that another site's page sends it (Sec-Fetch-Site),
  /// the word of its Origin is not enough: a page of the same name on another port, or behind another scheme, is
  /// another site's.
  private func mayChange(_ request: HTTPRequest) -> Bool { !["GET", "HEAD", "OPTIONS"].contains(request.method) }

  /// - Parameter host: such as "localhost:8080", "127.0.0.1", "[::1]:8080".
  private func answers(to host: String) -> Bool {
    let name = Self.name(in: host)
    // Loopback's own names always lead here, and health checks on the machine use them.
    return hosts.contains(name) || name == "localhost" || name == "::1" || OriginPolicy.isLoopbackAddress(name)
  }

  /// The name of a Host header, in lower case and without its port.
  private static func name(in host: String) -> String {
    host.hasPrefix("[")
      ? host.prefix { $0 != "]" }.dropFirst().lowercased() : host.prefix { $0 != ":" }.lowercased()
  }

  /// 127.x.x.x; a name such as 127.example.org may belong to any site.
  private static func isLoopbackAddress(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// Why a request of a page is refused.
enum OriginRefusal: Hashable, Sendable {
  /// The server does not answer to this name.
  case host(String)
  /// Pages of this origin are not allowed.
  case origin(String)
  /// The browser says that a page of another site sends the request.
  case site

  /// For the client.
  var message: String {
    switch self {
    case .host: "this server does not answer to this name"
    case .origin, .site: "pages of this origin may not use this server"
    }
  }

  /// For the operator: the refusal, and the option that would allow it.
  var advice: String {
    switch self {
    case .host(let name):
      "a request to the name \(Self.shown(name)) was refused: to answer to it, --allow-host \(Self.shown(name)) (allowedHosts)"
    case .origin("null"):
      "a page without an origin (a file, a sandboxed frame) was refused: to let all such pages in, --allow-origin null (allowedOrigins)"
    case .origin(let origin) where AllowedOrigin.mistake(in: origin) == nil:
      "a page of \(Self.shown(origin)) was refused: to let it in, --allow-origin \(Self.shown(origin)) (allowedOrigins)"
    case .origin, .site: "a page of another site was refused"
    }
  }

  /// Text from clients, cut for a log.
  private static func shown(_ text: String) -> String { text.count > 100 ? text.prefix(100) + "…" : text }
}

/// Logs each refusal once, up to a bound: clients can invent any number of origins.
final class OriginRefusals: Sendable {
  private static let most = 32
  private let logged = Mutex<Set<OriginRefusal>>([])
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func note(_ refusal: OriginRefusal) {
    let isNew = logged.withLock { logged in
      logged.count < Self.most && logged.insert(refusal).inserted
    }
    if isNew { logger.notice("\(refusal.advice)") }
  }
}

extension String {
  /// Where the part after the scheme begins.
  fileprivate func range(ofScheme separator: String) -> Index? {
    var index = startIndex
    while index < endIndex {
      if self[index...].hasPrefix(separator) { return self.index(index, offsetBy: separator.count) }
      index = self.index(after: index)
    }
    return nil
  }
}
