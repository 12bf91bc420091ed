import LiveQuery

@testable import Gateway
@testable import Server

/// The query of a URL and headers that are read in Swift: a line each.
enum URLTarget {
  static func run(_ input: UnsafeRawBufferPointer) -> Bool {
    let lines = String(decoding: input, as: UTF8.self).split(
      separator: "\n", maxSplits: 6, omittingEmptySubsequences: false)
    let line = { (index: Int) in index < lines.count ? String(lines[index]) : "" }
    let string = QueryString(line(0))
    check(string.items.count <= line(0).utf8.count + 1, "more parameters than characters")
    for purpose in [RequestParameters.Purpose.snapshot, .subscription, .explanation, .published("q")] {
      do throws(FreshetError) {
        let parameters = try RequestParameters(string, for: purpose)
        check(parameters.window.offset >= 0 && parameters.window.limit >= 0, "a window before the beginning")
      } catch { check([.badQuery, .badMessage].contains(error.code), "\(error.code): \(error.message)") }
    }
    _ = try? RequestParameters(body: Array(line(0).utf8))
    let tags = EntityTags(line(1))
    for version in tags.versions {
      check(line(1).contains("\"\(version)\""), "a tag that is not there: \(version)")
      check(tags.contains(version), "a tag that is not found again: \(version)")
    }
    checkOrigin(request(line))
    return true
  }

  private static func request(_ line: (Int) -> String) -> HTTPRequest {
    var request = HTTPRequest(
      method: line(2).isEmpty ? "GET" : line(2), path: "/", query: "", peer: "192.0.2.1",
      client: ClientAddress(network: 1), body: [])
    request.origin = line(3).isEmpty ? nil : line(3)
    request.host = line(4).isEmpty ? nil : line(4)
    request.fetchSite = line(5).isEmpty ? nil : line(5)
    return request
  }

  /// A page of another origin gets through only where the operator named it, and no request under a name that is not
  /// the server's.
  private static func checkOrigin(_ request: HTTPRequest) {
    let policy = OriginPolicy(allowed: ["https://a.example"], hosts: ["b.example"], isLoopback: false)
    guard policy.permits(request), let host = request.host else { return }
    let name = String(host.prefix { $0 != ":" }).lowercased()
    let isOwn =
      name == "b.example" || name == "localhost" || host.hasPrefix("[::1]") || host == "[::1" || name.hasPrefix("127.")
    check(isOwn || host.lowercased().hasPrefix("["), "the host \(host) is none of the server's")
    guard let origin = request.origin, origin != "https://a.example" else { return }
    check(origin.lowercased().hasSuffix("://" + host.lowercased()), "a page of \(origin) reaches \(host)")
  }
}
