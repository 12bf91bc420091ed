/// A host and a port to listen on.
package struct SocketAddress: Hashable, Sendable {
  package var host: String
  package var port: Int

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// "127.0.0.1:9090" or "[::1]:9090"; nil if the text is not an address with a port.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    let host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
    self.init(host: isBracketed ? String(host.dropFirst().dropLast()) : String(host), port: port)
  }

  package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" || host == "localhost" }
}
