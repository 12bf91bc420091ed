import Gateway

/// Headers that browsers need before they give an answer to a page of another origin (CORS).
///
/// They are sent only to origins that the operator named; "*" is never sent.
struct CrossOrigin: Sendable {
  /// Headers of every answer to a page of an allowed origin; none for other pages.
  let headers: [(name: String, value: String)]
  /// Request headers that answers depend on, for caches.
  let vary: [String]

  /// How long browsers may cache the answer, in seconds.
  private static let memory = "600"

  init(_ request: HTTPRequest, allowed: Set<String>) {
    vary = allowed.isEmpty ? [] : ["Origin"]
    guard let origin = request.origin, allowed.contains(origin) else {
      headers = []
      return
    }
    headers = [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", "ETag, \(HTTPExchange.epochHeader)"),
    ]
  }

  /// The answer to OPTIONS, which browsers send before a request that no form could have sent.
  ///
  /// - Parameter methods: those of the route.
  func preflight(_ methods: String) -> HTTPAnswer {
    let names = "Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID"
    let permission =
      headers.isEmpty
      ? []
      : [
        ("Access-Control-Allow-Methods", methods), ("Access-Control-Allow-Headers", names),
        ("Access-Control-Max-Age", CrossOrigin.memory),
      ]
    return HTTPAnswer(status: 204, headers: [("Allow", methods)] + permission, body: [])
  }
}
