import Gateway
import LiveQuery
import Wire

extension AccessToken {
  /// The parameter of a URL that has a token, for clients that cannot send headers (RFC 6750, 2.3).
  private static let parameter = "access_token"

  /// The token that a request carries; nil without one. Authorization headers of other schemes are ignored: they may be
  /// meant for a proxy.
  ///
  /// - Throws: `unauthenticated` when there are several.
  static func of(_ request: HTTPRequest) throws(FreshetError) -> AccessToken? {
    var tokens = QueryString(request.query).items.filter { $0.name == parameter }.map(\.value)
    if let token = bearer(request.authorization) { tokens.append(token) }
    if tokens.count > 1 { throw .unauthenticated("there is more than one token") }
    return tokens.first.map { AccessToken($0) }
  }

  private static func bearer(_ authorization: String?) -> String? {
    guard let parts = authorization?.split(separator: " ", maxSplits: 1), parts.first?.lowercased() == "bearer" else {
      return nil
    }
    return parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
  }
}

extension HTTPRequest {
  /// The same request without its token, so that code that answers it never sees a token by accident.
  var withoutToken: HTTPRequest {
    var request = self
    request.authorization = nil
    request.query = query.split(separator: "&").filter { part in
      QueryString(String(part)).items.first?.name != "access_token"
    }.joined(separator: "&")
    return request
  }
}
