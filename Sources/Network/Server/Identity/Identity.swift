import LiveQuery

/// A client's identity, as its token states it.
struct Identity: Sendable, Hashable {
  /// The claim `sub`.
  var subject: String?
  /// An existing role, where roles are configured.
  var role: String
  /// The token's role, if no role has that name: the client is anonymous, and gets the reason.
  var unknownRole: String?
  /// Every claim of the token by its name, as a value for SQLite.
  var claims: [String: SQLValue]
  /// Seconds since 1970; nil for a token that never expires.
  var expires: Int64?
  /// The queries that a sealed token is for.
  var sealed: SealedQueries?
  /// The number of the rule for databases that has the role; 0: the server's own roles.
  var rule = 0

  /// A client without a token.
  static let anonymous = Identity(subject: nil, role: anonymousRole, claims: [:], expires: nil)
  static let anonymousRole = "anonymous"

  /// The identity with one of these roles; if its role is not among them, it is anonymous.
  func known(to roles: Set<String>) -> Identity {
    if roles.isEmpty || roles.contains(role) { return self }
    var identity = self
    if role != Self.anonymousRole { identity.unknownRole = String(role.prefix(64)) }
    identity.role = Self.anonymousRole
    return identity
  }

  /// Claims that differ between two tokens of one person, and say nothing about the person.
  private static let claimsOfTheToken: Set<String> = ["iat", "exp", "nbf", "jti"]

  /// Whether rows that were chosen for one may be shown to the other: they differ at most in the token's own dates and
  /// number.
  func sees(theSameAs other: Identity) -> Bool {
    subject == other.subject && role == other.role && rule == other.rule && lastingClaims == other.lastingClaims
  }

  private var lastingClaims: [String: SQLValue] { claims.filter { !Self.claimsOfTheToken.contains($0.key) } }

  /// The client across its tokens: the subject alone; without one, all claims that do not change with a renewal.
  var asker: Identity {
    guard subject != nil else { return Identity(subject: nil, role: role, claims: lastingClaims, expires: nil) }
    return Identity(subject: subject, role: "", claims: claims.filter { $0.key == "iss" }, expires: nil)
  }
}
