/// Where a server's live socket is.
package struct Endpoint: Equatable, Sendable {
  /// A name or an address; IPv6 without brackets.
  package var host: String
  package var port: UInt16
  package var path: String
  package var isSecure: Bool

  /// The subprotocol that is asked for.
  package static let subprotocol = "freshet.v1"

  /// - Parameter url: `http(s)://host:port`, under which the socket is `/v1/live`; or `ws(s)://host:port/path`, with
  ///   `/v1/live` when there is no path. Without a scheme it is http.
  /// - Throws: a sentence that says what is wrong with it.
  package init(url: String) throws(LiveClientError) {
    let (scheme, rest) = Self.split(url, at: "://") ?? ("http", url)
    let isSocket: Bool
    switch scheme.lowercased() {
    case "http", "ws": isSecure = false
    case "https", "wss": isSecure = true
    default: throw LiveClientError("\(url) is no http, https, ws or wss address")
    }
    isSocket = scheme.lowercased().hasPrefix("ws")
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    var path = String(rest.dropFirst(authority.count))
    (host, port) = try Self.hostAndPort(String(authority), defaultPort: isSecure ? 443 : 80, url)
    while path.hasSuffix("/") { path.removeLast() }
    self.path = isSocket && !path.isEmpty ? path : path + "/v1/live"
    try require(path.isEmpty || path.hasPrefix("/"), "\(url) has something behind the host that is no path")
    try require(
      self.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url) has characters in its path that no URL has")
  }

  private static func split(_ text: String, at separator: String) -> (String, String)? {
    guard let range = text.firstRange(of: separator) else { return nil }
    return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
  }

  private static func hostAndPort(
    _ authority: String, defaultPort: UInt16, _ url: String
  ) throws(LiveClientError) -> (String, UInt16) {
    var host = authority
    var port: String?
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      let rest = authority[authority.index(after: end)...]
      if !rest.isEmpty { port = rest.hasPrefix(":") ? String(rest.dropFirst()) : "" }
    } else if let colon = authority.lastIndex(of: ":") {
      host = String(authority[..<colon])
      port = String(authority[authority.index(after: colon)...])
    }
    try require(!host.isEmpty && !host.contains("@"), "\(url) names no host")
    try require(host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url) names no host")
    guard let port else { return (host, defaultPort) }
    guard let number = UInt16(port), number > 0 else { throw LiveClientError("\(url) has no port from 1 to 65535") }
    return (host, number)
  }
}
