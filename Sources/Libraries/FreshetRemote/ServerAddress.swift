import Foundation
package import LiveQuery

/// The address of a server's live socket.
package struct ServerAddress: Sendable {
  /// `ws` or `wss`.
  let url: URL

  static let subprotocol = "freshet.v1"
  private static let route = "/v1/live"

  /// - Parameter address: `http(s)://host:port`, whose socket is `/v1/live`; or `ws(s)://host:port/path`, with
  ///   `/v1/live` by default. The default scheme is http.
  /// - Parameter database: the name of one of the server's databases.
  /// - Throws: a sentence that describes the mistake.
  package init(_ address: String, database: String? = nil) throws(FreshetError) {
    let (scheme, rest) = Self.split(address, at: "://") ?? ("http", address)
    let isSecure: Bool
    switch scheme.lowercased() {
    case "http", "ws": isSecure = false
    case "https", "wss": isSecure = true
    default: throw FreshetError(.badMessage, "\(address) is no http, https, ws or wss address")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let (host, port) = try Self.hostAndPort(String(authority), address)
    var path = String(rest.dropFirst(authority.count))
    while path.hasSuffix("/") { path.removeLast() }
    try check(path.isEmpty || path.hasPrefix("/"), "\(address) has something behind the host that is no path")
    if !scheme.lowercased().hasPrefix("ws") || path.isEmpty { path += Self.route }
    if let database, path.hasSuffix(Self.route) {
      path = "\(path.dropLast(Self.route.count))/db/\(Self.escaped(database))\(Self.route)"
    }
    let isURL = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isURL, let url = URL(string: "\(isSecure ? "wss" : "ws")://\(host):\(port ?? (isSecure ? 443 : 80))\(path)")
    else {
      throw FreshetError(.badMessage, "\(address) has characters in its path that no URL has")
    }
    self.url = url
  }

  /// The name percent-encoded, except for letters, digits, - and _.
  private static func escaped(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return name.utf8.reduce(into: "") { escaped, byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        || "-_".unicodeScalars.contains(scalar)
      escaped += isPlain ? String(scalar) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }

  private static func split(_ text: String, at separator: String) -> (String, String)? {
    guard let range = text.firstRange(of: separator) else { return nil }
    return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
  }

  /// IPv6 addresses keep their brackets.
  private static func hostAndPort(
    _ authority: String, _ address: String
  ) throws(FreshetError) -> (host: String, port: UInt16?) {
    var host = authority
    var port: String?
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = String(authority[...end])
      let rest = authority[authority.index(after: end)...]
      if !rest.isEmpty { port = rest.hasPrefix(":") ? String(rest.dropFirst()) : "" }
    } else if let colon = authority.lastIndex(of: ":") {
      host = String(authority[..<colon])
      port = String(authority[authority.index(after: colon)...])
    }
    let isHost = !host.isEmpty && !host.contains("@") && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    try check(isHost, "\(address) names no host")
    guard let port else { return (host, nil) }
    guard let number = UInt16(port), number > 0 else {
      throw FreshetError(.badMessage, "\(address) has no port from 1 to 65535")
    }
    return (host, number)
  }
}

private func check(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(FreshetError) {
  if !condition { throw FreshetError(.badMessage, sentence()) }
}
