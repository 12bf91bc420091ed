/// The proxies that are believed when they name a client. A proxy that the operator trusts names the client of a
/// request: it appends the address to the request's own list. So the list is read from its end, over trusted proxies,
/// to the first other address; earlier entries are mere claims. Other peers are not believed.
package struct TrustedProxies: Sendable {
  /// The longest text that is read as an address, with its port.
  private static let longest = 63

  private let ranges: [AddressRange]

  /// - Parameter texts: addresses, and ranges such as "10.0.0.0/8".
  package init(_ texts: [String]) throws(GatewayError) {
    var ranges: [AddressRange] = []
    for text in texts {
      guard let range = AddressRange(text) else {
        throw GatewayError(
          message: "trustedProxies: \(text) is neither an address nor a range such as 10.0.0.0/8")
      }
      ranges.append(range)
    }
    self.ranges = ranges
  }

  package func trusts(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

  /// The client of a request from `peer`. At an address that cannot be read, the search ends with the address that
  /// reported it.
  package func client(of peer: IPAddress, forwardedFor: String, forwarded: String) -> IPAddress {
    var client = peer
    let isForwarded = forwardedFor.isEmpty
    for element in (isForwarded ? forwarded : forwardedFor).split(separator: ",", omittingEmptySubsequences: false)
      .reversed()
    {
      guard trusts(client), let next = Self.node(isForwarded ? Self.forParameter(of: element) : element) else { break }
      client = next
    }
    return client
  }

  /// The value of "for=" in an element of Forwarded (RFC 7239).
  private static func forParameter(of element: Substring) -> Substring {
    for parameter in element.split(separator: ";") {
      let parameter = parameter.drop { $0 == " " || $0 == "\t" }
      if parameter.prefix(4).lowercased() == "for=" { return parameter.dropFirst(4) }
    }
    return ""
  }

  /// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80", in quotes or not.
  private static func node(_ text: Substring) -> IPAddress? {
    let isAround = { (character: Character) in character == " " || character == "\t" || character == "\"" }
    var text = text.drop(while: isAround)
    while let last = text.last, isAround(last) { text.removeLast() }
    guard text.utf8.count <= longest else { return nil }
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      return IPAddress(text[text.index(after: text.startIndex)..<end])
    }
    let colons = text.count { $0 == ":" }
    return IPAddress(colons == 1 ? text.prefix { $0 != ":" } : text)
  }
}

/// Addresses that begin with the same bits.
private struct AddressRange: Sendable {
  private let first: IPAddress
  /// At least 96 for IPv4, so `::/0` matches IPv6 addresses only.
  private let bits: Int

  /// "10.0.0.0/8", "2001:db8::/32", or an address.
  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = IPAddress(parts[0]) else { return nil }
    let most = parts[0].contains(":") ? 128 : 32
    var bits = most
    if parts.count == 2 {
      guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[1]),
        number <= most
      else { return nil }
      bits = number
    }
    self.first = first
    self.bits = bits + 128 - most
  }

  func contains(_ address: IPAddress) -> Bool {
    if bits < 96, address.isFour { return false }
    let high = bits >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(bits))
    let low = bits <= 64 ? 0 : bits == 128 ? UInt64.max : ~(UInt64.max >> UInt64(bits - 64))
    return (address.high ^ first.high) & high == 0 && (address.low ^ first.low) & low == 0
  }
}
