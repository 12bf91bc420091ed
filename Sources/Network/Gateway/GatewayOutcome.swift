internal import CGateway

/// How a request ended.
package struct GatewayOutcome: Hashable, Sendable {
  /// 499 when the client left before there was an answer.
  package let status: Int
  /// The bytes of the body that were sent; nil for a stream.
  package let bytes: Int?
  /// The protocol's, where the gateway itself answered with an error.
  package let code: String?

  init(_ outcome: gateway_outcome) {
    status = Int(outcome.status)
    bytes = outcome.bytes < 0 ? nil : Int(outcome.bytes)
    code = outcome.code.map { String(cString: $0) }
  }
}

/// The members of a request in logs.
package struct RequestLine: Hashable, Sendable {
  package let method: String
  /// Percent-decoded, without the query.
  package let path: String
  /// The client's address as text.
  package let peer: String
}
