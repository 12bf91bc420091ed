@testable import Gateway

/// Forwarded and X-Forwarded-For, and the ranges of an operator. The first byte chooses the header, and whether a proxy
/// sends it.
enum ProxiesTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    guard let choice = input.first else { return true }
    guard let proxies = try? TrustedProxies(["10.0.0.0/8", "2001:db8::/33", "127.0.0.1"]) else {
      fatalError("good ranges are refused")
    }
    let (isForwarded, isTrusted) = (choice & 1 != 0, choice & 2 != 0)
    let list = String(decoding: input.dropFirst(), as: UTF8.self)
    let peer = IPAddress(isTrusted ? "10.1.2.3" : "192.0.2.1")!
    let client = { (list: String) in
      proxies.client(of: peer, forwardedFor: isForwarded ? "" : list, forwarded: isForwarded ? list : "")
    }
    let found = client(list)
    check(isTrusted || found == peer, "a stranger is believed")
    // Addresses in front of the one that counts do not count.
    if isTrusted, !list.isEmpty, !proxies.trusts(found) {
      check(client((isForwarded ? "for=203.0.113.9, " : "203.0.113.9, ") + list) == found, "a claim is believed")
    }
    // The ranges that an operator writes may be nonsense as well.
    if let ranges = try? TrustedProxies([list]) { _ = ranges.trusts(found) }
    return true
  }
}
