/// The origin of pages that an operator lets in, as browsers send it: a scheme and a host in lower case, and a port
/// that is not the scheme's own.
package enum AllowedOrigin {
  /// The mistake in an operator's text; nil: it is valid.
  package static func mistake(in text: String) -> String? {
    // Pages without an origin send this: files, sandboxed frames.
    if text == "null" { return nil }
    if text == "*" { return "is no origin: name each that is allowed, such as https://app.example.com" }
    guard let meant = canonical(text) else { return "is no origin, such as https://app.example.com" }
    return meant == text ? nil : "is no origin as browsers send it: say \(meant)"
  }

  private static let ports = ["http": "80", "https": "443"]

  private static func canonical(_ text: String) -> String? {
    let text = text.lowercased()
    var (scheme, rest) = ("https", Substring(text))
    if let separator = text.firstRange(of: "://") {
      scheme = String(text[..<separator.lowerBound])
      rest = text[separator.upperBound...]
    }
    let isScheme =
      scheme.first?.isLetter == true
      && scheme.utf8.allSatisfy {
        $0 < 0x80 && (Character(Unicode.Scalar($0)).isLetter || "0123456789+-.".utf8.contains($0))
      }
    var host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if let port = ports[scheme], host.hasSuffix(":\(port)") { host = host.dropLast(port.count + 1) }
    let isHost = !host.isEmpty && !host.contains("@") && host.isPrintableASCII
    return isScheme && isHost ? "\(scheme)://\(host)" : nil
  }
}

/// A host name that the operator lets clients use for the server.
package enum AllowedHost {
  /// The mistake in an operator's text; nil: it is valid.
  package static func mistake(in text: String) -> String? {
    var name = Substring(text)
    if let separator = text.firstRange(of: "://") { name = text[separator.upperBound...] }
    name = name.prefix { $0 != "/" }
    let isAddress = name.contains("::") || name.count { $0 == ":" } > 1
    if !isAddress { name = name.prefix { $0 != ":" } }
    if name.isEmpty || !name.isPrintableASCII {
      return "is no host name, such as app.example.com"
    }
    return name == text ? nil : "is no host name: say \(name)"
  }
}

extension Substring {
  /// Whether it is ASCII only, without spaces and control characters.
  fileprivate var isPrintableASCII: Bool { utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
}
