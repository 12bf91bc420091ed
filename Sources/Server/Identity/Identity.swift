import Gateway
import LiveQuery

/// Who a session or request is.
struct Identity: Sendable, Hashable {
  var subject: String?
  /// As the token names it.
  var role: String
  /// Of the token, by name.
  var claims: [String: SQLValue]
  /// Seconds since 1970.
  var expires: Int64?

  static let anonymous = Identity(subject: nil, role: "anonymous", claims: [:], expires: nil)
}

extension HTTPExchange {
  var identity: Identity { .anonymous }
}

extension Sessions {
  func identity(of channel: ChannelID) -> Identity { .anonymous }
}
